"""Arguments and output that the commands share."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from sandmill.errors import InputError, Problem, visible
from sandmill.models.base import OnProgress

if TYPE_CHECKING:
    from rich.table import Column, Table

RELEASE_HELP = "Folder or S3 prefix of a dataset, with @version if not the latest."

_PIPE_WIDTH = 1000
"""Characters of a line where the output is no terminal, so that no cell of a table is cut."""


def repeatable(flag: str, metavar: str, text: str) -> Any:
    """Declare an option that may be given several times."""
    return typer.Option(flag, metavar=metavar, help=text, show_default=False)


ReleaseArgument = Annotated[str, typer.Argument(metavar="RELEASE", help=RELEASE_HELP, show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
TaskOption = Annotated[list[str] | None, repeatable("--task", "ID", "Only this task; may be repeated.")]
SplitOption = Annotated[list[str] | None, repeatable("--split", "NAME", "Only this split; may be repeated.")]
MetricOption = Annotated[list[str] | None, repeatable("--metric", "NAME", "Only this metric; may be repeated.")]
_PRIVATE = ", as `show` names it; may be repeated; needs the private half"
BandOption = Annotated[list[str] | None, repeatable("--band", "NAME", f"Only this band of difficulty{_PRIVATE}.")]
StructureOption = Annotated[list[str] | None, repeatable("--structure", "NAME", f"Only this structure{_PRIVATE}.")]


_LINES = "\n\t"
"""Characters that are written as they are. All others that do not print are shown as escapes."""


class PlainConsole(Console):
    """A console for untrusted text: no markup, and no control characters reach the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Make control characters visible. Cells of tables pass through here too."""
        return super().render_str(visible(text, keep=_LINES), **options)


def open_console() -> PlainConsole:
    """Return a console for standard output: as wide as the terminal, and wide enough for every line in a pipe."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return PlainConsole(highlight=False, markup=False, emoji=False, width=width)


def plain_table(*columns: "str | Column", show_header: bool = True) -> "Table":
    """Return an empty table without lines."""
    from rich.table import Table

    return Table(*columns, box=None, pad_edge=False, header_style="bold", show_header=show_header)


def refuse_options(source: str, footer: str, *rules: tuple[object, Problem]) -> None:
    """Raise an `InputError` with the problems of all rules whose condition is true."""
    if problems := [problem for is_broken, problem in rules if is_broken]:
        raise InputError(source, problems, footer)


def write_text(text: str, to_stderr: bool = False) -> None:
    """Write untrusted text, with control characters made visible."""
    typer.echo(visible(text, keep=_LINES), err=to_stderr)


def write_json(value: Any) -> None:
    """Write one JSON object to standard output; characters that do not print are JSON escapes."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    typer.echo("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


@contextmanager
def show_progress(what: str) -> Iterator[OnProgress]:
    """Show a progress bar on standard error, if that is a terminal. It moves to and fro until a total is known."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def size_text(number: int) -> str:
    """Write a number of bytes for people, such as `1.2 MB`."""
    size, units = float(number), ["kB", "MB", "GB", "TB"]
    unit = "B"
    while size >= 1000 and units:
        size, unit = size / 1000, units.pop(0)
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
