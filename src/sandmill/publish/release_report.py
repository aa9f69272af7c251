"""Compose the report of a version: its tables become figures, its files samples, and all of it one page."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandmill.errors import name_some
from sandmill.models.base import Frozen
from sandmill.models.seed import UnsupportedSeed
from sandmill.publish.report_details import KIND, USUAL, Limits, task_details
from sandmill.publish.report_tables import read_views
from sandmill.report.build_figures import (
    attempts_figure,
    costs_figure,
    funnel_figure,
    mix_figure,
    reasons_figure,
    seconds_figure,
    seeds_figure,
)
from sandmill.report.facets import count_facets, task_columns
from sandmill.report.html.figure import Figure
from sandmill.report.html.map_section import map_section
from sandmill.report.html.page import Edition, PageHead, Section, machine_twin, render_page
from sandmill.report.html.sections import build_section, tasks_section
from sandmill.report.queries import Queries, open_queries
from sandmill.report.similarity import TaskMap, map_tasks
from sandmill.store.limits import MAX_REPORT_BYTES
from sandmill.store.release import StoredRelease

PAGE, TWIN = "report.html", "qc.json"
"""Files of a report."""
_MOST_SEEDS = 10


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
    build = build_section(
        funnel_figure(queries),
        reasons_figure(queries, edition),
        seconds_figure(queries),
        attempts_figure(queries),
        seeds_figure(queries),
        _others(queries, edition),
    )
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


def _others(queries: Queries, edition: Edition) -> list[Figure]:
    """Return the figures that not every release has, or that are private."""
    costs = [costs_figure(queries)] if queries.views["designers"].table.num_rows else []
    return [*costs, *([mix_figure(queries)] if edition == "private" else [])]


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
