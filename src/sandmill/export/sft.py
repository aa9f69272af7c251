"""Chat rows for supervised fine-tuning: short scripts that use what a task states, and improvements of drafts.

Only the split `train` is read. Rows hold texts of public files, scripts that are derived from them, and scores on the
feedback part: no answers, no thresholds, no score on the final part.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import pyarrow as pa

from sandmill.errors import Problem, RequestError, require_extra
from sandmill.export.base import ExportTask, readme
from sandmill.export.rows import MESSAGES, ROWS_PER_GROUP
from sandmill.models.calibration import RUNG_FILES, Rung, ScriptScore
from sandmill.models.release import Manifest
from sandmill.models.reports import Outcome
from sandmill.models.rollout import FeedbackAnswer, FeedbackStatus
from sandmill.play.feedback import rounding_of
from sandmill.play.observation import fence
from sandmill.play.prompt import HOW_TO_ANSWER, build_prompt
from sandmill.store.arrow_tables import Row
from sandmill.store.parquet import in_groups, write_rows

if TYPE_CHECKING:
    from sandmill.calibrate.readers import Stated

SYSTEM = "You are a machine-learning engineer. Read what the task states, and answer with one complete Python script."
_BLIND_STYLES = 3
"""Styles of each task whose script uses no stated fact. They differ between tasks."""
_DRAFTS = (Rung.NAIVE, Rung.COMPETENT)
_NEXT = "Write a better script. Use what the texts of the task state."
_LONG = 40
"""Lines from which a script counts as long."""


def count_rows(rows: Iterable[Row]) -> list[str]:
    """Return a table of the numbers of rows by turns, style, use of facts and length."""
    counts: Counter[tuple[int, str, str, str]] = Counter()
    for row in rows:
        share = "none" if not row["facts_used"] else "all" if row["facts_used"] == row["facts_stated"] else "some"
        counts[row["turns"], row["style"], share, "long" if row["lines"] >= _LONG else "short"] += 1
    head = ["| turns | style | facts used | script | rows |", "|---|---|---|---|---:|"]
    return head + [f"| {' | '.join(map(str, (*group, number)))} |" for group, number in sorted(counts.items())]


def export(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield the chats of all tables of the split `train` as Parquet and as JSON lines, and README.md with counts.

    Raises:
        RequestError: no selected task is a table of that split. Loaders refuse an empty file.
    """
    rows = [row for task in tasks if task.record.split == "train" for row in _chats(task)]
    if not rows:
        problem = Problem("tasks", "none of them", "tables of the split train", "Select others, or build more tasks.")
        raise RequestError("export sft", [problem], "Nothing was written.")
    text, whole = pa.string(), pa.int64()
    numbers = [(name, whole) for name in ("facts_used", "facts_stated", "lines")]
    fields = [("task_id", text), ("turns", whole), ("style", text), *numbers]
    schema = pa.schema([("messages", MESSAGES), *fields])
    yield "data/train.parquet", write_rows(schema, in_groups(rows, ROWS_PER_GROUP))
    yield "data/train.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    tasks_told = len({row["task_id"] for row in rows})
    yield readme("sft.md", manifest, rows=len(rows), tasks=tasks_told, counts="\n".join(count_rows(rows)))


def _chats(task: ExportTask) -> Iterator[Row]:
    """Yield the chats of one task: every style with all facts, some without any, one with a part, and two drafts.

    The published reader's script stands for its style; releases that have none get one of the same style.
    """
    with require_extra("rerun", "export sft"):
        import pandas as pd

    from sandmill.calibrate.readers import stated_facts
    from sandmill.calibrate.scripts.demonstrations import READER_STYLE, STYLES, demonstration

    spec, facts = task.record.spec, task.record.facts
    if facts.kind != "table" or "train.csv" not in task.public:
        return
    train = pd.read_csv(BytesIO(task.public["train.csv"]))
    stated: Stated = stated_facts(spec, task.public)
    number = len(stated.facts)
    turn = sum(task.task_id.encode())  # differs between tasks
    blind = [STYLES[(turn + place) % len(STYLES)] for place in range(_BLIND_STYLES)]
    wanted: list[tuple[str, Sequence[int]]] = [(style, range(number)) for style in STYLES] if number else []
    wanted += [(style, ()) for style in blind]
    if number > 1:
        wanted.append((blind[0], (turn % number,)))
    start = (("system", SYSTEM), ("user", f"{build_prompt(task.description)}\n{HOW_TO_ANSWER}"))

    def script(style: str, used: Sequence[int]) -> str:
        published = task.private.get(RUNG_FILES[Rung.READER])
        if published and style == READER_STYLE and len(used) == number:
            return _answer(published.decode())
        return _answer(demonstration(facts, train, stated, style, use=used))

    for style, used in wanted:
        yield _row(task.task_id, style, len(used), number, (*start, ("assistant", script(style, used))))
    for score in task.record.calibration.scripts:
        draft = task.private.get(RUNG_FILES[score.rung], b"").decode() if score.rung in _DRAFTS else ""
        if draft and number:
            output = f"{_feedback(task, score)}\n\n{_NEXT}"
            turns = (*start, ("assistant", _answer(draft)), ("user", output))
            better = ("assistant", script(READER_STYLE, range(number)))
            yield _row(task.task_id, READER_STYLE, number, number, (*turns, better))


def _row(task_id: str, style: str, used: int, stated: int, messages: Sequence[tuple[str, str]]) -> Row:
    return {
        "messages": [{"role": role, "content": content} for role, content in messages],
        "task_id": task_id,
        "turns": sum(role == "assistant" for role, _ in messages),
        "style": style,
        "facts_used": used,
        "facts_stated": stated,
        "lines": messages[-1][1].count("\n") - 1,
    }


def _answer(script: str) -> str:
    return fence(script.rstrip("\n"), "python")


def _feedback(task: ExportTask, score: ScriptScore) -> str:
    """Say what an agent is told of the draft: its rounded score on the feedback part."""
    rounding = rounding_of(task.record.calibration, task.record.facts.metric)
    rounded = rounding.round(score.feedback)
    status = FeedbackStatus.BELOW_BASELINE if rounded is None else FeedbackStatus.SCORED
    answer = FeedbackAnswer(status=status, outcome=Outcome.OK, score=rounded, step=rounding.step, submissions_left=1)
    return answer.message
