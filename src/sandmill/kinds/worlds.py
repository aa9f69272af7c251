"""Which medium a world of a language model is for."""

from collections.abc import Sequence
from typing import TypeVar

from sandmill.models.domain import World, WorldMedium
from sandmill.models.plan import Slot

AnyMedium = TypeVar("AnyMedium", bound=WorldMedium)


def medium_at(media: Sequence[AnyMedium], slot: Slot) -> AnyMedium:
    """Return the medium at the place of a slot, for which its world is invented."""
    return media[int((slot.place or 0.0) * len(media))]


def dressed_medium(media: Sequence[AnyMedium], slot: Slot, world: World) -> AnyMedium:
    """Return that medium with the texts of a world."""
    return medium_at(media, slot).dressed(world)
