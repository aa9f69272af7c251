"""The screen at the end of a build: tasks, reasons, empty slots and next commands."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sandmill.cli.screen import open_console
from sandmill.errors import count, name_some
from sandmill.models.reports import Funnel, Rejection, SlotReport
from sandmill.report.funnel import FunnelCounts
from sandmill.report.text_tables import ending_table, funnel_table, set_aside_table
from sandmill.store.release import StoredRelease, load

_MOST_TASKS = 40
_MOST_NEEDS = 10


def show_ending(reference: str, message: str) -> None:
    """Print tasks, funnel and reasons, the outcome of the build as its message says it, and the next commands."""
    console, release = open_console(), load(reference)
    shown = release.task_ids[:_MOST_TASKS]
    console.print_table(ending_table(map(release.record, shown)))
    if len(release.task_ids) > _MOST_TASKS:
        console.print(f"and {count(len(release.task_ids) - _MOST_TASKS, 'more task')}")
    console.print()
    console.print_table(funnel_table(Funnel.model_validate_json(release.report("funnel.json") or b"{}")))
    rejections, counts = list(release.rejections()), FunnelCounts()
    counts.add((), rejections)
    if rejections:
        console.print()
        console.print_table(set_aside_table(counts.rejections()))
    empty = sum_up_empty(release.slot_reports(), rejections)
    for line in (*sum_up_splits(release), *empty, "", *message.splitlines()):
        console.print(line)
    for line in _next_steps(release, reference, shown[0]):
        console.print(line)


def sum_up_splits(release: StoredRelease) -> list[str]:
    """Say how many tasks cannot be trained on; nothing if all can."""
    numbers = Counter(release.facts["split"])
    others = [f"{number} {name}" for name, number in sorted(numbers.items()) if name != "train"]
    if not others:
        return []
    hint = " (--held-out 0 holds out none)" if any(name.startswith("held_out") for name in numbers) else ""
    return [f"Splits: {numbers['train']} train, {', '.join(others)}{hint}."]


def sum_up_empty(slots: Iterable[SlotReport], rejections: Iterable[Rejection]) -> list[str]:
    """Return lines on empty slots and their last rejections; none if all are filled."""
    filled = {slot.slot for slot in slots if slot.reached}
    last = {one.slot: one for one in sorted(rejections, key=lambda one: (one.round, one.attempt))}
    reasons = Counter(f"{one.stage} {one.reason}" for slot, one in last.items() if slot not in filled)
    if not reasons:
        return []
    often = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    named = name_some((f"{name} ({number})" for name, number in often), _MOST_NEEDS)
    lines = [f"Slots that stayed empty: {reasons.total()}; they failed at last with {named}."]
    if any(reason.endswith(" max_usd") for reason in reasons):
        lines.append("The money of --max-usd is spent. With more of it, what was answered is not paid for again.")
    return lines


def _next_steps(release: StoredRelease, reference: str, task_id: str) -> list[str]:
    """Name the report and the next commands."""
    page = f"{release.version}/reports/report.html"
    # Versions of older code have no page.
    report = [f"Report: {release.store.where(page)}"] if release.store.exists(page) else []
    # The path in this environment, if the shell does not find the program.
    sandmill = "sandmill" if shutil.which("sandmill") else os.path.relpath(Path(sys.executable).parent / "sandmill")
    return [
        *report,
        "Next:",
        f"  {sandmill} report {reference} --to report --private",
        f"  {sandmill} show {reference} {task_id}",
        f"  {sandmill} pull {reference} --to pulled",
        f"  {sandmill} verify {reference} --rerun",
    ]
