"""Small pictures in which latent columns can be seen."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.channels.base import Channel, Medium

Sight = Literal[
    "light", "warmth", "slope", "stripes", "size", "height", "across", "width", "glow", "colour", "specks", "spots",
    "shape", "corner", "floor",
]  # fmt: skip
"""Something to be seen in a picture, see `sandmill.synth.media.images`. The last three follow categories."""


class Seen(Frozen):
    """One thing to be seen in pictures, and the latent column that decides it."""

    sight: Sight
    column: str | None = None
    """None: chance decides."""
    is_turned: bool = False
    """Whether a large value of the column shows little of it; for categories, whether their order is turned."""


class ImageChannel(Channel):
    """Small pictures: one object on a background, with marks around it."""

    kind: Literal["image_archive"] = "image_archive"
    side: int = Field(ge=16, le=96)
    """Width and height in pixels."""
    grain: float = Field(ge=0, le=40)
    """Standard deviation of the noise of a pixel, in grey levels from 0 to 255."""
    seen: tuple[Seen, ...] = Field(min_length=1)


class ImageMedium(Medium):
    """Everything that pictures of a domain can show."""

    seen: tuple[Seen, ...]
