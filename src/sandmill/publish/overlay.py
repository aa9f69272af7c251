"""Lay rollouts over a release: read the sets, check that they are of this version, and compute their section."""

import json
import re
from collections.abc import Sequence

import pyarrow as pa

from sandmill.errors import InputError, Problem, count, name_some, shorten
from sandmill.publish.release_report import read_view
from sandmill.report.html.figure import Edition
from sandmill.report.html.page import Section
from sandmill.report.overlay import ROLLOUT_VIEW, overlay_section
from sandmill.report.queries import View, open_queries
from sandmill.store.arrow_tables import PRIVATE_TASKS, PUBLIC_TASKS
from sandmill.store.release import StoredRelease
from sandmill.store.rollouts import CREDITS, ROLLOUTS, RolloutSet, facts_row, read_rollout_sets

_LABELLED = re.compile(r"([^/=]+)=(.+)")
_COLUMNS = ("task_id", "sample", "mask", "reward", "valid", "medal", "gap_closed")
"""Columns of the view, of those of the stored Parquet file."""

Sets = list[tuple[str, RolloutSet]]
"""Rollouts with the name of their set."""


def rollouts_section(release: StoredRelease, edition: Edition, places: Sequence[str]) -> Section:
    """Return the section on rollouts. The public edition shows no figure of a single task.

    Places are folders or Parquet files, each with `LABEL=` before it if the set needs a name of its own. Sets of one
    label count as one. The first is the one that the others are compared with.

    Raises:
        InputError: a place holds no rollouts, or those of another release; a file is named twice.
    """
    sets = _read_sets(places)
    _check(release, sets)
    labels = list(dict.fromkeys(label for label, _ in sets))
    # Prompts and records are not read.
    views = {"public_tasks": read_view(release, "public/tasks", ("task_id", "modality", "target"), PUBLIC_TASKS)}
    if edition == "private":
        views["private_tasks"] = read_view(release, "private/tasks", ("task_id", "structure", "band"), PRIVATE_TASKS)
    views[ROLLOUT_VIEW] = _view(sets, labels)
    presets = frozenset[str]().union(*(one.presets for _, one in sets))
    with open_queries(views) as queries:
        played = {fact.task_id for _, one in sets for fact in one.facts}
        clusters = _designs(release, played) if edition == "private" or release.has_private else {}
        return overlay_section(queries, edition, labels, clusters, len(presets) <= 1, _notes(sets, presets))


def _read_sets(places: Sequence[str]) -> Sets:
    sets: Sets = []
    read = set()
    for place in places:
        match = _LABELLED.fullmatch(place)
        label, path = (match[1], match[2]) if match else ("", place)
        if path.rstrip("/") in read:
            problem = Problem("--rollouts", f"{path} twice", "each place once", "Its rollouts would count twice.")
            raise InputError("sandmill report", [problem])
        read.add(path.rstrip("/"))
        sets += [(label or shorten(found.model, 60), found) for found in read_rollout_sets(path)]
    return sets


def _check(release: StoredRelease, sets: Sets) -> None:
    """Raise InputError for each place with rollouts of another version, or of tasks that this one does not have."""
    known, problems = set(release.task_ids), []
    for _, one in sets:
        versions = {fact.release.rpartition("@")[2] for fact in one.facts} - {release.version}
        if versions:
            saw, expected = f"rollouts of {name_some(sorted(versions))}", f"rollouts of {release.version}"
            problems.append(Problem(one.files, saw, expected, "Name the version that was played: DATASET@VERSION."))
        elif unknown := {fact.task_id for fact in one.facts} - known:
            problems.append(Problem(one.files, f"tasks {name_some(sorted(unknown))}", "tasks of this release"))
    if problems:
        raise InputError(release.ref, problems)


def _view(sets: Sets, labels: Sequence[str]) -> View:
    number = {label: place for place, label in enumerate(labels, start=1)}
    rows = [
        {"number": number[label], "label": label, **facts_row(fact), "credits": fact.credits_json}
        for label, one in sets
        for fact in one.facts
    ]
    kinds = [("number", pa.int64()), ("label", pa.string()), *(ROLLOUTS.field(name) for name in _COLUMNS)]
    kinds.append(("credits", pa.string()))
    selects = [
        f"SELECT {number[label]} AS number, {_literal(label)} AS label, {', '.join(_COLUMNS)}, "
        f"{CREDITS} AS credits "
        f"FROM read_parquet({_literal(one.files)}) WHERE model = {_literal(one.model)}"
        for label, one in sets
    ]
    return View(pa.Table.from_pylist(rows, schema=pa.schema(kinds)), f"({' UNION ALL '.join(selects)})")


def _literal(text: str) -> str:
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


def _notes(sets: Sets, presets: frozenset[str]) -> list[str]:
    named = f"Rewards do not compare: the sets have the presets {', '.join(sorted(presets))}."
    return ([named] if len(presets) > 1 else []) + [
        f"{label}: {count(one.loose, 'rollout')} in no Parquet file yet, so the SQL does not read them. Run "
        "the same sandmill rollout command again to its end."
        for label, one in sets
        if one.loose
    ]
