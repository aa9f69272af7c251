"""Facts as rows of text, so that a terminal and a Markdown page show the same table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandmill.errors import visible
from sandmill.models.base import Stage
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Funnel
from sandmill.report.funnel import REASON_WORDS, STEERING, RejectionRow

_GAP = "  "  # between two columns, and before a line that continues a row


@dataclass(frozen=True)
class TextTable:
    """Title, header and cells, already formatted."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    """Places of the columns that are set flush right."""


def ending_table(records: Iterable[TaskRecord]) -> TextTable:
    """Show what a build made, a row a task. For the operator's eyes: it names thresholds and the oracle."""
    header = ("task", "domain", "structure", "metric", "difficulty", "trivial", "gold", "oracle")
    rows = []
    for record in records:
        measured, spec = record.calibration, record.spec
        missed = "" if record.reached == record.wanted else f" (asked {record.wanted})"
        difficulty = f"{measured.difficulty.value:.2f} {measured.difficulty.band}{missed}"
        scores = (f"{score:.4f}" for score in (measured.trivial, measured.thresholds.gold, measured.oracle))
        names = (record.task_id, spec.domain, spec.structure_label, str(spec.metric))
        rows.append((*names, difficulty, *scores))
    return TextTable("Tasks", header, tuple(rows), frozenset({5, 6, 7}))


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


def set_aside_table(rows: Sequence[RejectionRow]) -> TextTable:
    """Show in plain words why attempts were set aside: steering first, then faults, the most frequent first."""
    cells = []
    for row in sorted(rows, key=lambda row: (row.reason != STEERING, -row.count)):
        unnamed = f"the gate {row.reason} found a fault" if row.stage is Stage.CHECK else row.reason.replace("_", " ")
        cells.append((str(row.count), row.reason, REASON_WORDS.get(row.reason, unnamed)))
    steered = sum(row.count for row in rows if row.reason == STEERING)
    faults = sum(row.count for row in rows) - steered
    title = f"Attempts set aside: {steered} by steering, {faults} by faults"
    return TextTable(title, ("attempts", "reason", "in words"), tuple(cells), frozenset({0}))


def share(part: int, whole: int) -> str:
    """Write a share as a percentage, `-` of nothing."""
    return f"{part / whole:.0%}" if whole else "-"


def to_markdown(table: TextTable) -> str:
    """Write a table as GitHub-flavoured Markdown, without its title; ends without a line break."""
    rule = ["---:" if place in table.numeric else "---" for place in range(len(table.header))]
    lines = [table.header, rule, *table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def to_text(table: TextTable, width: int) -> str:
    """Lay a table out for a terminal. What does not fit into a line goes on in the next; no cell is cut or broken."""
    from rich.cells import cell_len

    lines = [[visible(cell) for cell in line] for line in (table.header, *table.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    groups: list[list[int]] = [[]]
    used = 0
    for place, wide in enumerate(widths):
        if groups[-1] and used + wide > width:
            groups.append([])
            used = len(_GAP)
        groups[-1].append(place)
        used += wide + len(_GAP)

    def lay_out(line: list[str], group: list[int]) -> str:
        spaces = {place: " " * (widths[place] - cell_len(line[place])) for place in group}
        cells = (spaces[n] + line[n] if n in table.numeric else line[n] + spaces[n] for n in group)
        return ((_GAP if group[0] else "") + _GAP.join(cells)).rstrip()

    head, *rows = ([text for group in groups if (text := lay_out(line, group))] for line in lines)
    rule = ["-" * max(map(cell_len, head))] if head else []
    return "\n".join([*([table.title] if table.title else []), *head, *rule, *(line for row in rows for line in row)])
