"""One row for each script that an arm wrote and ran: the data of all tables, intervals and plots."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from sandmill.errors import InputError, Problem, shorten
from sandmill.models.base import Frozen
from sandmill.models.reports import Medal
from sandmill.models.rollout import Rollout
from sandmill_learn.records import write_file

_DRAW_MARK = ".d"
"""Separates the name of a real table from the number of its row draw."""

_ROWS_PER_GROUP = 10_000


class Scored(Frozen):
    """One script of an arm on one task. Several arms, seeds, temperatures and tasks may stand in one file."""

    arm: str
    """Name of the method, such as `grpo-gap` or `best-single`."""
    seed: int
    """Training seed of the arm; 0 if nothing was trained."""
    task_id: str
    family: str
    """Unit of the statistics: the family of a real table, or the design of a synthetic task."""
    source: str
    """Where the task comes from, such as `development`, `final` or the name of a release."""
    draw: int = Field(default=0, ge=0)
    """Number of the row draw of a real table."""
    sample: int = Field(default=0, ge=0)
    """Counts the scripts that one arm, seed and temperature wrote for one task, from 0."""
    temperature: float = Field(default=0.0, ge=0)
    """0 means the most likely script."""
    gap: float = Field(ge=-1, le=1)
    """Share of the gap from the trivial solver to the ceiling, clipped to -1..1; 0 without a valid submission."""
    valid: bool
    medal: Medal | None = None
    position_score: float = Field(default=0.0, ge=0, le=1)
    """(entries - position + 1) / entries on the leaderboard of the task."""
    seconds: float = Field(default=0.0, ge=0)
    """Wall time of the script. Scripts that were tried and not chosen count too."""
    executions: int = Field(default=1, ge=1)
    """Scripts that were run for this row; above 1 if the arm chose among several."""
    script_digest: str
    """Hash of the answer. Equal answers have equal digests."""


def digest_of(answer: str) -> str:
    """Return a hash of an answer, for counting different scripts."""
    return sha256(answer.encode()).hexdigest()[:16]


def draw_of(task_id: str) -> int:
    """Return the number of the row draw, which ends the id of a real table; 0 for other tasks."""
    number = task_id.rpartition(_DRAW_MARK)[2]
    return int(number) if _DRAW_MARK in task_id and number.isdecimal() else 0


def clipped_gap(rollout: Rollout) -> float:
    """Return the share of the gap, clipped to -1..1; 0 without a valid submission."""
    gap = rollout.grade.gap_closed if rollout.grade else None
    return 0.0 if gap is None or rollout.chosen is None else max(-1.0, min(1.0, gap))


def to_scored(rollout: Rollout, answer: str, **names: Any) -> Scored:
    """Return the row of a rollout.

    Args:
        rollout: of one script.
        answer: the text that was run.
        names: arm, seed, family, source, sample, temperature.
    """
    grade, is_valid = rollout.grade, rollout.chosen is not None
    return Scored(
        task_id=rollout.task_id,
        draw=draw_of(rollout.task_id),
        gap=clipped_gap(rollout),
        valid=is_valid,
        medal=grade.medal if grade and is_valid else None,
        position_score=grade.position_score if grade and is_valid else 0.0,
        seconds=sum(step.duration_s for step in rollout.steps),
        script_digest=digest_of(answer),
        **names,
    )


def write_results(path: Path, rows: Sequence[Scored]) -> None:
    """Write rows as Parquet. A reader sees the old file or the whole new one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    schema = pa.schema([(name, fields.get(_type_name(field), pa.string())) for name, field in _FIELDS.items()])
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist([row.model_dump(mode="json") for row in rows], schema=schema)
    pq.write_table(table, sink, compression="zstd", row_group_size=_ROWS_PER_GROUP)
    write_file(path, sink.getvalue().to_pybytes())


def read_results(path: Path) -> list[Scored]:
    """Read the rows that `write_results` wrote.

    Raises:
        InputError: the file does not exist or holds something else.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    expected = "a results.parquet of evaluate_policy or of the proof"
    try:
        return [Scored.model_validate(row) for row in pq.read_table(path).to_pylist()]
    except (OSError, pa.ArrowException, ValidationError) as error:
        raise InputError(str(path), [Problem("content", shorten(str(error)), expected)], "Nothing was read.") from error


_FIELDS = Scored.model_fields


def _type_name(field: Any) -> str:
    return getattr(field.annotation, "__name__", "str")
