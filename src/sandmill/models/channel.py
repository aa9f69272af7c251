"""What every channel and every medium has."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny, WithJsonSchema

from sandmill.models.base import Frozen
from sandmill.models.domain import Domain
from sandmill.models.kind import kind_named


class Cue(Frozen):
    """How one latent column shows in the items: what a description tells people, and what measures it."""

    column: str
    measure: str
    """Name of the measure in the module `measures` of the kind."""
    parameters: tuple[str | float, ...] = ()
    """What the measure needs to know, such as words or frequencies. The text states all of it."""
    text: str
    place: Literal["list", "house"] = "list"
    """Where the description states it: in the list of what items show, or among the customs of the house."""


class Channel(Frozen):
    """What stands between the columns of a mechanism and the items of a task."""

    kind: str
    """Name of the task's kind, see `sandmill.kinds`."""
    column: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """What an item is called: the name of its column in the files."""
    meaning: str
    shown: tuple[str, ...] = ()
    """Latent columns that the files hold as well, as cells beside the item."""
    only_in_training: tuple[str, ...] = ()
    """Latent columns that the files hold for training items alone, such as what annotators drew."""

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column shows; nothing unless a channel says it."""
        return ()

    @property
    def target_shape(self) -> tuple[int, int] | None:
        """Rows and columns of pixels, where the target is a picture."""
        return None


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
    needed: tuple[str, ...] = ()
    """Columns that every design has, such as cells beside the items."""
    unread: tuple[str, ...] = ()
    """Columns that no rule reads: nothing shows them, or nobody would believe that they matter, such as the light."""
    not_leading: tuple[str, ...] = ()
    """Columns that the first plain motif of a rule does not read, which carries easy designs: those that general
    features of the items hardly show."""
    of_unit: tuple[str, ...] = ()
    """Columns that have the same value for all items of a unit, such as the breed of an animal in several pictures."""
    may_miss: tuple[str, ...] = ()
    """Columns beside the items whose cells are missing in some rows, if the seed has missing cells."""
