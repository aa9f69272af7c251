"""The same table for two readers: Markdown for files, rich for terminals."""

from typing import TYPE_CHECKING

from sandmill.errors import visible
from sandmill.report.text_tables import TextTable

if TYPE_CHECKING:
    import rich.table


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
