"""The Parquet table of rollouts: a row a rollout, flat columns for analysis, and all steps as a nested column."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from sandmill.models.llm import Message
from sandmill.models.reports import Medal
from sandmill.models.rollout import Operator, Rollout, RolloutFacts, RolloutRecord

_TEXTS = pa.list_(pa.string())

FEEDBACK = pa.struct(
    [
        ("status", pa.string()),
        ("outcome", pa.string()),
        ("score", pa.float64()),
        ("position", pa.int64()),
        ("entries", pa.int64()),
        ("medal", pa.string()),
        ("step", pa.float64()),
        ("problems", _TEXTS),
        ("submissions_left", pa.int64()),
    ]
)
"""A `FeedbackAnswer`."""

STEP = pa.struct(
    [
        ("number", pa.int64()),
        ("action", pa.string()),
        ("code", pa.string()),
        ("outcome", pa.string()),
        ("duration_s", pa.float64()),
        ("stdout", pa.string()),
        ("stderr", pa.string()),
        ("detail", pa.string()),
        ("checks", _TEXTS),
        ("markers", _TEXTS),
        ("feedback", FEEDBACK),
        ("problems", _TEXTS),
        ("mask", pa.bool_()),
    ]
)
"""A `Step`."""

ROLLOUTS = pa.schema(
    [
        ("task_id", pa.string()),
        ("release", pa.string()),
        ("sample", pa.int64()),
        ("model", pa.string()),
        ("operator", pa.string()),
        ("ending", pa.string()),
        ("mask", pa.bool_()),
        ("failure", pa.string()),
        ("error", pa.string()),
        ("reward", pa.float64()),
        ("reward_preset", pa.string()),
        ("reward_parts", pa.list_(pa.struct([("part", pa.string()), ("value", pa.float64())]))),
        ("valid", pa.bool_()),
        ("score", pa.float64()),
        ("gap_closed", pa.float64()),
        ("gap_to_gold", pa.float64()),
        ("medal", pa.string()),
        ("position", pa.int64()),
        ("format_rate", pa.float64()),
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("usd", pa.float64()),
        ("seconds", pa.float64()),
        ("model_seconds", pa.float64()),
        ("run_seconds", pa.float64()),
        ("submissions", pa.int64()),
        ("steps", pa.list_(STEP)),
        ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
        ("rest", pa.string()),
    ]
)
"""One row for each rollout. `rest` is JSON: the fields of `Rollout` without `steps`."""

FACTS = (
    *("task_id", "release", "sample", "mask", "failure", "reward", "valid", "medal", "gap_closed"),
    *("prompt_tokens", "completion_tokens", "usd", "seconds"),
)
"""Columns of `RolloutFacts`."""


def to_row(record: RolloutRecord) -> dict[str, Any]:
    """Return the row of a record."""
    rollout, grade, reward = record.rollout, record.rollout.grade, record.rollout.reward
    data = rollout.model_dump(mode="json")
    steps = data.pop("steps")
    return {
        **facts_row(record.facts),
        "model": rollout.model,
        "operator": record.operator.value,
        "ending": rollout.ending.value,
        "error": record.error,
        "reward_preset": reward.preset if reward else None,
        "reward_parts": [{"part": part, "value": value} for part, value in reward.parts.items()] if reward else None,
        "score": grade.score if grade else None,
        "gap_to_gold": grade.gap_to_gold if grade else None,
        "position": grade.position if grade else None,
        "format_rate": rollout.format_rate,
        "model_seconds": rollout.usage.seconds,
        "run_seconds": sum(step.duration_s for step in rollout.steps),
        "submissions": sum(step.feedback is not None for step in rollout.steps),
        "steps": steps,
        "messages": [message.model_dump() for message in record.messages],
        "rest": json.dumps(data, ensure_ascii=False, sort_keys=True),
    }


def facts_row(facts: RolloutFacts) -> dict[str, Any]:
    """Return the columns of `FACTS`."""
    row = {name: getattr(facts, "is_valid" if name == "valid" else name) for name in FACTS}
    return row | {"medal": facts.medal.value if facts.medal else None}


def from_row(row: Mapping[str, Any]) -> RolloutRecord:
    """Rebuild a record from its row. It equals the stored one."""
    rollout = Rollout.model_validate({**json.loads(row["rest"]), "steps": row["steps"]})
    return RolloutRecord(
        rollout=rollout,
        messages=tuple(Message.model_validate(message) for message in row["messages"]),
        operator=Operator(row["operator"]),
        error=row["error"],
    )


def facts_of(row: Mapping[str, Any]) -> RolloutFacts:
    """Return the facts of a row with the columns of `FACTS`."""
    values = {name: row[name] for name in FACTS if name != "valid"}
    medal = Medal(row["medal"]) if row["medal"] else None
    return RolloutFacts(**(values | {"is_valid": row["valid"], "medal": medal}))


def write_table(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Write rows as Parquet, in row groups of 100 rollouts."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(list(rows), schema=ROLLOUTS)
    pq.write_table(table, sink, compression="zstd", row_group_size=100)
    return bytes(sink.getvalue())
