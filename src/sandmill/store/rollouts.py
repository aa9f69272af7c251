"""A folder of rollouts, local or on S3. Each finished rollout is durable at once, and ends up in a Parquet file.

    DIR/rollouts.json                    what all rollouts have in common
    DIR/episodes/<task>/<sample>.json    finished rollouts that are in no Parquet file yet
    DIR/rollouts-00000.parquet           all others
    DIR/spent/<run>.json                 dollars that each run of the command paid

A rollout is in a Parquet file before its JSON file is removed. If a kill leaves it in both, the JSON file counts.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from sandmill.errors import InputError, Problem, StoreError, shorten
from sandmill.models.llm import Message
from sandmill.models.reports import Medal
from sandmill.models.rollout import FactCredit, Operator, Rollout, RolloutFacts, RolloutRecord, RolloutSettings
from sandmill.store.files import FileMissing, Store
from sandmill.store.parquet import in_groups, write_rows
from sandmill.store.release import StoredRelease


def _of(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


_TEXT, _WHOLE, _NUMBER, _FLAG = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_TEXTS = pa.list_(_TEXT)

FEEDBACK = pa.struct(
    [
        *(*_of(_TEXT, "status outcome"), *_of(_NUMBER, "score"), *_of(_WHOLE, "position entries")),
        *(*_of(_TEXT, "medal"), *_of(_NUMBER, "step"), *_of(_TEXTS, "problems"), *_of(_WHOLE, "submissions_left")),
    ]
)
"""A `FeedbackAnswer`."""

STEP = pa.struct(
    [
        *(*_of(_WHOLE, "number"), *_of(_TEXT, "action code outcome"), *_of(_NUMBER, "duration_s")),
        *(*_of(_TEXT, "stdout stderr detail"), *_of(_TEXTS, "checks markers")),
        *(*_of(FEEDBACK, "feedback"), *_of(_TEXTS, "problems"), *_of(_FLAG, "mask")),
    ]
)
"""A `Step`."""

ROLLOUTS = pa.schema(
    [
        *(*_of(_TEXT, "task_id release"), *_of(_WHOLE, "sample"), *_of(_TEXT, "model operator ending")),
        *(*_of(_FLAG, "mask"), *_of(_TEXT, "failure error"), *_of(_NUMBER, "reward"), *_of(_TEXT, "reward_preset")),
        ("reward_parts", pa.list_(pa.struct([("part", _TEXT), ("value", _NUMBER)]))),
        *(*_of(_FLAG, "valid"), *_of(_NUMBER, "score gap_closed gap_to_gold"), *_of(_TEXT, "medal")),
        *(*_of(_WHOLE, "position"), *_of(_NUMBER, "format_rate"), *_of(_WHOLE, "prompt_tokens completion_tokens")),
        *(*_of(_NUMBER, "usd seconds model_seconds run_seconds"), *_of(_WHOLE, "submissions")),
        ("steps", pa.list_(STEP)),
        ("messages", pa.list_(pa.struct(_of(_TEXT, "role content")))),
        ("rest", _TEXT),
    ]
)
"""One row for each rollout. `rest` is JSON: the fields of `Rollout` without `steps`."""

FACTS = (
    *("task_id", "release", "sample", "mask", "failure", "reward", "valid", "medal", "gap_closed"),
    *("prompt_tokens", "completion_tokens", "usd", "seconds"),
)
"""Columns of `RolloutFacts`, but for the credits for stated facts, which are in `rest`."""


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
    """Return the facts of a row with the columns of `FACTS` and `rest`."""
    values = {name: row[name] for name in FACTS if name != "valid"}
    medal = Medal(row["medal"]) if row["medal"] else None
    credits = tuple(FactCredit.model_validate(one) for one in json.loads(row["rest"]).get("facts", ()))
    return RolloutFacts(**(values | {"is_valid": row["valid"], "medal": medal, "credits": credits}))


FORMAT_VERSION = 1
SETTINGS = "rollouts.json"
_EPISODES, _SPENT = "episodes", "spent"
_PER_FILE, _PER_GROUP = 1000, 100  # rollouts in one Parquet file, and in one of its row groups
_TABLE = re.compile(r"rollouts-(\d{5})\.parquet")
_EPISODE = re.compile(rf"{_EPISODES}/([^/]+)/(\d+)\.json")

Key = tuple[str, int]
"""Task and sample."""


@dataclass(frozen=True)
class RolloutFolder:
    """Rollouts of one model on one release. One process at a time may write."""

    store: Store

    @cached_property
    def settings(self) -> RolloutSettings | None:
        """What all rollouts have in common; None for a new folder.

        Raises:
            StoreError: if the file is damaged, or a newer version wrote it.
        """
        where = self.store.where(SETTINGS)
        try:
            content = json.loads(self.store.read(SETTINGS))
            if not isinstance(content, dict) or content.get("format") != FORMAT_VERSION:
                raise StoreError(f"{where}: not format {FORMAT_VERSION}, which this version reads")
            return RolloutSettings.model_validate(content.get("settings"))
        except FileMissing:
            return None
        except ValidationError as error:
            first = error.errors()[0]
            raise StoreError(f"{where}: {first['loc']}: {first['msg']}") from error
        except ValueError as error:
            raise StoreError(f"{where}: not JSON: {error}") from error

    def require(self) -> RolloutSettings:
        """Return the settings of a folder that must hold rollouts. Raises InputError if it holds none."""
        if self.settings is None:
            hint = "Make them with: sandmill rollout RELEASE --model NAME --to DIR"
            problem = Problem("ROLLOUTS", f"no {SETTINGS} in it", "a folder that sandmill rollout wrote", hint)
            raise InputError(self.store.root, [problem])
        return self.settings

    def check(self, settings: RolloutSettings) -> None:
        """Refuse a folder that other settings made, or that holds something else. Nothing is written.

        Raises:
            InputError: lists every setting that differs.
        """
        if self.settings is None:
            if self.store.list():
                problem = Problem("--to", f"files, and no {SETTINGS}", "a new or empty folder", "Use another --to.")
                raise InputError(self.store.root, [problem])
            return
        hint = "Use the same settings, or another --to."
        ours, theirs = _flatten(settings), _flatten(self.settings)
        problems = [
            Problem(name, shorten(str(value)), f"{shorten(str(theirs[name]))}, as before", hint)
            for name, value in ours.items()
            if value != theirs[name]
        ]
        if problems:
            raise InputError(f"{self.store.root} holds rollouts of other settings", problems)

    def begin(self, settings: RolloutSettings) -> None:
        """Write the settings of a new folder."""
        content = {"format": FORMAT_VERSION, "settings": settings.model_dump(mode="json")}
        self.store.create(SETTINGS, json.dumps(content, indent=2).encode())

    def save(self, record: RolloutRecord) -> None:
        """Store a finished rollout. It replaces a masked one of the same task and sample."""
        rollout = record.rollout
        content = json.dumps(record.model_dump(mode="json"), ensure_ascii=False).encode()
        self.store.write(f"{_EPISODES}/{rollout.task_id}/{rollout.sample}.json", content, owner_only=True)

    def spent(self) -> float:
        """Return the dollars that all runs of the command paid."""
        return float(sum(json.loads(self.store.read(path))["usd"] for path in self.store.list(_SPENT)))

    def note_spent(self, run: str, usd: float) -> None:
        """Store what one run of the command has paid so far."""
        if usd:
            self.store.write(f"{_SPENT}/{run}.json", json.dumps({"usd": usd}).encode())

    def finished(self) -> dict[Key, bool]:
        """Return the stored rollouts, and whether each is masked."""
        return {(facts.task_id, facts.sample): facts.mask for facts in self.facts()}

    def facts(self) -> Iterator[RolloutFacts]:
        """Yield the facts of all rollouts. Only their columns are read."""
        pieces = self._pieces()
        yield from map(facts_of, self._compacted([*FACTS, "rest"], pieces))
        yield from (self._read(path).facts for path in pieces.values())

    def records(self, task_id: str | None = None) -> Iterator[RolloutRecord]:
        """Yield the rollouts of the folder, or those of one task. Each file has them sorted by task and sample."""
        pieces = {key: path for key, path in self._pieces().items() if task_id in (None, key[0])}
        rows = (row for row in self._compacted(None, pieces) if task_id in (None, row["task_id"]))
        yield from map(from_row, rows)
        yield from map(self._read, pieces.values())

    def _compacted(self, columns: Sequence[str] | None, pieces: Mapping[Key, str]) -> Iterator[dict[str, Any]]:
        """Yield the rows of Parquet files, but for rollouts that are in JSON files."""
        for name in self._tables():
            yield from (row for row in self._rows(name, columns) if (row["task_id"], row["sample"]) not in pieces)

    def compact(self) -> None:
        """Move all rollouts into Parquet files. A kill at any moment loses none."""
        pieces, numbers = self._pieces(), [-1]
        if not pieces:
            return
        for name in self._tables():
            numbers.append(int(name[len("rollouts-") :][:5]))
            keys = [(row["task_id"], row["sample"]) for row in self._rows(name, ["task_id", "sample"])]
            if not pieces.keys().isdisjoint(keys):
                kept = [row for row in self._rows(name, None) if (row["task_id"], row["sample"]) not in pieces]
                if kept:
                    self._write_rows(name, kept)
                else:
                    self.store.remove(name)
        keys = sorted(pieces)
        for number, start in enumerate(range(0, len(keys), _PER_FILE), start=max(numbers) + 1):
            rows = [to_row(self._read(pieces[key])) for key in keys[start : start + _PER_FILE]]
            self._write_rows(f"rollouts-{number:05}.parquet", rows)
        for path in pieces.values():
            self.store.remove(path)

    def _pieces(self) -> dict[Key, str]:
        matches = map(_EPISODE.fullmatch, self.store.list(_EPISODES))
        return {(match[1], int(match[2])): match[0] for match in matches if match}

    def _tables(self) -> list[str]:
        return [name for name in self.store.list() if _TABLE.fullmatch(name)]

    def _rows(self, name: str, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq

        with self.store.open(name) as file:
            try:
                for batch in pq.ParquetFile(file).iter_batches(batch_size=100, columns=columns and list(columns)):
                    yield from batch.to_pylist()
            except (pa.ArrowException, OSError) as error:
                raise StoreError(f"{self.store.where(name)}: cannot be read: {error}") from error

    def _write_rows(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        self.store.write(name, write_rows(ROLLOUTS, in_groups(rows, _PER_GROUP)), owner_only=True)

    def _read(self, path: str) -> RolloutRecord:
        try:
            return RolloutRecord.model_validate(json.loads(self.store.read(path)))
        except ValueError as error:
            saw = shorten(" ".join(str(error).split()))
            where = self.store.where(path)
            raise StoreError(f"{where}: not a rollout: {saw}. Delete the file to repeat it.") from error


def check_release(release: StoredRelease, folders: Sequence[RolloutFolder]) -> None:
    """Refuse rollouts of another release, and folders whose rewards do not compare.

    Raises:
        InputError: lists every folder that holds no rollouts of this version, or has another reward than the first one.
    """
    problems, paid = [], folders[0].require().reward if folders else ""
    for folder in folders:
        if (reward := folder.require().reward) != paid:
            expected = f"{paid}, as in {folders[0].store.root}"
            problems.append(Problem(folder.store.root, f"reward {reward}", expected, "Leave one of them out."))
        made = folder.require().release
        if made != release.version:
            hint = f"If it is of the same dataset, name the version: {release.store.root}@{made}"
            problems.append(Problem(folder.store.root, f"rollouts of {made}", f"rollouts of {release.version}", hint))
    if problems:
        raise InputError(release.ref, problems)


def _flatten(settings: RolloutSettings) -> dict[str, Any]:
    """Return the settings by the words of their options."""
    data = settings.model_dump(mode="json")
    limits = data.pop("limits")
    return {name.replace("_", " "): value for name, value in (data | limits).items()}
