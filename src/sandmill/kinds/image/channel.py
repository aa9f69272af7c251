"""Small pictures in which latent columns can be seen, and their design."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from sandmill.kinds.image.scenes import Scene, sights_of
from sandmill.kinds.library import draw_medium
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

PictureFile = Literal["png", "jpg", "tif"]
"""Format of the files. Every picture of a channel has the same number of bytes in all of them."""
MAX_SIDE = 96
"""Pixels of the width or height of a picture."""


class Seen(Frozen):
    """One thing to be seen in pictures, and the latent column that decides it."""

    sight: str
    """Name of a sight of the scene, see `sandmill.kinds.image.scenes`."""
    column: str | None = None
    """None: chance decides."""
    is_turned: bool = False
    """In tasks of older versions: whether a large value of the column shows little of it."""


class ImageChannel(Channel):
    """Small pictures of a scene, and the nuisance in them that is independent of every latent column."""

    kind: str = "image_archive"
    scene: Scene = "objects"
    file: PictureFile = "png"
    is_grey: bool = False
    side: int = Field(ge=16, le=MAX_SIDE)
    """Width and height in pixels."""
    grain: float = Field(ge=0, le=40)
    """Standard deviation of the noise of a pixel, in grey levels from 0 to 255."""
    turn: float = Field(default=0.0, ge=0, le=180)
    """Largest rotation of a picture in degrees, in tasks of older versions."""
    lighting: float = Field(default=0.0, ge=0, le=0.5)
    """Largest change of the brightness of a picture, as a share of it."""
    occlusion: float = Field(default=0.0, ge=0, le=1)
    """Chance that a drop on the lens blurs a part of the picture."""
    blur: float = Field(default=0.0, ge=0, le=1)
    """Largest share of each pixel that comes from its neighbours."""
    motion: float = Field(default=0.0, ge=0, le=1)
    """Largest share of each pixel that comes from its neighbours in its row, as if the camera moved."""
    vignette: float = Field(default=0.0, ge=0, le=0.8)
    """Largest share of light that the corners lack."""
    shift: float = Field(default=0.0, ge=0, le=0.2)
    """How far a picture is moved at most, as a share of its side."""
    variety: float = Field(default=1.0, ge=0, le=1)
    """How far sights that follow no column vary, as a share of their range."""
    seen: tuple[Seen, ...] = Field(min_length=1)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows in the pictures."""
        sights = sights_of(self.scene)
        return tuple(
            sights[one.sight].cue(self.scene, one.sight, one.column)
            for one in self.seen
            if one.column is not None and one.sight in sights  # tasks of older versions may show what is gone
        )


class ImageMedium(Medium):
    """Everything that pictures of a domain can show."""

    scene: Scene = "objects"
    seen: tuple[Seen, ...]
    noted: tuple[str, ...] = ()
    """Columns that annotators wrote down for training pictures alone."""
    shown: tuple[str, ...] = ()
    """Columns that a table holds beside the pictures."""


Range = tuple[float, float]
NUISANCE = ("grain", "lighting", "occlusion", "blur", "motion", "vignette", "shift")
"""Fields of a channel that disturb pictures, each drawn from a range of its own."""
_LEAST_GRAIN = 0.5
_LEAST_VARIETY = 0.3
"""Variety of the easiest designs. Where nothing varies that does not matter, general features show as much as measures
of what the description names, so that reading does not pay."""


@dataclass(frozen=True)
class ImageDesign:
    """How designs of one kind draw their pictures. Ranges are those of an even draw for each design."""

    kind: str
    file: PictureFile
    sides: tuple[int, ...]
    grain: Range = (2.0, 6.0)
    lighting: Range = (0.0, 0.12)
    occlusion: Range = (0.0, 0.1)
    blur: Range = (0.0, 0.4)
    motion: Range = (0.0, 0.3)
    vignette: Range = (0.0, 0.35)
    shift: Range = (0.0, 0.02)
    is_grey: bool = False

    def choose_medium(self, place: float) -> ImageMedium:
        """Return the domain of a design by its place among all of the kind. No faint sight leads its rules."""
        medium = draw_medium(f"image/domains/{self.kind}", ImageMedium, place)
        sights = sights_of(medium.scene)
        faint = tuple(one.column for one in medium.seen if one.column and sights[one.sight].is_faint)
        return medium.model_copy(update={"not_leading": (*medium.not_leading, *faint)})

    def choose_channel(self, medium: ImageMedium, columns: Sequence[Column], streams: Streams) -> ImageChannel:
        """Draw the nuisance. A thing whose column the design lacks is chance."""
        latent, rng = {column.name for column in columns}, streams.generator("image channel")
        return ImageChannel(
            kind=self.kind,
            column=medium.column,
            meaning=medium.meaning,
            shown=tuple(column.name for column in columns if column.name in medium.shown),
            scene=medium.scene,
            file=self.file,
            is_grey=self.is_grey,
            side=self.sides[int(rng.integers(len(self.sides)))],
            **{name: round(float(rng.uniform(*getattr(self, name))), 3) for name in NUISANCE},
            seen=tuple(
                one.model_copy(update={"column": one.column if one.column in latent else None}) for one in medium.seen
            ),
            only_in_training=tuple(name for name in medium.noted if name in latent),
        )


def calm(channel: ImageChannel, hardness: float) -> ImageChannel:
    """Let easy designs have little of what disturbs pictures, and sights that vary little if they follow no column."""
    scaled = {name: round(getattr(channel, name) * hardness, 3) for name in NUISANCE}
    scaled["grain"] = max(_LEAST_GRAIN, scaled["grain"])
    variety = _LEAST_VARIETY + (1 - _LEAST_VARIETY) * hardness
    return channel.model_copy(update={**scaled, "variety": round(variety, 4)})
