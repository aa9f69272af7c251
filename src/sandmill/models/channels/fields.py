"""Small grey pictures of pages, each once clean and once dirty."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.channels.base import Channel, Cue, Medium

Style = Literal["writing", "plan", "map", "score", "label"]
"""What is drawn on clean pages, see `sandmill.synth.media.marks`."""
Trait = Literal[
    "density", "weight", "slant", "ink",
    "stain", "stain_size", "fold", "fold_turn", "shade", "shade_turn", "rule", "rule_step", "weave", "weave_turn",
    "ghost", "fade", "blur", "specks", "grain",
]  # fmt: skip
"""Something about a page that differs between pages. The first four concern the clean page, all others its dirt."""

MOST_PIXELS = 800
"""Of one picture. Answers have a row for each pixel of each test picture."""


class Ranged(Frozen):
    """A trait of pages: its range, and the latent column that decides where in the range a page lies."""

    trait: Trait
    column: str | None = None
    """Latent column from 0 to 1. None: chance decides."""
    least: float = 0.0
    most: float = 0.0


class FieldsChannel(Channel):
    """Small grey pictures of pages. A trait that the channel does not name is absent from all pages."""

    kind: Literal["image_fields"] = "image_fields"
    style: Style
    height: int = Field(ge=16, le=48)
    width: int = Field(ge=16, le=48)
    font: int = Field(ge=0)
    """Number that the shapes of letters follow from."""
    is_upright: bool = False
    """Whether the ruled lines of dirty pages run from top to bottom."""
    traits: tuple[Ranged, ...] = Field(min_length=1)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows."""
        return tuple(
            Cue(
                column=one.column,
                measure=one.trait,
                parameters=(one.least, one.most, *((_RUNS[self.is_upright],) if one.trait.startswith("rule") else ())),
                text=_TEXTS[one.trait].format(
                    least=f"{one.least:.2g}", most=f"{one.most:.2g}", runs=_RUNS[self.is_upright]
                ),
            )
            for one in self.traits
            if one.column
        )

    @property
    def has(self) -> frozenset[Trait]:
        """Traits that some pages have."""
        return frozenset(one.trait for one in self.traits)


class FieldsMedium(Medium):
    """What pages of one domain look like, and what each trait is called there."""

    style: Style
    columns: dict[Trait, str]
    """Name of the latent column of each trait."""


_RUNS = {False: "from side to side", True: "from top to bottom"}
_TEXTS: dict[Trait, str] = {
    "density": "How much is drawn on a page varies: from {least} to {most} of the places for a mark are used.",
    "weight": "Pens differ: strokes are {least} to {most} pixels wide.",
    "slant": "Strokes lean to the right by {least} to {most} pixels for each pixel of height.",
    "ink": "The ink of a clean page is even: its value is 1 less {least} to {most}.",
    "stain": "Stains are darker towards their rim. The darkest take {most} of the light.",
    "stain_size": "Stains have a radius of {least} to {most} pixels.",
    "fold": "A fold is a straight dark crease across the page. It takes up to {most} of the light, and the paper "
    "on one side of it is darker.",
    "fold_turn": "Folds run in any direction.",
    "shade": "The light falls off in a straight line across the page, by up to {most}.",
    "shade_turn": "The direction in which the light falls off differs from page to page.",
    "rule": "The paper is ruled with thin lines that run {runs}. They are no part of the clean page, and take up to "
    "{most} of the light.",
    "rule_step": "The ruled lines of a page are {least} to {most} pixels apart, all of them evenly.",
    "weave": "The paper has a fine wave in one direction, which takes up to {most} of the light.",
    "weave_turn": "The direction of the wave differs from page to page.",
    "ghost": "The ink of the back shines through, mirrored and blurred. It takes up to {most} of the light.",
    "fade": "Ink has faded: what is left of it is {least} to {most} of the clean page's.",
    "blur": "Scans are out of focus: a pixel takes up to {most} of its value from each neighbour on a side.",
    "specks": "Up to {most} single dark pixels are dust.",
    "grain": "The scanner adds noise to each pixel, with a standard deviation of {least} to {most}.",
}
"""Sentences of the description for each trait. Values are from 0, black, to 1, white."""
