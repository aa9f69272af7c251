"""Turn the cells of submissions and answers into arrays."""

import re

import numpy as np

from sandmill.export.grader_parts.table import Refused, Rows, Table, Task
from sandmill.scoring.scores import Array

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
"""A plain decimal number: no inf, no nan, no 1_000."""

LONGEST_TEXT = 500
"""Characters of one text."""
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that no text holds."""

RUN_NUMBER = re.compile("[0-9]{1,9}")
"""A number in a run of pixels."""


def read_values(table: Table, task: Task) -> Array:
    """Return finite numbers within the task's range, shape (rows, columns)."""
    low, high = (task["low"], task["high"])
    columns = []
    for name in task["columns"]:
        cells = [cell.strip(" \t") for cell in table[name]]
        if not all(map(NUMBER.fullmatch, cells)):
            raise Refused(f"{name}: every cell must be a finite number")
        column = np.array([float(cell) for cell in cells])
        is_low = low is not None and (column < low).any()
        if not np.isfinite(column).all() or is_low or (high is not None and (column > high).any()):
            raise Refused(f"{name}: every number must be finite and in the range of the task")
        columns.append(column)
    return np.column_stack(columns)


def read_value(table: Table, task: Task) -> Array:
    """Return one finite number for each row."""
    return read_values(table, task)[:, 0]


def read_class_probabilities(table: Table, task: Task) -> Array:
    """Return probabilities of classes, whose sum is 1 in each row."""
    values = read_values(table, task)
    if (np.abs(values.sum(axis=1) - 1) > 1e-6).any():
        raise Refused("the probabilities of each row must sum to 1")
    return values


def read_label(table: Table, task: Task) -> Array:
    """Return class codes. A whole number may be written as 1 or 1.0."""
    codes = {name: code for code, name in enumerate(task["classes"])}
    found = []
    for cell in table[task["columns"][0]]:
        name = cell.strip(" \t")
        whole = re.fullmatch(r"([+-]?[0-9]+)\.0+", name)
        code = codes.get(name, codes.get(whole[1]) if whole else None)
        if code is None:
            raise Refused("every cell must hold one of the classes")
        found.append(code)
    return np.array(found)


def read_label_list(table: Table, task: Task) -> Array:
    """Return 0 and 1 by label, shape (rows, labels)."""
    named = read_names(table, task)
    flags = np.zeros((len(named), len(task["classes"])), dtype=int)
    for row, codes in enumerate(named):
        flags[row, codes] = 1
    return flags


def read_ranked_list(table: Table, task: Task) -> Array:
    """Return the class codes of each row, best first, as shape (rows, places). A short list ends in -1."""
    named, places = read_names(table, task), task["places"]
    return np.array([(codes + [-1] * places)[:places] for codes in named])


def read_text(table: Table, task: Task) -> Array:
    """Return texts as they are."""
    cells = table[task["columns"][0]]
    if any(len(cell) > LONGEST_TEXT or CONTROL.search(cell) for cell in cells):
        raise Refused(f"every text must have at most {LONGEST_TEXT} characters and no control characters")
    return np.array(cells, dtype=object)


def read_runs(table: Table, task: Task) -> Array:
    """Return masks of 0 and 1, shape (rows, pixels). Runs rise, do not overlap and stay in the picture."""
    cells, pixels = table[task["columns"][0]], task["pixels"]
    masks = np.zeros((len(cells), pixels), dtype=int)
    for mask, cell in zip(masks, cells, strict=True):
        words = [word for word in cell.replace("\t", " ").split(" ") if word]
        if len(cell) > 2 * task["cell_bytes"] or len(words) % 2 or not all(map(RUN_NUMBER.fullmatch, words)):
            raise Refused("every cell must hold pairs of whole numbers, separated by blanks")
        last = 1
        for start, length in zip(map(int, words[::2]), map(int, words[1::2]), strict=True):
            if start < last or length < 1 or start + length > pixels + 1:
                raise Refused("runs must rise, must not overlap, and must stay in the picture")
            last = start + length
            mask[start - 1 : last - 1] = 1
    return masks


def read_names(table: Table, task: Task) -> list[list[int]]:
    """Return the codes of the names in each cell, which are separated by blanks."""
    codes = {name: code for code, name in enumerate(task["classes"])}
    cells = [cell.replace("\t", " ").split(" ") for cell in table[task["columns"][0]]]
    try:
        return [[codes[name] for name in names if name] for names in cells]
    except KeyError:
        raise Refused("every cell must hold names of the task, separated by blanks") from None


def true_numbers(rows: Rows, task: Task) -> Array:
    """Return the target columns of answers.csv as numbers, shape (rows, columns)."""
    return np.array([[float(row[name]) for name in task["target_columns"]] for row in rows])


def true_number(rows: Rows, task: Task) -> Array:
    """Return the target column of answers.csv as numbers."""
    return true_numbers(rows, task)[:, 0]


def true_text(rows: Rows, task: Task) -> Array:
    """Return the texts of answers.csv."""
    return np.array([row[task["target_columns"][0]] for row in rows], dtype=object)


def true_runs(rows: Rows, task: Task) -> Array:
    """Return the masks of answers.csv."""
    return read_runs({task["columns"][0]: [row[task["target_columns"][0]] for row in rows]}, task)


def true_codes(rows: Rows, task: Task) -> Array:
    """Return the class codes of answers.csv."""
    codes = {name: code for code, name in enumerate(task["classes"])}
    return np.array([codes[row[task["target_columns"][0]]] for row in rows])


def true_flags(rows: Rows, task: Task) -> Array:
    """Return the label lists of answers.csv as 0 and 1 by label."""
    name = task["target_columns"][0]
    return read_label_list({task["columns"][0]: [row[name] for row in rows]}, task)
