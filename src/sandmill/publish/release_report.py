"""Compose the report of a version: its tables become figures, its files samples, and all of it one page."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from sandmill.errors import IntegrityError, name_some
from sandmill.models.base import Frozen
from sandmill.models.seed import UnsupportedSeed
from sandmill.report.figures import build_figures, count_facets, task_columns
from sandmill.report.html.figure import Cell, Figure
from sandmill.report.html.page import Edition, PageHead, Section, machine_twin, render_page
from sandmill.report.html.sections import build_section, map_section, tasks_section
from sandmill.report.queries import Queries, View, open_queries
from sandmill.report.samples import sample_files
from sandmill.report.similarity import TaskMap, map_tasks
from sandmill.report.task_detail import private_detail
from sandmill.store.arrow_tables import PRIVATE_TASKS, PUBLIC_TASKS, REJECTIONS, SLOTS, read_record
from sandmill.store.files import AccessDenied, FileMissing
from sandmill.store.limits import MAX_REPORT_BYTES
from sandmill.store.release import StoredRelease

PAGE, TWIN = "report.html", "qc.json"
"""Files of a report."""
_MOST_SEEDS = 10


class Limits(Frozen):
    """How much of single tasks a report holds, which decides its size."""

    sampled: int = 100
    """Tasks with prompt, rows and media."""
    measured: int = 2000
    """Tasks with private figures, 4 kB each."""
    media_bytes: int = 4 << 20
    """Of all tasks together, before encoding."""
    media_of_task: int = 96 << 10


USUAL = Limits()
KIND = ("modality", "target", "metric", "split")
"""Public facts by which tasks are grouped and compared."""


class ReportFiles(Frozen):
    """A report as files by name."""

    files: dict[str, bytes]
    tasks: int


def make_report(
    release: StoredRelease, edition: Edition = "public", extra: Sequence[Section] = (), limits: Limits = USUAL
) -> ReportFiles:
    """Return the report of a version as files. Equal content gives equal bytes."""
    with open_queries(read_views(release, edition)) as queries:
        head, sections = report_sections(release, queries, edition, limits)
    sections = [*sections, *extra]
    page = render_page(head, sections).encode()
    return ReportFiles(files={PAGE: page, TWIN: machine_twin(head, sections)}, tasks=release.manifest.tasks)


def report_sections(
    release: StoredRelease, queries: Queries, edition: Edition, limits: Limits
) -> tuple[PageHead, list[Section]]:
    """Return the head and the sections of a report."""
    facets, tasks = count_facets(queries, edition), task_columns(queries, edition)
    details = task_details(release, tasks, edition, limits)
    build = build_section(build_figures(queries, edition))
    manifest = release.manifest
    head = PageHead(
        dataset=manifest.dataset,
        version=manifest.version,
        edition=edition,
        notes=_notes(len(tasks.rows), details),
        facts=(
            ("tasks", str(manifest.tasks)),
            ("seeds", str(len(manifest.seeds))),
            *_seeds_set_aside(release),
            ("code", manifest.code_version),
        ),
    )
    place = release.ref if edition == "private" else f"<root>/{manifest.dataset}@{manifest.version}"
    return head, [tasks_section(edition, facets, tasks, details, place), map_section(_map(queries, tasks)), build]


def _seeds_set_aside(release: StoredRelease) -> list[tuple[str, str]]:
    """Name the seeds that were given and not used; nothing where a version does not tell."""
    content = release.report("seeds.json", limit=MAX_REPORT_BYTES)
    try:
        seeds = [UnsupportedSeed.model_validate(seed) for seed in json.loads(content or b"{}").get("set_aside", ())]
    except (ValueError, AttributeError, TypeError):
        return []
    named = name_some((f"{seed.id} (needs {'; '.join(seed.needs)})" for seed in seeds), _MOST_SEEDS)
    return [("seeds set aside", named)] if seeds else []


def _map(queries: Queries, tasks: Figure) -> TaskMap:
    """Place the tasks by public facts, in both editions."""
    import pyarrow.compute as pc

    public = queries.views["public_tasks"].table
    # The list of tasks is in the order of their ids. Prompts, the largest column, are read one at a time.
    order = pc.sort_indices(public, [("task_id", "ascending")])
    prompts = (public["prompt"][place.as_py()].as_py() for place in order)
    facts = [dict(zip(KIND, row, strict=True)) for row in zip(*map(tasks.column, KIND), strict=True)]
    return map_tasks(prompts, facts)


def _notes(tasks: int, details: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Say what the page leaves out of a large release."""
    sampled = sum("sample" in detail for detail in details.values())
    measured = sum("private" in detail for detail in details.values())
    notes = [f"Prompt, rows and media: a sample of {sampled} of {tasks} tasks."] if sampled < tasks else []
    if 0 < measured < tasks:
        notes.append(f"Private figures: {measured} of {tasks} tasks.")
    return tuple(notes)


