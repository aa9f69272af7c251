"""Remember what was measured on items: calibration reads the same test items after every training draw.

Functions are wrapped after their definition, `spectrum = once(spectrum)`, so that their source stays what scripts hold.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

MOST_ARRAYS, MOST_FILES, MOST_ROWS = 12, 30_000, 10_000
"""Results that are kept, the latest ones: those of a few sets of items, and of the files and rows of a few tasks."""

Function = TypeVar("Function", bound=Callable[..., Any])
_arrays: "OrderedDict[Hashable, Any]" = OrderedDict()
_files: "OrderedDict[Hashable, Any]" = OrderedDict()
_rows: "OrderedDict[Hashable, dict[str, Any]]" = OrderedDict()


def once(function: Function) -> Function:
    """Compute a function of an array, and of further arguments, once for equal content."""

    def content(items: Any) -> Hashable:
        array = np.ascontiguousarray(items)
        return array.shape, array.dtype.str, _digest(array.data)

    return _remembering(function, content, _arrays, MOST_ARRAYS)


def once_a_row(function: Function) -> Function:
    """Compute a function that makes a row of a table of each row of an array, once for equal rows."""

    @wraps(function)
    def remembering(items: Any, *others: Any) -> Any:
        given = function.__qualname__, repr(others)
        keys = [(*given, _digest(item)) for item in np.ascontiguousarray(items)]
        new = {key: place for place, key in enumerate(keys) if key not in _rows}
        if new:
            made = function(items[list(new.values())], *others)
            _rows.update(zip(new, made.to_dict("records"), strict=True))
        found = pd.DataFrame([_rows[key] for key in keys])
        while len(_rows) > MOST_ROWS:
            _rows.popitem(last=False)
        return found

    return remembering  # type: ignore[return-value]


def once_a_file(function: Function) -> Function:
    """Compute a function of a file on disk or in memory, and of further arguments, once for equal content."""

    def content(file: Any) -> Hashable:
        return _digest(file.getvalue() if isinstance(file, BytesIO) else Path(file).read_bytes())

    return _remembering(function, content, _files, MOST_FILES)


def once_a_column(function: Function) -> Function:
    """Compute a function of a column of texts, and of further arguments, once for equal texts."""

    def content(texts: Any) -> Hashable:
        return _digest(pd.util.hash_pandas_object(texts, index=False, categorize=False).to_numpy().tobytes())

    return _remembering(function, content, _arrays, MOST_ARRAYS)


def _remembering(
    function: Function, content: Callable[[Any], Hashable], results: "OrderedDict[Hashable, Any]", most: int
) -> Function:
    @wraps(function)
    def remembering(first: Any, *others: Any) -> Any:
        key = (function.__qualname__, content(first), repr(others))
        if key not in results:
            results[key] = function(first, *others)
            if len(results) > most:
                results.popitem(last=False)
        results.move_to_end(key)
        return results[key]

    return remembering  # type: ignore[return-value]


def _digest(content: Any) -> bytes:
    return sha256(content).digest()  # processors have instructions for it
