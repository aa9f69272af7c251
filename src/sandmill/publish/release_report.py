"""Compose the report of a version: its tables become figures, its files samples, and all of it one page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json

from sandmill.errors import IntegrityError
from sandmill.models.base import Frozen
from sandmill.models.reports import Funnel
from sandmill.models.rollout import RolloutRecord
from sandmill.report.digest import headline, private_detail
from sandmill.report.html.figure import Cell, Edition, Figure
from sandmill.report.html.page import PageHead, Section, drawn_section, machine_twin, render_page, tasks_section
from sandmill.report.queries import View, build_figures, count_facets, open_queries, task_columns
from sandmill.report.rollouts import trajectory
from sandmill.report.samples import sample_files
from sandmill.store.arrow_tables import PRIVATE_TASKS, PUBLIC_TASKS, REJECTIONS, SLOTS, read_record
from sandmill.store.catalogue import read_overview
from sandmill.store.files import AccessDenied, FileMissing
from sandmill.store.release import StoredRelease

PAGE, TWIN = "report.html", "report.json"
"""Files of a report."""
SAMPLED, MEASURED = 100, 2000
"""Most tasks with prompt, rows and media, and most with private figures, 4 kB each."""
MEDIA_BYTES, MEDIA_OF_TASK = 4 << 20, 96 << 10
"""Most bytes of media in a report, and of a task."""
TRAJECTORIES, PASSAGE, ROLLOUT_CHARACTERS = 4, 8000, 8 << 20
"""Most rollouts of a task in a report, most characters of one of their messages, and about the most of all rollouts."""


def make_report(
    release: StoredRelease, edition: Edition = "public", rollouts: Iterable[RolloutRecord] = ()
) -> dict[str, bytes]:
    """Return the report of a version as files by name. Equal content gives equal bytes.

    The pages of tasks show the first rollouts of each, with their grades: pass none for the public edition.
    """
    manifest = release.manifest
    with open_queries(read_views(release, edition)) as queries:
        facets, tasks = count_facets(queries, edition), task_columns(queries, edition)
        details = task_details(release, tasks, edition)
        add_rollouts(details, rollouts)
        made = build_figures(queries, edition)
    listed = len(tasks.rows)
    # The page says what it leaves out of a large release.
    sampled, measured = (sum(part in detail for detail in details.values()) for part in ("sample", "private"))
    notes = [f"Prompt, rows and media: a sample of {sampled} of {listed} tasks."] if sampled < listed else []
    if 0 < measured < listed:
        notes.append(f"Private figures: {measured} of {listed} tasks.")
    kinds = {row["kind"] for row in tasks.records()}
    counts = {"tasks": manifest.tasks, "kinds": len(kinds), "seeds": len(manifest.seeds)}
    words = [*headline(**counts, shares=read_overview(release).figures), *_costs_in_words(made)]
    words.append(f"Made by Sandmill {manifest.code_version} on {manifest.created[:10]}.")
    facts = *((name, str(number)) for name, number in counts.items()), ("code", manifest.code_version)
    named = {"dataset": manifest.dataset, "version": manifest.version}
    head = PageHead(**named, edition=edition, headline=tuple(words), notes=tuple(notes), facts=facts)
    place = release.ref if edition == "private" else f"<root>/{manifest.dataset}@{manifest.version}"
    listed_tasks = tasks_section(edition, facets, tasks, details, place)
    build = Section(id="build", title="Build", figures=tuple(made))
    sections = [drawn_section("kinds"), listed_tasks, drawn_section("map"), build]
    return {PAGE: render_page(head, sections).encode(), TWIN: machine_twin(head, sections)}


def _costs_in_words(figures: Sequence[Figure]) -> list[str]:
    """Say how long the build took, if its slots tell, and what language models cost."""
    rows = {figure.id: figure.records() for figure in figures}
    seconds = sum(row["seconds"] for row in rows["seconds"] if isinstance(row["seconds"], int | float))
    usd = sum(row["usd"] for row in rows.get("costs", ()) if isinstance(row["usd"], int | float))
    cost = f"{usd:,.2f} USD for language models" if usd else "no language model"
    spent = f"{seconds / 60:,.0f} minutes" if seconds >= 120 else f"{seconds:,.0f} seconds"
    return [f"The build took {spent} of work, all workers together, and {cost}."] if seconds else []


DESIGNERS, FUNNEL, KINDS = "designers.json", "funnel.json", "kinds.json"
_JSON_BYTES = 16 << 20
_ARROW: dict[Any, Any] = {str: pa.string(), int: pa.int64(), float: pa.float64()}


class DesignerCosts(Frozen):
    """What the designs of one designer cost. Reports of older code hold more."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    designer: str
    attempts: int = Field(ge=0, lt=1 << 53)
    designs: int = Field(ge=0, lt=1 << 53)
    requests: int = Field(default=0, ge=0, lt=1 << 53)
    tokens: int = Field(default=0, ge=0, lt=1 << 53)
    usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)


