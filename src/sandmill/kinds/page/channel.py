"""Small grey pictures with dirt: pages that exist once clean and once dirty, and pictures with masks of regions."""

from collections.abc import Mapping
from string import Formatter
from typing import ClassVar, Literal, Self

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue
from sandmill.models.domain import ItemWorld, World, WorldMedium

SERIES = ", "
"""What separates the slips of a series in the description."""
Style = Literal["writing", "plan", "map", "score", "label"]
"""What is drawn on clean pages, see `sandmill.kinds.page.marks`."""
Trait = Literal[
    "density", "weight", "slant", "ink",
    "stain", "stain_size", "fold", "fold_turn", "shade", "shade_turn", "rule", "rule_step", "weave", "weave_turn",
    "ghost", "fade", "blur", "specks", "grain", "slip",
    "amount", "size", "wave", "crumbs",
]  # fmt: skip
"""Something about a picture that differs between pictures. The first four concern a clean page, and the last four what
pictures with a mask show; all others are dirt."""


class Ranged(Frozen):
    """A trait of pages: its range, and the latent column that decides where in the range a page lies."""

    trait: Trait
    column: str | None = None
    """Latent column from 0 to 1. None: chance decides."""
    least: float = 0.0
    most: float = 0.0


class GreyChannel(Channel):
    """Small grey pictures with dirt. A trait that the channel does not name is absent from all pictures."""

    height: int = Field(ge=16, le=48)
    width: int = Field(ge=16, le=48)
    is_upright: bool = False
    """Whether ruled lines run from top to bottom."""
    traits: tuple[Ranged, ...] = Field(min_length=1)

    @property
    def texts(self) -> Mapping[Trait, str]:
        """Sentence of the description for each trait, with fields for what `words` holds."""
        raise NotImplementedError

    @property
    def words(self) -> Mapping[str, str]:
        """What sentences call the direction of lines, and whatever else follows from the channel."""
        return {"runs": _RUNS[self.is_upright]}

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows."""
        return tuple(self._cue(one, one.column) for one in self.traits if one.column)

    def _cue(self, one: Ranged, column: str) -> Cue:
        known: dict[str, str | float] = {"least": one.least, "most": one.most, **self.words}
        text = self.texts[one.trait]
        stated = [name for _, name, _, _ in Formatter().parse(text) if name]
        return Cue(
            column=column,
            measure=one.trait,
            parameters=tuple(known[name] for name in stated),
            text=text.format(
                **{name: value if isinstance(value, str) else f"{value:g}" for name, value in known.items()}
            ),
        )

    @property
    def target_shape(self) -> tuple[int, int]:
        """Rows and columns of pixels."""
        return self.height, self.width

    @property
    def has(self) -> frozenset[Trait]:
        """Traits that some pages have."""
        return frozenset(one.trait for one in self.traits)


class FieldsChannel(GreyChannel):
    """Small grey pictures of pages, clean and dirty."""

    kind: Literal["image_fields"] = "image_fields"
    style: Style
    font: int = Field(ge=0)
    """Number that the shapes of letters follow from."""
    slips: tuple[int, ...] = ()
    """Pixels by which the lines of dirty pages have slipped to the left, in turn. The trait `slip` says where in this
    series a page begins. Empty: no line has slipped."""

    @property
    def words(self) -> Mapping[str, str]:
        """What sentences call the direction of ruled lines, and the series of slips."""
        return {**super().words, "slips": SERIES.join(map(str, self.slips))}

    @property
    def texts(self) -> Mapping[Trait, str]:
        """Sentences on clean and dirty pages."""
        return _TEXTS


class GreyMedium(WorldMedium):
    """What pictures of one domain are, and what is told of them."""

    answer: ClassVar[type[World]] = ItemWorld

    column: str
    meaning: str
    """Of a picture."""
    target: str
    dirt: tuple[Trait, ...]
    """Dirt that pictures of the domain may have. A design takes some of it."""

    def dressed(self, world: World) -> Self:
        """Return the medium with the texts of a world, and its name for a picture."""
        dressed = super().dressed(world)
        return dressed.model_copy(update={"meaning": world.item}) if isinstance(world, ItemWorld) else dressed


class FieldsMedium(GreyMedium):
    """What pages of one domain look like."""

    target_ending: ClassVar[str] = ", from 0 (black) to 1 (white)"

    style: Style
    density: tuple[float, float]
    """Least and largest share of the places for a mark that a page uses."""


_RUNS = {False: "from side to side", True: "from top to bottom"}
_TEXTS: dict[Trait, str] = {
    "density": "Share of the places for a mark that a page uses, {least} to {most}.",
    "weight": "Width of the strokes of a page, {least} to {most} pixels.",
    "slant": "Pixels by which strokes lean to the right for each pixel of height, {least} to {most}.",
    "ink": "Darkness of the ink of a clean page, {least} to {most}; it is even over the page.",
    "stain": "Share of the light that stains take, {least} to {most}. They are darkest at their rim.",
    "stain_size": "Radius of the stains of a page, {least} to {most} pixels, give or take a half.",
    "fold": "Share of the light that a straight crease across the page takes, {least} to {most}. The paper on one "
    "side of it is darker as well.",
    "fold_turn": "Direction of the crease, any.",
    "shade": "Share of the light that is lost from one end of the page to the other, {least} to {most}.",
    "shade_turn": "Direction in which the light falls off, any.",
    "rule": "Share of the light that thin lines of the paper take, {least} to {most}. They run {runs}, and are not on "
    "the clean page.",
    "rule_step": "Distance of the thin lines, {least} to {most} pixels, the same over a page.",
    "weave": "Share of the light that a fine wave of the paper takes, {least} to {most}.",
    "weave_turn": "Direction of the fine wave, any.",
    "ghost": "Share of the light that ink on the back of the paper takes, {least} to {most}. It shows mirrored and "
    "blurred, and is not on the clean page.",
    "fade": "Share of the ink that is left on the dirty page, {least} to {most}.",
    "blur": "Share of a pixel's ink that each of the four pixels beside it gets, {least} to {most}.",
    "specks": "Single dark pixels, {least} to {most}, which are dust.",
    "grain": "Standard deviation of the noise that is added to each pixel, {least} to {most}.",
    "slip": "Place in a series at which a dirty page begins, any. Lines of pixels have slipped to the left, "
    "and what left the page there came in again at its right side. The slips are {slips} pixels, line by "
    "line and over and over; the top line has the slip at the place where its page begins. Clean pages have no slips.",
}
"""Sentences of the description for each trait. Values are from 0, black, to 1, white."""


Scene = Literal["bodies", "layer", "grains"]
"""What is marked on pictures, see `sandmill.kinds.page.marks`."""


class MasksChannel(GreyChannel):
    """Small grey pictures, each with a mask of the regions that count. Decoys look like them and are not marked."""

    kind: Literal["image_masks"] = "image_masks"
    scene: Scene
    is_bright: bool = False
    """Whether regions are brighter than what is around them. Pictures are then drawn dark and inverted."""

    @property
    def texts(self) -> Mapping[Trait, str]:
        """Sentences on regions, and on what is not marked."""
        return {**_MASK_TEXTS, **_OF_SCENES[self.scene]}

    @property
    def words(self) -> Mapping[str, str]:
        """Directions, and whether regions are dark or bright."""
        return {**super().words, **_SHADES[self.is_bright]}


class MasksMedium(GreyMedium):
    """What pictures of one domain show."""

    target_ending: ClassVar[str] = ", as runs"

    scenes: tuple[Scene, ...]
    """What may be marked."""
    is_bright: bool

    def dressed(self, world: World) -> Self:
        """Return the medium with the texts of a world. The name of the target says nothing of the old world."""
        return super().dressed(world).model_copy(update={"target": "mask_runs"})


_SHADES = {
    False: {"dark": "dark", "darker": "darker", "darkest": "darkest"},
    True: {"dark": "bright", "darker": "brighter", "darkest": "brightest"},
}
_MASK_TEXTS: dict[Trait, str] = {
    "wave": "How far the outline of a region leaves a smooth one, {least} to {most}, as a share.",
    "fade": "How much {darker} a region is than what is around it, {least} to {most} of the range of greys. All "
    "regions of a picture are equally {dark}, and evenly so.",
    "stain": "How much {darker} blots are, {least} to {most}. They are {darkest} at their rim and {dark} inside, lie "
    "anywhere, also on a region, and are not marked.",
    "stain_size": "Radius of the blots of a picture, {least} to {most} pixels, give or take a half.",
    "fold": "How much {darker} a straight scratch across the picture is, {least} to {most}. One side of it is {darker} "
    "as well. Neither is marked.",
    "fold_turn": "Direction of the scratch, any.",
    "shade": "How much {darker} one end of the picture is than the other, {least} to {most}.",
    "shade_turn": "Direction in which the light changes, any.",
    "rule": "How much {darker} thin lines at even steps are, {least} to {most}. They run {runs} and are not marked.",
    "rule_step": "Distance of the thin lines, {least} to {most} pixels, the same over a picture.",
    "weave": "How much {darker} the crests of a fine wave are, {least} to {most}.",
    "weave_turn": "Direction of the fine wave, any.",
    "blur": "Share of a pixel's shade that each of the four pixels beside it gets at the edges of regions, {least} to "
    "{most}.",
    "specks": "Single {dark} pixels, {least} to {most}, which are not marked.",
    "crumbs": "Crumbs of 1 to 2 pixels across that are as {dark} as the regions, {least} to {most} of them. They are "
    "too small to count and are not marked.",
    "grain": "Standard deviation of the noise that is added to each pixel, {least} to {most}.",
}
"""Sentences of the description for each trait. Greys are from 0, black, to 1, white."""
_OF_SCENES: Mapping[Scene, Mapping[Trait, str]] = {
    "bodies": {
        "amount": "Number of regions of a picture, {least} to {most}, rounded. Regions may touch and overlap.",
        "size": "Radius of the regions of a picture, {least} to {most} pixels, give or take a third.",
    },
    "layer": {
        "amount": "Number of layers of a picture, {least} to {most}, rounded. A layer runs from side to side along a "
        "winding line, and all of it is marked.",
        "size": "Thickness of the layers of a picture, {least} to {most} pixels.",
    },
    "grains": {
        "amount": "Number of regions of a picture, {least} to {most}, rounded. Regions may touch and overlap.",
        "size": "Radius of the regions of a picture, {least} to {most} pixels, give or take a third.",
    },
}
"""Sentences that depend on what is marked."""
