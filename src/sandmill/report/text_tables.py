"""Facts as rows of text, so that a terminal and a Markdown page show the same table."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandmill.errors import visible
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Funnel, SlotReport
from sandmill.report.funnel import RejectionRow

if TYPE_CHECKING:
    import rich.table


@dataclass(frozen=True)
class TextTable:
    """Title, header and cells, already formatted."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    """Places of the columns that are set flush right."""


def ending_table(records: Iterable[TaskRecord], slots: Iterable[SlotReport]) -> TextTable:
    """Show what a build made, a row a task. For the operator's eyes: it names thresholds and the oracle.

    Seconds are the slot's work in all its attempts, shared evenly by its replicates; `-` if no report names the task.
    """
    seconds = {
        task_id: sum(report.seconds.values()) / len(report.task_ids) for report in slots for task_id in report.task_ids
    }
    header = ("task", "domain", "structure", "metric", "difficulty", "trivial", "gold", "oracle", "seconds")
    rows = []
    for record in records:
        measured, spec = record.calibration, record.spec
        missed = "" if record.reached == record.wanted else f" (asked {record.wanted})"
        difficulty = f"{measured.difficulty.value:.2f} {measured.difficulty.band}{missed}"
        scores = (f"{score:.4f}" for score in (measured.trivial, measured.thresholds.gold, measured.oracle))
        taken = f"{seconds[record.task_id]:.1f}" if record.task_id in seconds else "-"
        names = (record.task_id, spec.domain, spec.structure_label, str(spec.metric))
        rows.append((*names, difficulty, *scores, taken))
    return TextTable("Tasks", header, tuple(rows), frozenset({5, 6, 7, 8}))


def funnel_table(funnel: Funnel) -> TextTable:
    """Show how many attempts were left after each stage, and how many slots they filled."""
    left = {name: getattr(funnel, name) for name in ("designed", "rendered", "calibrated", "checked", "verified")}
    rows = [(f"attempts {name}", str(count), share(count, funnel.designed)) for name, count in left.items()]
    if funnel.internal_errors:
        rows.append(("attempts lost to internal errors", str(funnel.internal_errors), "-"))
    rows.append(("tasks, replicates included", str(funnel.tasks), "-"))
    rows.append(("slots filled", str(funnel.filled), share(funnel.filled, funnel.slots)))
    rows.append(("slots in the band asked for", str(funnel.in_band), share(funnel.in_band, funnel.slots)))
    return TextTable("Funnel", ("stage", "left", "share"), tuple(rows), frozenset({1, 2}))


def rejections_table(rows: Iterable[RejectionRow]) -> TextTable:
    """Show why attempts failed and what they cost."""
    cells = tuple((str(row.stage), row.reason, str(row.count), f"{row.seconds:.1f}") for row in rows)
    return TextTable("Rejections", ("stage", "reason", "attempts", "seconds"), cells, frozenset({2, 3}))


def share(part: int, whole: int) -> str:
    """Write a share as a percentage, `-` of nothing."""
    return f"{part / whole:.0%}" if whole else "-"


def to_markdown(table: TextTable) -> str:
    """Write a table as GitHub-flavoured Markdown, without its title; ends without a line break."""
    rule = ["---:" if place in table.numeric else "---" for place in range(len(table.header))]
    lines = [table.header, rule, *table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def to_rich(table: TextTable) -> "rich.table.Table":
    """Lay a table out for a terminal. Cells are shown as they are, never as rich markup."""
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(title=table.title, title_justify="left")
    for place, name in enumerate(table.header):
        shown.add_column(name, justify="right" if place in table.numeric else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(visible(cell)) for cell in row))
    return shown
