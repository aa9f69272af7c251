"""Lay rollouts over a release: read the sets, check that they are of this version, and compute their section."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sandmill.errors import InputError, Problem, count, name_some, shorten
from sandmill.models.rollout_record import RolloutFacts
from sandmill.report.html.overlay import overlay_section
from sandmill.report.html.page import Edition, Section
from sandmill.report.overlay_figures import ROLLOUT_VIEW, overlay_facts
from sandmill.report.queries import View, open_queries
from sandmill.store.arrow_tables import PRIVATE_TASKS, PUBLIC_TASKS
from sandmill.store.release import StoredRelease
from sandmill.store.rollouts import RolloutSet, read_rollout_sets

_LABELLED = re.compile(r"([^/=]+)=(.+)")
_COLUMNS = {
    "task_id": pa.string(),
    "sample": pa.int64(),
    "mask": pa.bool_(),
    "failure": pa.string(),
    "reward": pa.float64(),
    "valid": pa.bool_(),
    "medal": pa.string(),
    "gap_closed": pa.float64(),
}
"""Columns of the view, as in the stored Parquet file."""


_PUBLIC_COLUMNS = ("task_id", "split", "modality", "target", "metric")
_PRIVATE_COLUMNS = ("task_id", "split", "structure", "metric", "band", "difficulty")


@dataclass(frozen=True)
class LabelledSet:
    """Rollouts under one name."""

    label: str
    found: RolloutSet


def rollouts_section(release: StoredRelease, edition: Edition, places: Sequence[str]) -> Section:
    """Return the section on rollouts.

    Args:
        release: that was played.
        edition: the public one shows no figure of a single task.
        places: folders or Parquet files, each with `LABEL=` before it if the set needs a name of its own. Sets of one
            label count as one. The first is the one that the others are compared with.

    Raises:
        InputError: a place holds no rollouts, or those of another release; a file is named twice.
    """
    sets = _read_sets(places)
    _check(release, sets)
    labels = list(dict.fromkeys(one.label for one in sets))
    views = _task_views(release, edition) | {ROLLOUT_VIEW: _view(sets, labels)}
    presets = frozenset[str]().union(*(one.found.presets for one in sets))
    with open_queries(views) as queries:
        played = {fact.task_id for one in sets for fact in one.found.facts}
        clusters = _designs(release, played) if edition == "private" or release.has_private else {}
        facts = overlay_facts(queries, edition, labels, clusters, len(presets) <= 1, _notes(sets, presets))
    return overlay_section(facts)


def _read_sets(places: Sequence[str]) -> list[LabelledSet]:
    sets: list[LabelledSet] = []
    read = set()
    for place in places:
        match = _LABELLED.fullmatch(place)
        label, path = (match[1], match[2]) if match else ("", place)
        if path.rstrip("/") in read:
            problem = Problem("--rollouts", f"{path} twice", "each place once", "Its rollouts would count twice.")
            raise InputError("sandmill report", [problem])
        read.add(path.rstrip("/"))
        sets += [LabelledSet(label or shorten(found.model, 60), found) for found in read_rollout_sets(path)]
    return sets


def _check(release: StoredRelease, sets: Sequence[LabelledSet]) -> None:
    """Refuse rollouts of another version, and tasks that this one does not have.

    Raises:
        InputError: lists every place that does not fit.
    """
    known, problems = set(release.task_ids), []
    for one in sets:
        versions = {fact.release.rpartition("@")[2] for fact in one.found.facts} - {release.version}
        if versions:
            saw, expected = f"rollouts of {name_some(sorted(versions))}", f"rollouts of {release.version}"
            problems.append(
                Problem(one.found.files, saw, expected, "Name the version that was played: DATASET@VERSION.")
            )
        elif unknown := {fact.task_id for fact in one.found.facts} - known:
            problems.append(Problem(one.found.files, f"tasks {name_some(sorted(unknown))}", "tasks of this release"))
    if problems:
        raise InputError(release.ref, problems)


def _view(sets: Sequence[LabelledSet], labels: Sequence[str]) -> View:
    rows = [
        {"number": labels.index(one.label) + 1, "label": one.label, **_row(fact)}
        for one in sets
        for fact in one.found.facts
    ]
    schema = pa.schema([("number", pa.int64()), ("label", pa.string()), *_COLUMNS.items()])
    selects = [
        f"SELECT {labels.index(one.label) + 1} AS number, {_literal(one.label)} AS label, {', '.join(_COLUMNS)} "
        f"FROM read_parquet({_literal(one.found.files)}) WHERE model = {_literal(one.found.model)}"
        for one in sets
    ]
    return View(pa.Table.from_pylist(rows, schema=schema), f"({' UNION ALL '.join(selects)})")


def _row(fact: RolloutFacts) -> dict[str, Any]:
    return {
        "task_id": fact.task_id,
        "sample": fact.sample,
        "mask": fact.mask,
        "failure": fact.failure,
        "reward": fact.reward,
        "valid": fact.is_valid,
        "medal": fact.medal.value if fact.medal else None,
        "gap_closed": fact.gap_closed,
    }


def _literal(text: str) -> str:
    """Write an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def _designs(release: StoredRelease, task_ids: set[str]) -> dict[str, str]:
    """Return the design of each task that has replicates; other tasks are designs of their own."""
    rows = release.read_columns("private/tasks", ["task_id", "replicate"])
    if not any(row["replicate"] for row in rows):
        return {}
    records = release.read_columns("private/tasks", ["task_id", "record"])
    return {
        row["task_id"]: str(json.loads(row["record"])["lineage"]["spec_fingerprint"])
        for row in records
        if row["task_id"] in task_ids
    }


def _notes(sets: Sequence[LabelledSet], presets: frozenset[str]) -> list[str]:
    notes = []
    if len(presets) > 1:
        notes.append(f"Rewards do not compare: the sets have the presets {', '.join(sorted(presets))}.")
    notes += [
        f"{one.label}: {count(one.found.loose, 'rollout')} in no Parquet file yet, so the SQL does not read them. Run "
        "the same sandmill rollout command again to its end."
        for one in sets
        if one.found.loose
    ]
    return notes


def _task_views(release: StoredRelease, edition: Edition) -> dict[str, View]:
    """Return `public_tasks`, and `private_tasks` in the private edition. Prompts and records are not read."""
    tables: dict[str, tuple[str, tuple[str, ...], Any]] = {
        "public_tasks": ("public/tasks", _PUBLIC_COLUMNS, PUBLIC_TASKS)
    }
    if edition == "private":
        tables["private_tasks"] = ("private/tasks", _PRIVATE_COLUMNS, PRIVATE_TASKS)
    return {name: _task_view(release, *table) for name, table in tables.items()}


def _task_view(release: StoredRelease, table: str, columns: tuple[str, ...], schema: Any) -> View:
    rows = list(release.read_columns(table, columns))
    found = pa.Table.from_pylist(rows, schema=pa.schema([schema.field(name) for name in columns]))
    return View(found, f"read_parquet('{table}-*.parquet', union_by_name = true)")
