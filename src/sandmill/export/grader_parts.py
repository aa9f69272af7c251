"""Source of graders that travel with an export. Only the standard library and numpy are imported here.

`sandmill.export.grader` copies the functions that one task needs into one file, with those of its metric from
`sandmill.scoring.scores`. They read submission.csv (a regular file, plain CSV in UTF-8, the right columns, each id
once), turn the cells of submissions and answers into arrays, and grade: score, medal, position and share of the gap.
Anything unexpected is an invalid submission. `run` is the command line.
"""

import csv
import io
import json
import math
import os
import re
import stat
import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from sandmill.scoring.scores import Array, Resample

Task = dict[str, Any]
"""Facts of one task: columns, classes, range, direction, and thresholds and leaderboard of each part."""
Table = dict[str, list[str]]
"""Cells by column, in the order of the ids of answers.csv."""
Rows = list[dict[str, str]]
"""Rows of answers.csv."""

MOST_BYTES = 64 * 1024 * 1024
"""Largest submission in bytes."""


class Refused(Exception):
    """The submission is not valid."""


def read_file(path: str | os.PathLike[str], most: int) -> bytes | None:
    """Return the content of a regular file, and None if there is no file. Links are not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"the file cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused("not a regular file")
        return file.read(most + 1)


def read_table(content: bytes, task: Task, ids: list[str]) -> Table:
    """Return the cells of each column by name, in the order of `ids`."""
    if len(content) > limit_bytes(task, ids):
        raise Refused(f"the file has {len(content)} bytes, more than {limit_bytes(task, ids)}")
    if b"\0" in content:
        raise Refused("the file is not text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("the file is not UTF-8") from None
    expected = [task["id_column"], *task["columns"]]
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        rows = [row for row in islice(reader, 2 * len(ids) + 1000) if row]
        has_more = next(reader, None) is not None
    except csv.Error as error:
        raise Refused(f"line {reader.line_num}: not CSV ({error})") from None
    if sorted(header) != sorted(expected):
        raise Refused(f"the header must have the columns {', '.join(expected)}"[:500])
    if has_more or any(len(row) != len(header) for row in rows):
        raise Refused("too many lines, or lines with another number of cells than the header")
    place = header.index(task["id_column"])
    by_id = {row[place]: row for row in rows}
    if len(by_id) != len(rows) or by_id.keys() != set(ids):
        raise Refused(f"{len(rows)} rows with {len(by_id)} different ids; expected each of {len(ids)} ids once")
    return {name: [by_id[key][header.index(name)] for key in ids] for name in task["columns"]}


def limit_bytes(task: Task, ids: list[str]) -> int:
    """Return the largest accepted size: four times that of a plain submission, plus 64 KB."""
    cells: int = len(ids) * len(task["columns"]) * task["cell_bytes"]
    return min(MOST_BYTES, 4 * (len("".join(ids).encode()) + cells) + 65536)


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


Report = dict[str, Any]


def grade_paths(
    submission: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    part: str,
    task: Task,
    score: Callable[..., float],
) -> Report:
    """Grade a file. A submission that cannot be graded is an invalid one."""
    try:
        content = read_file(submission, MOST_BYTES)
        with open(answers, "rb") as file:
            truth = file.read()
    except Refused as error:
        return report(task, part, None, str(error))
    except Exception as error:
        return report(task, part, None, f"the grader failed with {type(error).__name__}")
    return grade_content(content, truth, part, task, score)


def grade_content(
    submission: bytes | None, answers: bytes, part: str, task: Task, score: Callable[..., float]
) -> Report:
    """Grade the content of submission.csv, which is None if there is no file."""
    try:
        return report(task, part, score(submission, answers, part, task))
    except Refused as error:
        return report(task, part, None, str(error))
    except Exception as error:
        return report(task, part, None, f"the grader failed with {type(error).__name__}")


def score_part(
    submission: bytes | None,
    answers: bytes,
    part: str,
    task: Task,
    read: Callable[[Table, Task], Array],
    read_truth: Callable[[Rows, Task], Array],
    metric: Resample,
) -> float:
    """Return the score of one part. Both parts must have a finite score."""
    if submission is None:
        raise Refused("there is no submission.csv")
    lines = list(csv.DictReader(io.StringIO(answers.decode())))
    ids, parts = [line[task["id_column"]] for line in lines], np.array([line["part"] for line in lines])
    prediction, truth = read(read_table(submission, task, ids), task), read_truth(lines, task)
    with np.errstate(all="ignore"):
        scores = {
            name: round(float(metric(truth[rows], prediction[rows], np.ones((1, rows.sum())))[0]), 5) + 0.0
            for name, rows in (("final", parts == "final"), ("feedback", parts == "feedback"))
            if rows.any()
        }
    gaps = [share(scores[name], task["parts"][name]) or 0.0 for name in scores]
    if not all(map(math.isfinite, [*scores.values(), *gaps])):
        raise Refused("the numbers are too large to score")
    return scores[part]


def report(task: Task, part: str, score: float | None, problem: str = "") -> Report:
    """Return the result. Without a score there is no medal, and the reward is 0."""
    facts, lower = task["parts"][part], task["is_lower_better"]
    thresholds, board = facts["thresholds"], facts["board"]

    def reaches(bar: float) -> bool:
        return score is not None and (score <= bar if lower else score >= bar)

    beaten = sum(map(reaches, board))
    gap, to_gold = share(score, facts), share(score, {**facts, "oracle": thresholds["gold"]})
    progress = share(score, {**facts, "oracle": facts["reward_end"]})
    return {
        "score": score,
        "valid": score is not None,
        "problems": [problem] if problem else [],
        "part": part,
        "is_lower_better": lower,
        "thresholds": thresholds,
        "medal": next((medal for medal in ("gold", "silver", "bronze") if reaches(thresholds[medal])), None),
        "above_median": reaches(thresholds["median"]) and score != thresholds["median"],
        "gap_closed": gap,
        "gap_to_gold": to_gold,
        "position": None if score is None else len(board) - beaten + 1,
        "position_score": beaten / len(board),
        "reward": min(1.0, max(0.0, progress or 0.0)),
        "reward_preset": "gap",
    }


def share(score: float | None, facts: Task) -> float | None:
    """Return the share of the way from the trivial solver to the oracle; None if an end is not known."""
    low, high = facts["trivial"], facts["oracle"]
    if score is None or low is None or high == low:
        return None
    return float(round((score - low) / (high - low), 6) + 0.0)


def run(grade: Callable[..., Report]) -> None:
    """Grade the files that the command line names, and print the report."""
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["final"], ["feedback"]):
        sys.exit("usage: python grader.py SUBMISSION ANSWERS [final|feedback]")
    print(json.dumps(grade(*sys.argv[1:]), allow_nan=False))
