"""Facts of the feature columns of a training table."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.cells import DATE, MEASURE, NEARLY_ALL
from sandmill.learning.bins import place
from sandmill.models.package import TaskFacts

TRAIN = "train.csv"
_MOST_BYTES = 16 << 20
"""Largest training table that is read: a hundred times that of a micro task."""
_MOST_ROWS = 2000
"""Rows that are looked at. The first rows of a larger table are enough for coarse bins."""
_LONG_TEXT, _WORDS = 24, 4
"""Mean characters and mean words of a cell from which a column of names is free text."""
_HIGH_CARDINALITY = 12
"""Levels from which a categorical column has a high cardinality."""
_SHARED_BY = 3
"""Rows that must share a number for it to be a sentinel."""
_FAR_OUT = 3.0
"""Interquartile ranges between the other numbers and a sentinel."""
_FEWEST_NUMBERS = 6
"""Different numbers that a column with a sentinel has beside it. Codes of classes have fewer."""


@dataclass(frozen=True)
class FactTable:
    """A training table as facts need it."""

    frame: Any
    """All cells as text, missing ones as an empty string: a `pandas.DataFrame`."""
    features: tuple[str, ...]
    numeric: dict[str, Any]
    """Numbers by column, NaN where a cell is missing. Numbers with a unit and dates (as days) are among them."""
    categorical: tuple[str, ...]
    """Columns of names that repeat."""
    text: tuple[str, ...]
    dates: tuple[str, ...]
    measures: tuple[str, ...]
    """Columns of numbers with a unit."""


def read_table(public: Path, facts: TaskFacts) -> FactTable | None:
    """Read the training table; None if there is none, or none with the columns that the description states."""
    import pandas as pd

    path = public / TRAIN
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return None
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=_MOST_ROWS, encoding_errors="replace")
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.empty or not {*facts.target_columns} <= {*frame.columns}:
        return None
    features = tuple(name for name in frame.columns if name not in (facts.id_column, *facts.target_columns))
    return _sort(frame, features)


def _sort(frame: Any, features: tuple[str, ...]) -> FactTable:
    import pandas as pd

    numeric: dict[str, Any] = {}
    names: dict[str, list[str]] = {"categorical": [], "text": [], "dates": [], "measures": []}
    for name in features:
        cells = frame[name].str.strip()
        filled = cells[cells != ""]
        numbers = pd.to_numeric(filled, errors="coerce")
        if not len(filled) or numbers.notna().mean() >= NEARLY_ALL:
            numeric[name] = pd.to_numeric(cells, errors="coerce").to_numpy(float)
        elif filled.str.fullmatch(DATE).mean() >= NEARLY_ALL:
            names["dates"].append(name)
            days = pd.to_datetime(cells, format="%Y-%m-%d", errors="coerce")
            numeric[name] = (days - days.min()).dt.days.to_numpy(float)
        elif filled.str.fullmatch(MEASURE).mean() >= NEARLY_ALL:
            names["measures"].append(name)
            found = cells.str.extract(f"^{MEASURE.pattern}$", expand=False)
            numeric[name] = pd.to_numeric(found, errors="coerce").to_numpy(float)
        elif filled.str.len().mean() > _LONG_TEXT and filled.str.split().str.len().mean() > _WORDS:
            names["text"].append(name)
        elif filled.nunique() < len(filled):
            names["categorical"].append(name)
    finite = {name: np.where(np.isfinite(values), values, np.nan) for name, values in numeric.items()}
    return FactTable(frame, features, finite, **{kind: tuple(found) for kind, found in names.items()})


def column_facts(table: FactTable) -> dict[str, str]:
    """Return what a table's features are."""
    levels = [table.frame[name].nunique() for name in table.categorical]
    empty = (table.frame[list(table.features)] == "").mean() if table.features else np.zeros(1)
    found = {
        "rows": place(len(table.frame), (90, 130, 170), ("under-90", "90-129", "130-169", "170+")),
        "numeric": place(len(table.numeric) - len(table.dates), (3, 6, 10), ("0-2", "3-5", "6-9", "10+")),
        "categorical": place(len(levels), (1, 3), ("0", "1-2", "3+")),
        "cardinality": "high" if max(levels, default=0) >= _HIGH_CARDINALITY else "low",
        "missing": place(float(empty.max()), (1e-9, 0.15), ("none", "some", "much")),
    }
    switches = {
        "dates": bool(table.dates),
        "text": bool(table.text),
        "units": bool(table.measures),
        "sentinels": any(_sentinels(table)),
    }
    return found | {name: "yes" if is_on else "no" for name, is_on in switches.items()}


def _sentinels(table: FactTable) -> Iterator[str]:
    """Yield numeric columns with a number far outside of the others that several rows share."""
    for name, values in table.numeric.items():
        known = values[np.isfinite(values)]
        if len(known) < 2 * _SHARED_BY:
            continue
        for extreme in (known.min(), known.max()):
            others = known[known != extreme]
            if len(known) - len(others) < _SHARED_BY or len(others) < _SHARED_BY:
                continue
            low, high = np.quantile(others, [0.25, 0.75])
            is_far = np.abs(others - extreme).min() > _FAR_OUT * (high - low)
            if is_far and len(np.unique(others)) >= _FEWEST_NUMBERS:
                yield name
