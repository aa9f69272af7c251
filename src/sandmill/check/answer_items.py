"""Answers and sample submissions by item, where an item has several answer rows or its answer is no cell of a table.

Gates then judge items alone. The target of an item becomes what gates can judge: the names of its labels, the mean of
its pixels, the share of its mask, or the number of characters of its texts.
"""

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from sandmill.models.package import TaskFacts
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import Lengths
from sandmill.scoring.forms.many_rows import CONTROL, LONGEST_STRING

_ZERO_OR_ONE = {"0": False, "1": True}
_UNKNOWN = "?"
"""Names no label."""
_NUMBER = re.compile(r"[01](?:\.[0-9]+)?(?:e-[0-9]+)?")


def is_judged_by_item(facts: TaskFacts) -> bool:
    """Whether items have several answer rows, or masks."""
    return facts.encoding in ("pairs", "dense", "strings", "runs")


def by_item(path: str, frame: pl.DataFrame, facts: TaskFacts, faults: list[str]) -> pl.DataFrame:
    """Return a table of answer rows as a table of items: their ids, and the first cell of each other column.

    Args:
        path: of the file, for faults.
        frame: its cells as text.
        facts: what the task asks for.
        faults: receives a fault if rows are not those of whole items, one after the other.
    """
    row_ids = frame[facts.id_column].fill_null("").to_list()
    form = form_of(facts)
    try:
        ids, lengths = form.item_ids(row_ids, facts)
        is_whole = list(form.row_ids(ids, facts, lengths)) == row_ids
    except ValueError:
        is_whole = False
    if not is_whole:
        faults.append(f"{path}: its ids are not those of all answer rows of each item, one after the other")
        return frame.clear()
    starts = _starts(len(ids), len(row_ids), lengths)
    return frame[starts].with_columns(pl.Series(facts.id_column, ids, dtype=pl.String))


def answers_by_item(path: str, frame: pl.DataFrame, facts: TaskFacts, part: str, faults: list[str]) -> pl.DataFrame:
    """Return answers as a table of items, with what gates judge in place of the target.

    Rows of an item that are of several parts are a fault, and so are texts that no submission may hold.
    """
    items = by_item(path, frame, facts, faults)
    if not items.height:
        return items
    ids, lengths = form_of(facts).item_ids(frame[facts.id_column].to_list(), facts)
    starts = _starts(len(ids), frame.height, lengths)
    each = np.diff([*starts, frame.height])
    if not frame[part].equals(items[part].gather(np.repeat(np.arange(len(ids)), each))):
        faults.append(f"{path}: rows of one item are of several parts")
    cells = frame[facts.target_column]
    told: Sequence[str | None]
    match facts.encoding:
        case "pairs":
            told = _labels(cells.to_list(), facts)
        case "runs":
            told = _shares(cells, facts)
            if None in told:
                faults.append(f"{path}: masks that are no runs of pixels")
        case "strings":
            faults += _text_faults(path, cells)
            told = _sums(cells.fill_null("").str.len_chars().to_list(), starts)
        case _:
            told = _means(cells.to_list(), int(each[0]))
    return items.with_columns(pl.Series(facts.target_column, told, dtype=pl.String))


def train_target_by_item(frame: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
    """Put in place of training targets what `answers_by_item` puts in place of others."""
    name = facts.target_column
    if facts.encoding not in ("dense", "strings", "runs") or name not in frame.columns:
        return frame
    cells = frame[name]
    told: Sequence[str | None]
    if facts.encoding == "runs":
        told = _shares(cells, facts)
    elif cells.dtype == pl.Binary:
        told = [f"{np.frombuffer(cell, dtype=np.uint8).mean() / 255:.6f}" for cell in cells]
    elif cells.dtype == pl.List(pl.String):
        told = [str(sum(map(len, cell))) for cell in cells]
    else:
        return frame
    return frame.with_columns(pl.Series(name, told, dtype=pl.String))


def _starts(items: int, rows: int, lengths: Lengths) -> list[int]:
    if lengths is None:
        return list(range(0, rows, rows // max(1, items))) if rows else []
    return [int(end) for end in np.cumsum(lengths) - np.asarray(lengths)]


def _labels(cells: Sequence[str | None], facts: TaskFacts) -> list[str]:
    width = len(facts.classes)
    told = []
    for start in range(0, len(cells), width):
        marks = [_ZERO_OR_ONE.get(cell or "") for cell in cells[start : start + width]]
        names = [name for name, mark in zip(facts.classes, marks, strict=True) if mark]
        told.append(_UNKNOWN if None in marks else " ".join(names))
    return told


def _means(cells: Sequence[str | None], width: int) -> list[str | None]:
    """Return the mean of each picture; null where a cell is no number from 0 to 1."""
    if not all(cell and _NUMBER.fullmatch(cell) for cell in cells):
        return [None] * (len(cells) // width)
    values = np.array(cells, dtype=np.float64).reshape(-1, width)
    fits = np.asarray(values.max(axis=1) <= 1)
    return [f"{mean:.6f}" if fit else None for mean, fit in zip(values.mean(axis=1), fits, strict=True)]


def _shares(cells: pl.Series, facts: TaskFacts) -> list[str | None]:
    """Return the share of the picture that each mask covers; null where a cell does not hold runs."""
    form = form_of(facts)
    told: list[str | None] = []
    for cell in cells.fill_null("").to_list():
        try:
            mask = form.to_items(form.read_truth({facts.target_column: [cell]}, facts), facts)
        except ValueError:
            told.append(None)
        else:
            told.append(f"{mask.mean():.6f}")
    return told


def _sums(lengths: Sequence[int], starts: Sequence[int]) -> list[str]:
    return [str(total) for total in np.add.reduceat(np.asarray(lengths), starts)]


def _text_faults(path: str, cells: pl.Series) -> list[str]:
    unfit = sum(not cell or len(cell) > LONGEST_STRING or bool(CONTROL.search(cell)) for cell in cells)
    return [f"{path}: {unfit} texts are empty, too long or hold control characters"] if unfit else []
