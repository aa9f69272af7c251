"""Domains and media that are part of the library, and which of them a slot gets."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import yaml

from sandmill.models.base import Frozen
from sandmill.models.channel import Medium
from sandmill.models.domain import Domain, SpareWords
from sandmill.models.kind import Kind
from sandmill.models.knowledge import Words
from sandmill.models.plan import Slot

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""YAML loader: the C version if PyYAML has it, since every worker process reads all domains."""
Read = TypeVar("Read", bound=Frozen)
AnyMedium = TypeVar("AnyMedium", bound=Medium)
Chosen = TypeVar("Chosen")


@cache
def load_domains() -> tuple[Domain, ...]:
    """Return all domains of the library, sorted by name, each with the words of its people."""
    domains: tuple[Domain, ...] = load_folder("table/domains", Domain)
    return tuple(
        domain.model_copy(update={"words": Words.model_validate(load_yaml(f"table/words/{domain.name}.yaml"))})
        for domain in domains
    )


def load_spare_words() -> SpareWords:
    """Return the columns that the tables of any domain may have."""
    words: tuple[SpareWords, ...] = load_folder("table/spare", SpareWords)
    return words[0]


def draw_medium(folder: str, model: type[AnyMedium], place: float) -> AnyMedium:
    """Return the medium at a place from 0 to 1 in a folder of `sandmill.kinds` with a file for each domain."""
    known: tuple[AnyMedium, ...] = load_folder(folder, model)
    return at(known, place)


def at(known: Sequence[Chosen], place: float | None) -> Chosen:
    """Return what lies at a place from 0 to 1 among all."""
    return known[int((place or 0.0) * len(known))]


@cache
def load_folder(folder: str, model: type[Read]) -> tuple[Read, ...]:
    """Read all files of a folder in `sandmill.kinds`, in the order of their names."""
    names = sorted(path.name for path in files("sandmill.kinds").joinpath(folder).iterdir())
    return tuple(model.model_validate(load_yaml(f"{folder}/{name}")) for name in names if name.endswith(".yaml"))


def load_yaml(path: str) -> Any:
    """Read a YAML file below `sandmill.kinds`."""
    return yaml.load(files("sandmill.kinds").joinpath(path).read_text(encoding="utf-8"), _Loader)


load_texts = cache(load_yaml)
"""Reads a YAML file of texts once; callers must not change what they get."""


def load_table(path: str, model: type[Read]) -> dict[str, Read]:
    """Read a file in `sandmill.kinds` with an entry for each name."""
    return {name: model.model_validate(entry) for name, entry in load_yaml(path).items()}


def medium_at(media: Sequence[Chosen], slot: Slot) -> Chosen:
    """Return the medium at the place of a slot, for which its world is invented."""
    return at(media, slot.place)


def load_kinds(folder: str) -> tuple[Kind, ...]:
    """Read the kinds of a folder. Entries whose names begin with `_` hold what several kinds share."""
    made = []
    for name, fields in load_yaml(f"{folder}/kinds.yaml").items():
        if not name.startswith("_"):
            tasks = {tuple(asked.split()): curve for asked, curve in fields["tasks"].items()}
            made.append(Kind.model_validate({"name": name, **fields, "tasks": tasks}))
    return tuple(made)
