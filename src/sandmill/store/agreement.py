"""Check that facts which a release holds twice are equal, since graders and readers use different copies.

The record of a task is what was verified. Columns of the tables, `private/task.json`, `private/leaderboard.csv` and the
prompt repeat parts of it.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from sandmill.errors import IntegrityError, SandmillError, shorten
from sandmill.fingerprint import canonical_json, digest
from sandmill.models.release import TaskRecord
from sandmill.models.task_file import TaskFile
from sandmill.scoring import get_metric
from sandmill.store.arrow_tables import Row, private_task_row, public_task_row, read_record
from sandmill.store.limits import MAX_TASK_FILE_BYTES

Sayings = dict[str, str]
"""Digests of the facts of one task, by the place that holds them."""

PROMPT = "public/tasks: prompt"
_TASK_FILE, _BOARD = "private/task.json", "private/leaderboard.csv"
_UNREADABLE = "unreadable"


def said_by_record(record: TaskRecord) -> Sayings:
    """Return what other places must hold on a task.

    Raises:
        ValueError: a number is not finite.
    """
    said = said_by_row(public_task_row(record, prompt=""))
    del said[PROMPT]
    file = {name: getattr(record, name) for name in TaskFile.model_fields}
    board = enumerate(record.calibration.board, start=1)
    return {
        **said,
        _TASK_FILE: _digest(TaskFile.model_validate(file).model_dump(mode="json")),
        _BOARD: _digest([[rank, one.final, one.solver, str(one.tier)] for rank, one in board]),
    }


def said_by_row(row: Row) -> Sayings:
    """Return the digests of a row of public/tasks. The prompt's is of its bytes, to be compared with description.md."""
    said = {f"public/tasks: {column}": _digest(value) for column, value in row.items() if column != "prompt"}
    return {**said, PROMPT: digest(row["prompt"].encode())}


def said_by_file(place: str, content: bytes) -> Sayings:
    """Return the digest of a file that repeats facts of the record; empty for other files."""
    readers = {_TASK_FILE: _read_task_file, _BOARD: _read_board}
    if place == "public/description.md":
        return {place: digest(content)}
    if place not in readers:
        return {}
    try:
        said = None if len(content) > MAX_TASK_FILE_BYTES else _digest(readers[place](content))
    except (ValueError, KeyError, TypeError, csv.Error):
        said = None
    return {place: said or _UNREADABLE}


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """Yield the places that differ from the record, and the prompt if it differs from description.md."""
    for place, said in expected.items():
        if place not in found:
            if place in (_TASK_FILE, _BOARD):
                yield f"{place} is missing"
        elif found[place] != said:
            yield f"{place} is not that of its record"
    if PROMPT in found and found[PROMPT] != found.get("public/description.md"):
        yield f"{PROMPT} is not that of public/description.md"


def record_of(row: Row) -> tuple[TaskRecord | None, list[str]]:
    """Read and check the record in a row of private/tasks.

    Returns:
        The record, None if it cannot be read, and the problems.
    """
    try:
        record = read_record(row)
        expected = private_task_row(record)
    except IntegrityError as error:
        return None, [str(error)]
    except (ValueError, SandmillError) as error:
        return None, [f"its record cannot be read: {shorten(str(error), 200)}"]
    # An older version may have written the same record with fewer fields.
    by_ranks = {"rule"} if row["rule"] is None and record.calibration.rule == "ranks" else set()
    skipped = {"record"} | by_ranks
    wrong = [name for name in expected if name not in skipped and row[name] != expected[name]]
    problems = [f"private/tasks: {name} is not that of its record" for name in wrong]
    return record, problems + list(_contradictions(record))


def _contradictions(record: TaskRecord) -> Iterator[str]:
    spec, facts = record.spec, record.facts
    if (spec.metric, spec.target) != (facts.metric, facts.target):
        yield f"its design has {spec.metric} of {spec.target}; its facts has {facts.metric} of {facts.target}"
    is_lower_better = get_metric(facts.metric).is_lower_better
    if record.calibration.is_lower_better != is_lower_better:
        yield f"its calibration says that {'higher' if is_lower_better else 'lower'} {facts.metric} is better"


def _read_task_file(content: bytes) -> Any:
    return TaskFile.model_validate_json(content).model_dump(mode="json")


def _read_board(content: bytes) -> Any:
    lines = csv.DictReader(io.StringIO(content.decode()), strict=True)
    return [[int(line["rank"]), float(line["score"]), line["solver"], line["tier"]] for line in lines]


def _digest(value: Any) -> str:
    return digest(canonical_json(value).encode())