DESIGNERS = "designers.json"
_DESIGNERS_BYTES = 1 << 20
_COSTS = pa.schema(
    [
        ("designer", pa.string()),
        *((name, pa.int64()) for name in ("attempts", "designs", "requests", "tokens")),
        ("usd", pa.float64()),
    ]
)


class DesignerCosts(Frozen):
    """The figures of a designer that a report shows; its file has more."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    designer: str
    attempts: int = Field(ge=0, lt=1 << 53)
    designs: int = Field(ge=0, lt=1 << 53)
    requests: int = Field(default=0, ge=0, lt=1 << 53)
    tokens: int = Field(default=0, ge=0, lt=1 << 53)
    usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)


def read_views(release: StoredRelease, edition: Edition) -> dict[str, View]:
    """Read the tables that an edition may show. Prompts are read whole: 6 kB a task."""
    slots = [name for name in SLOTS.names if name != "path"]
    views = {
        "public_tasks": read_view(release, "public/tasks", PUBLIC_TASKS.names, PUBLIC_TASKS),
        "rejections": _report_view(release, "reports/rejections", REJECTIONS.names, REJECTIONS),
        "slots": _report_view(release, "reports/slots", slots, SLOTS),
        "designers": View(_read_designers(release), f"read_json('reports/{DESIGNERS}')"),
    }
    if edition == "private":
        private = [name for name in PRIVATE_TASKS.names if name != "record"]
        views["private_tasks"] = read_view(release, "private/tasks", private, PRIVATE_TASKS)
    return views


def read_view(release: StoredRelease, table: str, columns: Sequence[str], schema: Any) -> View:
    """Read columns of a table within the limits for untrusted releases."""
    wanted = pa.schema([schema.field(name) for name in columns])
    groups = [group.select(list(columns)).cast(wanted) for group in release.read_groups(table, columns)]
    return _view(table, pa.concat_tables(groups) if groups else wanted.empty_table())


def _report_view(release: StoredRelease, table: str, columns: Sequence[str], schema: Any) -> View:
    """Read a table of reports/; an empty one where reports/ is not readable, as with public credentials."""
    try:
        return read_view(release, table, columns, schema)
    except (AccessDenied, FileMissing):
        return _view(table, pa.schema([schema.field(column) for column in columns]).empty_table())


def _view(table: str, content: Any) -> View:
    return View(content, f"read_parquet('{table}-*.parquet', union_by_name = true)")


def _read_designers(release: StoredRelease) -> Any:
    """Read what designers cost; an empty table where the report is missing or not readable."""
    try:
        content = release.report(DESIGNERS, limit=_DESIGNERS_BYTES)
        rows = TypeAdapter(list[DesignerCosts]).validate_json(content or b"[]")
    except (AccessDenied, FileMissing):
        rows = []
    except ValidationError:
        raise IntegrityError(f"{release.ref}: reports/{DESIGNERS} does not hold figures of designers") from None
    return pa.Table.from_pylist([row.model_dump() for row in rows], schema=_COSTS)


def task_details(release: StoredRelease, tasks: Figure, edition: Edition, limits: Limits) -> dict[str, dict[str, Any]]:
    """Return what is shown of each task that is shown at all, by id."""
    chosen = choose_tasks(tasks, limits.sampled)
    share = min(limits.media_of_task, limits.media_bytes // max(1, len(chosen)))
    details: dict[str, dict[str, Any]] = {}
    for task_id in chosen:
        sample = sample_files(release.files("public", task_id), share)
        details[task_id] = {"sample": sample.model_dump(mode="json")}
    if edition == "private":
        measured = choose_tasks(tasks, limits.measured)
        for row in release.read_columns("private/tasks", ["task_id", "digest", "record"], measured):
            figures = private_detail(read_record(row)).model_dump(mode="json")
            details.setdefault(row["task_id"], {})["private"] = figures
    return {task_id: details[task_id] for task_id in sorted(details)}


def choose_tasks(tasks: Figure, most: int) -> Sequence[str]:
    """Return ids of tasks, all of them if there are few. Of each kind of task the first ones come first."""
    task_ids = [str(task_id) for task_id in tasks.column("task_id")]
    if len(task_ids) <= most:
        return task_ids
    seen: Counter[tuple[Cell, ...]] = Counter()
    ranked = []
    for task_id, *kind in zip(task_ids, *map(tasks.column, KIND), strict=True):
        ranked.append((seen[tuple(kind)], task_id))
        seen[tuple(kind)] += 1
    return sorted(task_id for _, task_id in sorted(ranked)[:most])
