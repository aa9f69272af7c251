"""Cells into numbers as pipelines do it, from careless to careful. What depends on features alone is made once."""

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.solvers.designs import Design, calendar, fill_gaps, gap_flags, levels, raw_numbers, words
from sandmill.calibrate.solvers.encoding import encoded_levels
from sandmill.calibrate.solvers.repair import filled_from_others, squeezed
from sandmill.calibrate.solvers.table import Table

if TYPE_CHECKING:
    from sandmill.calibrate.pipelines import Pipeline

_TAIL = 0.02
"""Share of cells on each side that a clipped column brings to the edge."""
_MOST_PAIRS = 15
"""Products that are made: of the first columns, as a person in a hurry would."""
_STEPS = (0.25, 0.5, 0.75)


def prepared(pipeline: "Pipeline", table: Table) -> Design:
    """Make the design that a pipeline's model is fed: numbers, dates, categories and further features."""
    numbers = _numbers(pipeline, table)
    parts = [numbers, _calendar(pipeline, table), _categories(pipeline.categories, table)]
    if pipeline.gaps == "flagged":
        parts.append(_once("flags", gap_flags, table))
    if pipeline.extras != "none":
        parts.append(_extras(pipeline, table))
    return Design(np.hstack([part.train for part in parts]), np.hstack([part.test for part in parts]))


def _once(name: Any, make: Callable[[Table], Design], table: Table) -> Design:
    design: Design = table.cached_features(("pipeline", name), make)
    return design


def _numbers(pipeline: "Pipeline", table: Table) -> Design:
    """Numeric columns, filled and reshaped; dates as days among them, unless they are left out."""

    def make(table: Table) -> Design:
        filled = _reshaped(pipeline.numbers, _filled(pipeline.gaps, table))
        dates = [name in table.kinds.dates for name in table.kinds.numeric]
        wanted = ~np.array(dates, dtype=bool) | (pipeline.dates != "left out")
        return Design(filled.train[:, wanted], filled.test[:, wanted])

    return _once((pipeline.gaps, pipeline.numbers, pipeline.dates == "left out"), make, table)


def _filled(gaps: str, table: Table) -> Design:
    raw = raw_numbers(table)
    match gaps:
        case "from others":
            return filled_from_others(table)
        case "zero":
            return Design(np.nan_to_num(raw.train), np.nan_to_num(raw.test))
        case "mean":
            middle = np.nanmean(raw.train, axis=0)
            return Design(*(np.where(np.isnan(part), middle, part) for part in (raw.train, raw.test)))
        case _:
            return fill_gaps(raw)


def _reshaped(way: str, filled: Design) -> Design:
    if not filled.train.shape[1]:
        return filled
    match way:
        case "raw":
            return filled
        case "clipped":
            low, high = np.quantile(filled.train, (_TAIL, 1 - _TAIL), axis=0)
            return Design(*(np.clip(part, low, high) for part in (filled.train, filled.test))).scaled()
        case "ranked":
            return _ranked(filled)
        case "squeezed":
            return squeezed(filled.scaled())
        case "logged":
            is_positive = filled.train.min(axis=0) > 0
            logs = (np.where(is_positive, np.log(np.maximum(part, 1e-9)), part) for part in (filled.train, filled.test))
            return Design(*logs).scaled()
        case _:
            return filled.scaled()


def _ranked(filled: Design) -> Design:
    """Each cell as the share of training cells that lie below it, from -1 to 1."""
    made = []
    for part in (filled.train, filled.test):
        columns = [
            np.searchsorted(np.sort(known), cells, side="left") + np.searchsorted(np.sort(known), cells, side="right")
            for known, cells in zip(filled.train.T, part.T, strict=True)
        ]
        made.append(np.column_stack(columns) / len(filled.train) - 1)
    return Design(*made)


def _calendar(pipeline: "Pipeline", table: Table) -> Design:
    days = calendar(table)
    if pipeline.dates == "calendar":
        return days if pipeline.numbers == "raw" else _once("calendar", lambda table: calendar(table).scaled(), table)
    return Design(days.train[:, :0], days.test[:, :0])


def _categories(way: str, table: Table) -> Design:
    match way:
        case "levels":
            return levels(table)
        case "means":
            design: Design = table.cached("pipeline means", encoded_levels)
            return design
        case "left out":
            return Design(np.zeros((len(table.train), 0)), np.zeros((len(table.test), 0)))
        case _:
            return _once(way, lambda table: _coded(way, table), table)


def _coded(way: str, table: Table) -> Design:
    """Each category as one number: its place in the alphabet, or its share of the training rows."""
    train, test = [np.zeros((len(table.train), 0))], [np.zeros((len(table.test), 0))]
    for name in table.kinds.categorical:
        cells, new = words(table, name)
        names, counts = np.unique(cells, return_counts=True)
        numbers = np.arange(1.0, len(names) + 1) if way == "codes" else counts / len(cells)
        of_name = dict(zip(names, numbers / numbers.std() if len(names) > 1 else numbers, strict=True))
        for made, column in ((train, cells), (test, new)):
            made.append(np.array([of_name.get(cell, 0.0) for cell in column])[:, None])
    return Design(np.hstack(train), np.hstack(test))


def _extras(pipeline: "Pipeline", table: Table) -> Design:
    def make(table: Table) -> Design:
        filled = _filled(pipeline.gaps, table)
        makers = {"squares": _squares, "products": _products, "logs": _logs, "waves": _waves, "steps": _steps}
        source = filled.scaled() if pipeline.extras in ("squares", "products") else filled
        return makers[pipeline.extras](source).scaled()

    return _once((pipeline.gaps, pipeline.extras), make, table)


def _squares(numbers: Design) -> Design:
    return Design(numbers.train**2, numbers.test**2)


def _products(numbers: Design) -> Design:
    pairs: NDArray[np.intp] = np.array([*combinations(range(numbers.train.shape[1]), 2)], dtype=np.intp).reshape(-1, 2)
    left, right = pairs[:_MOST_PAIRS].T
    return Design(*(part[:, left] * part[:, right] for part in (numbers.train, numbers.test)))


def _logs(numbers: Design) -> Design:
    """Logarithms of positive columns: with weights they add up to any ratio."""
    is_positive = (numbers.train > 0).all(axis=0)
    return Design(*(np.log(np.maximum(part[:, is_positive], 1e-9)) for part in (numbers.train, numbers.test)))


def _waves(numbers: Design) -> Design:
    """One wave over the range of each column."""
    low, spread = numbers.train.min(axis=0), np.maximum(np.ptp(numbers.train, axis=0), 1e-9)
    angles = [2 * np.pi * (part - low) / spread for part in (numbers.train, numbers.test)]
    return Design(*(np.hstack([np.sin(angle), np.cos(angle)]) for angle in angles))


def _steps(numbers: Design) -> Design:
    """Whether each column lies above each of its quarters."""
    cuts = np.quantile(numbers.train, _STEPS, axis=0)
    return Design(*(np.hstack([part > cut for cut in cuts]).astype(float) for part in (numbers.train, numbers.test)))
