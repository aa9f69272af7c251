"""Stable identity of what was asked for: canonical JSON, then a versioned SHA-256."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

FINGERPRINT_VERSION = 1
"""Part of every hash: raise it when the canonical form changes, so that old and new never compare equal by accident."""

EXCLUDED: Mapping[str, Mapping[str, str]] = {
    "BuildRequest": {
        "name": "a dataset may be renamed without its tasks changing",
        "seeds": "paths differ between machines; the content of the seeds is hashed instead",
    },
}
"""Fields that do not change what is made, by model, each with the reason."""

LATER: Mapping[str, Mapping[str, Any]] = {
    "BuildRequest": {"model": [], "repairs": 2, "max_tokens": 6000, "revise": True},
    "TaskSpec": {"channel": None},
}
"""Fields that were added later, by the model that holds them, with the value at which they are left out.

The model may stand anywhere inside what is fingerprinted. What was fingerprinted before a field existed so keeps its
name, and with it its random streams and task ids.
"""

FORMERLY: Mapping[str, Mapping[tuple[str, ...], Mapping[Any, Any]]] = {
    "SeedTask": {("structure", "split"): {None: "random", "random": "random, declared"}},
    "TaskSpec": {("structure", "split"): {None: "random"}},
}
"""What is hashed for nested values that were written in another way before, so that equal content keeps its name.

A seed without a split used to say `random`, and one that declares it is another seed. In a design, whose own split is a
field beside the structure, the two are the same.
"""


def canonical_json(value: Any) -> str:
    """Write JSON in the one form that equal values share: sorted keys, no spaces, shortest floats, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint(value: BaseModel | Mapping[str, Any] | list[Any] | str) -> str:
    """Hash what a model says, so that equal designs are recognised whoever made them.

    Returns:
        64 hexadecimal digits.

    Raises:
        ValueError: if a number is NaN or infinite.
        TypeError: if the value is not plain JSON data.
    """
    kind = type(value).__name__ if isinstance(value, BaseModel) else "data"
    data = _content(value) if isinstance(value, BaseModel) else value
    text = canonical_json({"version": FINGERPRINT_VERSION, "kind": kind, "data": data})
    return hashlib.sha256(text.encode()).hexdigest()


def _content(model: BaseModel) -> dict[str, Any]:
    kind = type(model).__name__
    data = model.model_dump(mode="json", exclude=set(EXCLUDED.get(kind, {})))
    for path, names in FORMERLY.get(kind, {}).items():
        _rename(data, path, names)
    _leave_out_unset(model, data)
    return data


def _leave_out_unset(value: Any, data: Any) -> None:
    """Drop later fields at their default from dumped data, in every model that a value holds."""
    if isinstance(value, BaseModel):
        unset = LATER.get(type(value).__name__, {})
        for name in list(data):
            if name in unset and data[name] == unset[name]:
                del data[name]
            else:
                _leave_out_unset(getattr(value, name), data[name])
    elif isinstance(value, list | tuple):
        for inner, dumped in zip(value, data, strict=True):
            _leave_out_unset(inner, dumped)
    elif isinstance(value, Mapping):
        for inner, dumped in zip(value.values(), data.values(), strict=True):
            _leave_out_unset(inner, dumped)


def _rename(data: dict[str, Any], path: tuple[str, ...], names: Mapping[Any, Any]) -> None:
    for part in path[:-1]:
        data = data[part]
    data[path[-1]] = names.get(data[path[-1]], data[path[-1]])


def digest(content: bytes) -> str:
    """Name bytes by their content: SHA-256, 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def files_digest(public: Mapping[str, bytes], private: Mapping[str, bytes]) -> str:
    """Name a task by the content of all its files, so that two tasks are equal exactly when their files are.

    Args:
        public: content by path, what an agent gets.
        private: content by path, what only the grader has.
    """
    sides = {"public": public, "private": private}
    return digest_of_hashes((side, path, digest(files[path])) for side, files in sides.items() for path in files)


def digest_of_hashes(entries: Iterable[tuple[str, str, str]]) -> str:
    """Do as `files_digest` where only hashes are at hand: (side, path, SHA-256 of the content), in any order."""
    return fingerprint([list(entry) for entry in sorted(entries)])
