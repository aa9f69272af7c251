"""Channels: how latent columns of a mechanism become what an agent sees. Data; `sandmill.synth` renders them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny, WithJsonSchema

from sandmill.models.base import Frozen
from sandmill.models.domain import Domain
from sandmill.models.kinds import kind_named


class Channel(Frozen):
    """What stands between the columns of a mechanism and the items of a task."""

    kind: str
    """Name of the task's kind, see `sandmill.models.kinds`."""
    column: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """What an item is called: the name of its column in the files."""
    meaning: str


def _of_its_kind(data: Any) -> Any:
    """Read stored data as the model that its kind names."""
    if isinstance(data, dict) and "kind" in data:
        return kind_named(str(data["kind"])).load("channel").model_validate(data)
    return data


AnyChannel = Annotated[
    SerializeAsAny[Channel],
    BeforeValidator(_of_its_kind),
    WithJsonSchema({"type": "object", "required": ["kind"], "description": Channel.__doc__}),
]
"""A channel of any kind that is registered."""


class Medium(Frozen):
    """What items of one domain are made of: latent columns, and what they look like. Kinds add their own parts."""

    domain: Domain
    column: str
    meaning: str


WordsBy = Literal["chance", "level", "share", "presence"]
"""What decides which list a word comes from.

`chance`: nothing. `level`: the level of a category. `share`: a number in 0..1 is the chance of the first of two lists.
`presence`: the number is the chance that the words are there at all.
"""


class WordSlot(Frozen):
    """One place of a sentence: a word from one of several lists."""

    by: WordsBy = "chance"
    column: str | None = None
    """Latent column that decides; a design without it draws the list evenly."""
    lists: tuple[tuple[str, ...], ...] = Field(min_length=1)
    follows: float = Field(default=1.0, gt=0, le=1)
    """Chance that a category decides; otherwise the list is drawn evenly."""


class TextChannel(Channel):
    """Passages of sentences whose words depend on latent columns."""

    kind: Literal["text"] = "text"
    fewest_sentences: int = Field(ge=1)
    most_sentences: int = Field(ge=1, le=40)
    sentence: tuple[WordSlot, ...] = Field(min_length=1)
    """Slots of every sentence, in order. A word of punctuation joins the word before it."""


class TextMedium(Medium):
    """Slots of a sentence with more words than one design uses."""

    sentence: tuple[WordSlot, ...]


Sight = Literal[
    "light", "warmth", "slope", "stripes", "size", "height", "across", "width", "glow", "colour", "specks", "spots",
    "shape", "corner", "floor",
]  # fmt: skip
"""Something to be seen in a picture, see `sandmill.synth.image_channel`. The last three follow categories."""


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
