"""Stable identity of models and files: SHA-256 of versioned canonical JSON."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

FINGERPRINT_VERSION = 1
"""Part of every hash. It must be raised when the canonical form changes, so that old and new hashes never match."""

EXCLUDED: Mapping[str, Mapping[str, str]] = {
    "BuildRequest": {
        "name": "a dataset may be renamed without its tasks changing",
        "seeds": "paths differ between machines; the content of the seeds is hashed instead",
    },
}
"""Fields that do not change the result, by model, each with the reason. They are not hashed."""

_TABLES = yaml.safe_load((Path(__file__).parent / "fingerprint.yaml").read_text("utf-8"))
LATER: Mapping[str, Mapping[str, Any]] = _TABLES["later"]
"""Fields that were added later, by model, with the value at which they are not hashed."""
GONE: Mapping[str, Mapping[str, Any]] = _TABLES["gone"]
"""Fields that were removed, by model, with the value that is hashed for them."""
FORMERLY: Mapping[str, Mapping[tuple[str, str], Mapping[Any, Any]]] = {
    "SeedTask": {("structure", "split"): {None: "random", "random": "random, declared"}},
    "TaskSpec": {("structure", "split"): {None: "random"}},
}
"""Former spellings of nested values, which are hashed instead of the present ones, by model and path.

A seed without a split was written `random`, so a seed that declares a random split is hashed differently. A design has
its split in another field, so for designs both are the same.
"""


def canonical_json(value: Any) -> str:
    """Return canonical JSON, which is equal for equal values: sorted keys, no spaces, shortest floats, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint(value: BaseModel | Mapping[str, Any] | list[Any] | str) -> str:
    """Return the fingerprint of a model or of JSON data. Equal content has equal fingerprints.

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
    for (part, field), names in FORMERLY.get(kind, {}).items():
        data[part][field] = names.get(data[part][field], data[part][field])
    _leave_out_unset(model, data)
    return data


def _leave_out_unset(value: Any, data: Any) -> None:
    """Remove fields in `LATER` that have their default from dumped data, and add those in `GONE`, in all models."""
    if isinstance(value, BaseModel):
        unset = LATER.get(type(value).__name__, {})
        for name in list(data):
            if name in unset and data[name] == unset[name]:
                del data[name]
            else:
                _leave_out_unset(getattr(value, name), data[name])
        data.update(GONE.get(type(value).__name__, {}))
    elif isinstance(value, Mapping):
        _leave_out_unset(list(value.values()), list(data.values()))
    elif isinstance(value, list | tuple):
        for inner, dumped in zip(value, data, strict=True):
            _leave_out_unset(inner, dumped)


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def files_digest(public: Mapping[str, bytes], private: Mapping[str, bytes]) -> str:
    """Return the hash of all files of a task, given by path. It is equal only if all files are equal."""
    sides = {"public": public, "private": private}
    return digest_of_hashes((side, path, digest(files[path])) for side, files in sides.items() for path in files)


def digest_of_hashes(entries: Iterable[tuple[str, str, str]]) -> str:
    """Return the same as `files_digest` from entries (side, path, SHA-256 of the content), in any order."""
    return fingerprint([list(entry) for entry in sorted(entries)])