class TaskKind(Frozen):
    """The kind of one task, a name of docs/structures.md."""

    task_id: str = Field(max_length=200)
    kind: str = Field(max_length=200)


def read_views(release: StoredRelease, edition: Edition) -> dict[str, View]:
    """Read the tables that an edition may show. Prompts are read whole: 6 kB a task."""
    slots = [name for name in SLOTS.names if name not in ("path", "script_seconds")]
    views = {
        "public_tasks": read_view(release, "public/tasks", PUBLIC_TASKS.names, PUBLIC_TASKS),
        "rejections": read_view(release, "reports/rejections", REJECTIONS.names, REJECTIONS),
        "slots": read_view(release, "reports/slots", slots, SLOTS),
        "designers": _read_json(release, DESIGNERS, DesignerCosts),
        "kinds": _read_json(release, KINDS, TaskKind),
        "funnel": _read_json(release, FUNNEL, Funnel),
    }
    if edition == "private":
        private = [name for name in PRIVATE_TASKS.names if name != "record"]
        views["private_tasks"] = read_view(release, "private/tasks", private, PRIVATE_TASKS)
    return views


def read_view(release: StoredRelease, table: str, columns: Sequence[str], schema: Any) -> View:
    """Read columns of a table within the limits for untrusted releases.

    A table of reports/ is empty where it is not readable, as with public credentials.
    """
    wanted = pa.schema([schema.field(name) for name in columns])
    try:
        groups = [group.select(list(columns)).cast(wanted) for group in release.read_groups(table, columns)]
    except (AccessDenied, FileMissing):
        if not table.startswith("reports/"):
            raise
        groups = []
    content = pa.concat_tables(groups) if groups else wanted.empty_table()
    return View(content, f"read_parquet('{table}-*.parquet', union_by_name = true)")


def _read_json(release: StoredRelease, name: str, model: type[BaseModel]) -> View:
    """Read a report of one or more rows; an empty table where it is missing or not readable."""
    content = release.readable_report(name, limit=_JSON_BYTES)
    schema = pa.schema([(key, _ARROW[field.annotation]) for key, field in model.model_fields.items()])
    try:
        found = from_json(content or b"[]")
        rows = [model.model_validate(row).model_dump() for row in (found if isinstance(found, list) else [found])]
        return View(pa.Table.from_pylist(rows, schema=schema), f"read_json('reports/{name}')")
    except (ValueError, pa.ArrowException, OverflowError):
        raise IntegrityError(f"{release.ref}: reports/{name} does not hold the figures of a build") from None


def task_details(release: StoredRelease, tasks: Figure, edition: Edition) -> dict[str, dict[str, Any]]:
    """Return what is shown of each task that is shown at all, by id."""
    chosen = choose_tasks(tasks, SAMPLED)
    share = min(MEDIA_OF_TASK, MEDIA_BYTES // max(1, len(chosen)))
    details: dict[str, dict[str, Any]] = {}
    for task_id in chosen:
        sample = sample_files(release.files("public", task_id), share)
        details[task_id] = {"sample": sample.model_dump(mode="json")}
    if edition == "private":
        measured = choose_tasks(tasks, MEASURED)
        for row in release.read_columns("private/tasks", ["task_id", "digest", "record"], measured):
            figures = private_detail(read_record(row))
            details.setdefault(row["task_id"], {})["private"] = figures
    return {task_id: details[task_id] for task_id in sorted(details)}


def add_rollouts(details: Mapping[str, dict[str, Any]], rollouts: Iterable[RolloutRecord]) -> None:
    """Add the first rollouts of each task to what its page shows, as texts with titles."""
    left = ROLLOUT_CHARACTERS
    for record in rollouts:
        shown = details.get(record.rollout.task_id, {}).setdefault("rollouts", [])
        if len(shown) < TRAJECTORIES and left > 0:
            shown.append([(title, text[:PASSAGE]) for title, text in trajectory(record)])
            left -= sum(len(text) for _, text in shown[-1])


def choose_tasks(tasks: Figure, most: int) -> Sequence[str]:
    """Return ids of tasks, all of them if there are few. Of each kind of task the first ones come first."""
    seen: Counter[Cell] = Counter()
    ranked = []
    for row in tasks.records():
        ranked.append((seen[row["kind"]], str(row["task_id"])))
        seen[row["kind"]] += 1
    return sorted(task_id for _, task_id in sorted(ranked)[:most])
