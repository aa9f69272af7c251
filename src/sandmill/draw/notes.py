"""Write the notes of rows: sentences that hold values of the row, among sentences that mean nothing."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.columns import Categorical, Column
from sandmill.models.hints import Notes

FEWEST_SENTENCES, MOST_SENTENCES = 2, 5
"""Sentences of a row. A row with more values has a sentence for each."""


def write_notes(
    notes: Notes, columns: Mapping[str, Column], cells: Mapping[str, Floats], row_numbers: RowNumbers
) -> list[str]:
    """Write the notes of each row. Row i depends on its own numbers and true values (codes for categories) alone."""
    own = RowNumbers(row_numbers.streams.child("notes"), row_numbers.numbers)
    stated = [
        _state(value.phrases, written_values(columns[value.column], cells[value.column]), own, place)
        for place, value in enumerate(notes.values)
    ]
    fewest = max(FEWEST_SENTENCES, len(stated))
    span = max(MOST_SENTENCES, fewest) - fewest + 1
    lengths = fewest + np.floor(own.uniforms("sentences") * span).astype(np.intp)
    fillers = _rank(own, "filler", len(notes.fillers))
    orders = _rank(own, "order", fewest + span - 1)
    written = []
    for row, length in enumerate(lengths):
        chosen = [notes.fillers[filler] for filler in fillers[row, : length - len(stated)]]
        sentences = [*(texts[row] for texts in stated), *chosen]
        written.append(" ".join(sentences[place] for place in orders[row] if place < len(sentences)))
    return written


def written_values(column: Column, cells: Floats) -> list[str]:
    """Return values as notes write them: numbers with all their decimals, levels with spaces for underscores."""
    if isinstance(column.distribution, Categorical):
        words = [level.replace("_", " ") for level in column.distribution.levels]
        return [words[int(code)] for code in cells]
    return [f"{value:.{column.decimals}f}" for value in cells]


def _state(phrases: tuple[str, ...], values: list[str], row_numbers: RowNumbers, place: int) -> list[str]:
    chosen = np.floor(row_numbers.uniforms(f"phrase {place}") * len(phrases)).astype(np.intp)
    return [phrases[phrase].replace("{value}", value) for phrase, value in zip(chosen, values, strict=True)]


def _rank(row_numbers: RowNumbers, name: str, count: int) -> NDArray[np.intp]:
    """Return a random order of `count` things for each row."""
    return np.argsort(np.column_stack([row_numbers.uniforms(f"{name} {place}") for place in range(count)]), axis=1)
