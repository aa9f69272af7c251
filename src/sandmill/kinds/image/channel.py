"""Small pictures in which latent columns can be seen."""

from typing import Literal

from pydantic import Field

from sandmill.kinds.image.sight import Scene, sights_of
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium

PictureFile = Literal["png", "jpg", "tif"]
"""Format of the files. Every picture of a channel has the same number of bytes in all of them."""
MAX_SIDE = 96
"""Pixels of the width or height of a picture."""


class Seen(Frozen):
    """One thing to be seen in pictures, and the latent column that decides it."""

    sight: str
    """Name of a sight of the scene, see `sandmill.kinds.image.sight`."""
    column: str | None = None
    """None: chance decides."""
    is_turned: bool = False
    """Whether a large value of the column shows little of it; for categories, whether their order is turned."""


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
    """Largest rotation of a picture, in degrees either way."""
    lighting: float = Field(default=0.0, ge=0, le=0.5)
    """Largest change of the brightness of a picture, as a share of it."""
    occlusion: float = Field(default=0.0, ge=0, le=1)
    """Chance that a plain block hides a part of the picture."""
    blur: float = Field(default=0.0, ge=0, le=1)
    """Largest share of each pixel that comes from its neighbours."""
    variety: float = Field(default=1.0, ge=0, le=1)
    """How far sights that follow no column vary, as a share of their range."""
    seen: tuple[Seen, ...] = Field(min_length=1)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows in the pictures."""
        sights = sights_of(self.scene)
        return tuple(
            sights[one.sight].cue(self.scene, one.sight, one.column, is_turned=one.is_turned)
            for one in self.seen
            if one.column is not None
        )


class ImageMedium(Medium):
    """Everything that pictures of a domain can show."""

    scene: Scene = "objects"
    seen: tuple[Seen, ...]
    noted: tuple[str, ...] = ()
    """Columns that annotators wrote down for training pictures alone."""
