"""Frozen blind adversaries of pictures, sounds and texts: each reads the files of a task, and not its description."""

import hashlib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts

BY_READER: Mapping[str, str] = MappingProxyType(
    {
        "sandmill.kinds.image.read": "pictures_v1",
        "sandmill.kinds.audio.read": "sounds_v1",
        "sandmill.kinds.text.read": "texts_v1",
    }
)
"""Adversary by the module that reads the files of a kind. The function has the name of its module."""


def adversary_of(kind: str) -> Callable[[Path, TaskFacts], Any] | None:
    """Return the adversary of a kind; None for kinds of other modalities."""
    found = kind_named(kind)
    name = None if found.panel else BY_READER.get(found.reader.partition(":")[0])
    if name is None:
        return None
    adversary: Callable[[Path, TaskFacts], Any] = getattr(import_module(f"benchmarks.adversaries.{name}"), name)
    return adversary


def digests() -> dict[str, str]:
    """Return the digest of the files of each adversary, by its name."""
    folder = Path(__file__).parent
    shared = (folder / "heads.py").read_bytes()
    return {
        name: hashlib.sha256((folder / f"{name}.py").read_bytes() + b"\0" + shared).hexdigest()
        for name in BY_READER.values()
    }
