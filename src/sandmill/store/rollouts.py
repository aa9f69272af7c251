"""A folder of rollouts, local or on S3. Each finished rollout is durable at once, and ends up in a Parquet file.

    DIR/rollouts.json                    what all rollouts have in common
    DIR/episodes/<task>/<sample>.json    finished rollouts that are in no Parquet file yet
    DIR/rollouts-00000.parquet           all others
    DIR/spent/<run>.json                 dollars that each run of the command paid

A rollout is in a Parquet file before its JSON file is removed. If a kill leaves it in both, the JSON file counts.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from sandmill.errors import InputError, Problem, StoreError, shorten
from sandmill.models.rollout import RolloutFacts, RolloutRecord, RolloutSettings
from sandmill.store.files import FileMissing, Store
from sandmill.store.release import StoredRelease
from sandmill.store.rollout_table import FACTS, facts_of, from_row, to_row, write_table

FORMAT_VERSION = 1
SETTINGS = "rollouts.json"
_EPISODES, _SPENT = "episodes", "spent"
_PER_FILE = 1000
"""Rollouts in one Parquet file."""
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
        try:
            content = json.loads(self.store.read(SETTINGS))
        except FileMissing:
            return None
        except ValueError as error:
            raise StoreError(f"{self.store.where(SETTINGS)}: not JSON: {error}") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT_VERSION:
            raise StoreError(f"{self.store.where(SETTINGS)}: not format {FORMAT_VERSION}, which this version reads")
        try:
            return RolloutSettings.model_validate(content.get("settings"))
        except ValidationError as error:
            first = error.errors()[0]
            raise StoreError(f"{self.store.where(SETTINGS)}: {first['loc']}: {first['msg']}") from error

    def require(self) -> RolloutSettings:
        """Return the settings of a folder that must hold rollouts.

        Raises:
            InputError: if it holds none.
        """
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
        hint = "Use the same settings, or another --to."
        if self.settings is None:
            if self.store.list():
                problem = Problem("--to", f"files, and no {SETTINGS}", "a new or empty folder", "Use another --to.")
                raise InputError(self.store.root, [problem])
            return
        ours, theirs = _flatten(settings), _flatten(self.settings)
        problems = [
            Problem(name, shorten(str(ours[name])), f"{shorten(str(theirs[name]))}, as before", hint)
            for name in ours
            if ours[name] != theirs[name]
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

    @property
    def loose(self) -> int:
        """Number of rollouts in JSON files, which a Parquet reader does not see."""
        return len(self._pieces())

    def facts(self) -> Iterator[RolloutFacts]:
        """Yield the facts of all rollouts. Only their columns are read."""
        pieces = self._pieces()
        for name in self._tables():
            for row in self._rows(name, list(FACTS)):
                if (row["task_id"], row["sample"]) not in pieces:
                    yield facts_of(row)
        for path in pieces.values():
            yield self._read(path).facts

    def records(self) -> Iterator[RolloutRecord]:
        """Yield all rollouts, in the order of task and sample within each file."""
        pieces = self._pieces()
        for name in self._tables():
            for row in self._rows(name, None):
                if (row["task_id"], row["sample"]) not in pieces:
                    yield from_row(row)
        yield from map(self._read, pieces.values())

    def compact(self) -> None:
        """Move all rollouts into Parquet files. A kill at any moment loses none."""
        pieces, numbers = self._pieces(), [-1]
        if not pieces:
            return
        for name in self._tables():
            numbers.append(int(name[len("rollouts-") :][:5]))
            keys = [(row["task_id"], row["sample"]) for row in self._rows(name, ["task_id", "sample"])]
            if not pieces.keys().isdisjoint(keys):
                self._drop(name, pieces)
        keys = sorted(pieces)
        for number, start in enumerate(range(0, len(keys), _PER_FILE), start=max(numbers) + 1):
            rows = [to_row(self._read(pieces[key])) for key in keys[start : start + _PER_FILE]]
            self.store.write(f"rollouts-{number:05}.parquet", write_table(rows), owner_only=True)
        for path in pieces.values():
            self.store.remove(path)

    def _drop(self, name: str, pieces: dict[Key, str]) -> None:
        """Rewrite a Parquet file without the rollouts that are in JSON files."""
        kept = [row for row in self._rows(name, None) if (row["task_id"], row["sample"]) not in pieces]
        if kept:
            self.store.write(name, write_table(kept), owner_only=True)
        else:
            self.store.remove(name)

    def _pieces(self) -> dict[Key, str]:
        matches = map(_EPISODE.fullmatch, self.store.list(_EPISODES))
        return {(match[1], int(match[2])): match[0] for match in matches if match}

    def _tables(self) -> list[str]:
        return [name for name in self.store.list() if _TABLE.fullmatch(name)]

    def _rows(self, name: str, columns: list[str] | None) -> Iterator[dict[str, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with self.store.open(name) as file:
            try:
                for batch in pq.ParquetFile(file).iter_batches(batch_size=100, columns=columns):
                    yield from batch.to_pylist()
            except (pa.ArrowException, OSError) as error:
                raise StoreError(f"{self.store.where(name)}: cannot be read: {error}") from error

    def _read(self, path: str) -> RolloutRecord:
        try:
            return RolloutRecord.model_validate(json.loads(self.store.read(path)))
        except ValueError as error:
            saw = shorten(" ".join(str(error).split()))
            where = self.store.where(path)
            raise StoreError(f"{where}: not a rollout: {saw}. Delete the file to repeat it.") from error


def check_release(release: StoredRelease, folders: Sequence[RolloutFolder]) -> None:
    """Refuse rollouts of another release.

    Raises:
        InputError: lists every folder that holds no rollouts of this version.
    """
    problems = []
    for folder in folders:
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


_EXTRA = ("model", "reward_preset")
_PARQUET = ".parquet"


@dataclass(frozen=True)
class RolloutSet:
    """Rollouts of one model."""

    model: str
    presets: frozenset[str]
    """Reward presets of the rollouts. Rewards of different presets do not compare."""
    facts: tuple[RolloutFacts, ...]
    files: str
    """Path or pattern of the Parquet files that hold them."""
    loose: int = 0
    """Rollouts that are in no Parquet file yet."""


def read_rollout_sets(place: str) -> list[RolloutSet]:
    """Return the rollouts of a place by model: one set for a folder of `sandmill rollout`, one a model for a file.

    Args:
        place: folder or S3 prefix, or a Parquet file with the columns of such a folder.

    Raises:
        InputError: no rollouts are there, or the file lacks columns.
        StoreError: a file is damaged.
    """
    if place.endswith(_PARQUET):
        return _read_file(place)
    folder = RolloutFolder(Store(place))
    settings = folder.require()
    files = folder.store.where("rollouts-*.parquet")
    return [RolloutSet(settings.model, frozenset([settings.reward]), tuple(folder.facts()), files, folder.loose)]


def _read_file(place: str) -> list[RolloutSet]:
    facts: defaultdict[str, list[RolloutFacts]] = defaultdict(list)
    presets: defaultdict[str, set[str]] = defaultdict(set)
    for row in _rows(place):
        facts[row["model"]].append(facts_of(row))
        if row["reward_preset"]:
            presets[row["model"]].add(row["reward_preset"])
    if not facts:
        raise InputError(place, [Problem("rows", "none", "a row for each rollout")])
    return [RolloutSet(model, frozenset(presets[model]), tuple(facts[model]), place) for model in sorted(facts)]


def _rows(place: str) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parent, _, name = place.rpartition("/")
    with Store(parent or ".").open(name) as file:
        try:
            table = pq.ParquetFile(file)
            if missing := [column for column in (*FACTS, *_EXTRA) if column not in table.schema_arrow.names]:
                expected = "the columns of a file that sandmill rollout wrote"
                raise InputError(place, [Problem("columns", f"no {', '.join(missing)}", expected)])
            for batch in table.iter_batches(batch_size=1000, columns=[*FACTS, *_EXTRA]):
                yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise StoreError(f"{place}: cannot be read: {shorten(str(error), 200)}") from error
