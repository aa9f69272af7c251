"""The kinds that are known, by name, by modality, and by the structure of a seed."""

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import Modality, Structure

_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known; a kind of the same name is replaced."""
    _KINDS[kind.name] = kind


def kind_named(name: str) -> Kind:
    """Return a kind by its name.

    Raises:
        ValueError: if there is none.
    """
    if name not in _KINDS:
        raise ValueError(f"unknown kind of task {name!r}; known are {', '.join(sorted(_KINDS))}")
    return _KINDS[name]


def kinds_of(modality: Modality) -> tuple[Kind, ...]:
    """Return the kinds of a modality, in the order in which they were registered."""
    return tuple(kind for kind in _KINDS.values() if kind.modality is modality)


def kind_of(structure: Structure) -> Kind | None:
    """Return the kind that a structure names, else the first that can ask what it asks; None if there is none."""
    if structure.kind:
        return _KINDS.get(structure.kind)
    asked = (structure.target, structure.metric)
    return next((kind for kind in kinds_of(structure.modality) if kind.tasks is None or asked in kind.tasks), None)
