"""Remember what was measured on items: calibration reads the same test items after every training draw.

Functions are wrapped after their definition, `spectrum = once(spectrum)`, so that their source stays what scripts hold.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

MOST_ARRAYS, MOST_FILES = 12, 30_000
"""Results that are kept, the latest ones: those of a few sets of items, and of the files of a few tasks."""

Function = TypeVar("Function", bound=Callable[..., Any])
_arrays: "OrderedDict[Hashable, Any]" = OrderedDict()
_files: "OrderedDict[Hashable, Any]" = OrderedDict()


def once(function: Function) -> Function:
    """Compute a function of an array, and of further arguments, once for equal content."""

    @wraps(function)
    def remembering(items: Any, *others: Any) -> Any:
        content = np.ascontiguousarray(items)
        key = (function.__qualname__, content.shape, content.dtype.str, _digest(content.data), repr(others))
        return _known(_arrays, MOST_ARRAYS, key, lambda: function(items, *others))

    return remembering  # type: ignore[return-value]


def once_a_file(function: Function) -> Function:
    """Compute a function of a file, and of further arguments, once for equal content."""

    @wraps(function)
    def remembering(path: Any, *others: Any) -> Any:
        key = (function.__qualname__, _digest(Path(path).read_bytes()), repr(others))
        return _known(_files, MOST_FILES, key, lambda: function(path, *others))

    return remembering  # type: ignore[return-value]


def _known(results: "OrderedDict[Hashable, Any]", most: int, key: Hashable, make: Callable[[], Any]) -> Any:
    if key not in results:
        results[key] = make()
        if len(results) > most:
            results.popitem(last=False)
    results.move_to_end(key)
    return results[key]


def _digest(content: Any) -> bytes:
    return blake2b(content, digest_size=16).digest()
