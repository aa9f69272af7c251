"""Small grey pictures with dirt: pages that exist once clean and once dirty, and pictures with masks of regions."""

from collections.abc import Mapping
from string import Formatter
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from sandmill.kinds.library import load_texts
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue
from sandmill.models.domain import ItemWorld, World, WorldMedium

TEXTS = "page/texts.yaml"
"""Sentences on pages, on masks and on each scene, by trait."""
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

_COUNTS = frozenset({"specks", "amount", "crumbs"})
"""Traits that pictures show as whole numbers."""


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

    if TYPE_CHECKING:
        slips: tuple[int, ...]

    @property
    def texts(self) -> Mapping[Trait, str]:
        """Sentence of the description for each trait, with fields for what `words` holds."""
        raise NotImplementedError

    @property
    def words(self) -> Mapping[str, str]:
        """What sentences call the direction of lines, and the series of slips."""
        direction = "from top to bottom" if self.is_upright else "from side to side"
        return {"runs": direction, "slips": SERIES.join(map(str, self.slips))}

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows."""
        made = []
        for one in self.traits:
            least, most = (round(end) if one.trait in _COUNTS else end for end in (one.least, one.most))
            known: dict[str, str | float] = {"least": least, "most": most, **self.words}
            shown = {name: value if isinstance(value, str) else f"{value:g}" for name, value in known.items()}
            text = self.texts[one.trait]
            stated = tuple(known[name] for _, name, _, _ in Formatter().parse(text) if name)
            if one.column:
                made.append(Cue(column=one.column, measure=one.trait, parameters=stated, text=text.format(**shown)))
        return tuple(made)

    @property
    def target_shape(self) -> tuple[int, int]:
        """Rows and columns of pixels."""
        return self.height, self.width


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
    def texts(self) -> Mapping[Trait, str]:
        """Sentences on clean and dirty pages."""
        return {**load_texts(TEXTS)["pages"]}


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


Scene = Literal["bodies", "layer", "grains"]
"""What is marked on pictures, see `sandmill.kinds.page.marks`."""


class MasksChannel(GreyChannel):
    """Small grey pictures, each with a mask of the regions that count. Decoys look like them and are not marked."""

    kind: Literal["image_masks"] = "image_masks"
    scene: Scene
    is_bright: bool = False
    """Whether regions are brighter than what is around them. Pictures are then drawn dark and inverted."""
    slips: tuple[int, ...] = ()
    """As of pages. Masks have no slips."""

    @property
    def texts(self) -> Mapping[Trait, str]:
        """Sentences on regions, and on what is not marked."""
        texts = load_texts(TEXTS)
        return {**texts["masks"], **texts[self.scene]}

    @property
    def words(self) -> Mapping[str, str]:
        """As of pages, and whether regions are dark or bright."""
        shade = "bright" if self.is_bright else "dark"
        return {**super().words, "dark": shade, "darker": f"{shade}er", "darkest": f"{shade}est"}


class MasksMedium(GreyMedium):
    """What pictures of one domain show."""

    target_ending: ClassVar[str] = ", as runs"

    scenes: tuple[Scene, ...]
    """What may be marked."""
    is_bright: bool

    def dressed(self, world: World) -> Self:
        """Return the medium with the texts of a world. The name of the target says nothing of the old world."""
        return super().dressed(world).model_copy(update={"target": "mask_runs"})
