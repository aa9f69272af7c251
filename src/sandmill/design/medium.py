"""Which medium the items of a slot are made of."""

from sandmill.models.channel import Medium
from sandmill.models.kind import kind_of
from sandmill.models.plan import Slot


def medium_of(slot: Slot, place: float | None = None) -> Medium | None:
    """Return the medium of a slot, with the texts and targets of its draft if it has one; None for tables.

    Args:
        slot: seed and draft.
        place: where the medium stands in the list of all of its kind, from 0 to 1; by default the slot's own.
    """
    kind = kind_of(slot.structure)
    if kind is None or kind.design is None:
        return None
    draft = slot.draft
    if draft is None or draft.place is None:
        chosen: Medium = kind.load("design").choose_medium(place if place is not None else slot.place or 0.0)
        return chosen
    medium: Medium = kind.load("design").choose_medium(draft.place)
    return medium.model_copy(update={"domain": draft.domain, "meaning": draft.item or medium.meaning})
