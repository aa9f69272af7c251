"""Small sets of rollouts as views of a report, without a store."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sandmill.models.reports import Medal
from sandmill.models.rollout import RolloutFacts
from sandmill.report.overlay import ROLLOUT_VIEW
from sandmill.report.queries import View

BANDS = {"sm1": "hard", "sm2": "easy", "sm3": "hard", "sm4": "expert"}
LABELS = ("base", "step <100> & 'more'")


def fact(
    task_id: str, sample: int = 0, reward: float | None = 0.3, is_solved: bool = False, **facts: Any
) -> RolloutFacts:
    """Return a rollout."""
    given = {
        "release": "releases/micro@0001-ab12cd34",
        "mask": reward is None,
        "failure": "model_error" if reward is None else "",
        "is_valid": reward is not None,
        "medal": Medal.BRONZE if is_solved else None,
        "gap_closed": reward,
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "usd": None,
        "seconds": 1.0,
    }
    return RolloutFacts(task_id=task_id, sample=sample, reward=reward, **(given | facts))


SMALL = (
    (
        *(fact("sm1", n, (0.0, 0.25, 0.5, 0.75)[n], n > 1) for n in range(4)),
        *(fact("sm2", n, 1.0, True) for n in range(4)),
        *(fact("sm3", n, 0.0, failure="runtime_error", is_valid=False, gap_closed=None) for n in range(4)),
        fact("sm3", 4, None),
        fact("sm4", 0, 0.1),
    ),
    (
        *(fact("sm1", n, 0.8, True) for n in range(2)),
        *(fact("sm2", n, 0.9, True) for n in range(2)),
        *(fact("sm3", n, 0.1 * n) for n in range(2)),
    ),
)
"""Two sets: a task solved sometimes, one always, one never and without variance, one that only the first set played."""


def views_of(sets: Sequence[Sequence[RolloutFacts]], labels: Sequence[str] = LABELS) -> dict[str, View]:
    """Return the views that figures on rollouts read."""
    rows = [
        {
            "number": number,
            "label": labels[number - 1],
            "credits": one.credits_json,
            "task_id": one.task_id,
            "sample": one.sample,
            "mask": one.mask,
            "failure": one.failure,
            "reward": one.reward,
            "valid": one.is_valid,
            "medal": one.medal.value if one.medal else None,
            "gap_closed": one.gap_closed,
        }
        for number, facts in enumerate(sets, 1)
        for one in facts
    ]
    texts = ("label", "task_id", "failure", "medal", "credits")
    schema = pa.schema(
        [
            ("number", pa.int64()),
            ("sample", pa.int64()),
            ("mask", pa.bool_()),
            ("valid", pa.bool_()),
            *((name, pa.float64()) for name in ("reward", "gap_closed")),
            *((name, pa.string()) for name in texts),
        ]
    )
    private = [{"task_id": one, "band": band, "structure": "tabular/binary/random"} for one, band in BANDS.items()]
    public = [{"task_id": one, "modality": "tabular", "target": "binary"} for one in BANDS]
    return {
        "public_tasks": View(pa.Table.from_pylist(public), "read_parquet('public/tasks-*.parquet')"),
        "private_tasks": View(pa.Table.from_pylist(private), "read_parquet('private/tasks-*.parquet')"),
        ROLLOUT_VIEW: View(
            pa.Table.from_pylist(rows, schema=schema), "(SELECT * FROM read_parquet('rollouts.parquet'))"
        ),
    }
