"""Arguments and output that the commands share."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from sandmill.errors import visible
from sandmill.models.base import OnProgress

if TYPE_CHECKING:
    from sandmill.report.text_tables import TextTable


_PIPE_WIDTH = 1000
"""Characters of a line where the output is no terminal, so that no cell of a table is cut."""


def option(metavar: str, text: str, flag: str = "", **more: Any) -> Any:
    """Declare an option that takes a value. It is named after its parameter unless `flag` names it."""
    return typer.Option(*([flag] if flag else []), metavar=metavar, help=text, **more)


def switch(flag: str, text: str) -> Any:
    """Declare an option without a value, which has no opposite."""
    return typer.Option(flag, help=text)


ReleaseArgument = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE", help="Folder or S3 prefix, with @version if not the latest; hf://datasets/...; or samples."
    ),
]
JsonOption = Annotated[bool, switch("--json", "One JSON object on standard output.")]
TaskOption = Annotated[list[str] | None, option("ID", "Only this task; may be repeated.")]
SplitOption = Annotated[list[str] | None, option("NAME", "Only this split; may be repeated.")]
MetricOption = Annotated[list[str] | None, option("NAME", "Only this metric; may be repeated.")]
_PRIVATE = ", as `show` names it; may be repeated; needs the private half"
BandOption = Annotated[list[str] | None, option("NAME", f"Only this band of difficulty{_PRIVATE}.")]
StructureOption = Annotated[list[str] | None, option("NAME", f"Only this structure{_PRIVATE}.")]
ReadingOption = Annotated[list[str] | None, option("NAME", f"Only this level of stated facts{_PRIVATE}.")]


_LINES = "\n\t"
"""Characters that are written as they are. All others that do not print are shown as escapes."""


class PlainConsole(Console):
    """A console for untrusted text: no markup, and no control characters reach the terminal.

    Lines are not broken: a terminal wraps a long command by itself, and it can still be copied as one line.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print text, or anything that rich can show."""
        super().print(*objects, soft_wrap=True, **options)

    def print_table(self, table: "TextTable") -> None:
        """Print a table as wide as the terminal; a row that is too long takes several lines."""
        from sandmill.report.text_tables import to_text

        self.print(to_text(table, self.width))

    def print_rows(self, header: Sequence[str], rows: Iterable[tuple[str, ...]], numeric: Iterable[int] = ()) -> None:
        """Print rows under a header. The columns at the places `numeric` are set flush right."""
        from sandmill.report.text_tables import TextTable

        self.print_table(TextTable("", tuple(header), tuple(rows), frozenset(numeric)))

    def render_str(self, text: str, **options: Any) -> Text:
        """Make control characters visible. Cells of tables pass through here too."""
        return super().render_str(visible(text, keep=_LINES), **options)


def screen_width() -> int:
    """Return the width of the terminal, and one that is wide enough for every line in a pipe."""
    return get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH


def open_console() -> PlainConsole:
    """Return a console for standard output."""
    return PlainConsole(highlight=False, markup=False, emoji=False, width=screen_width())


def selection(**options: list[str] | None) -> dict[str, Any]:
    """Return values of `Release.select` by name. An option that is not given leaves all tasks."""
    return {name: tuple(values or ()) for name, values in options.items()}


def write_text(text: str, to_stderr: bool = False) -> None:
    """Write untrusted text, with control characters made visible."""
    typer.echo(visible(text, keep=_LINES), err=to_stderr)


def write_json(value: Any) -> None:
    """Write one JSON object to standard output; characters that do not print are JSON escapes."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    typer.echo("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


def write_result(facts: Any, text: str, as_json: bool) -> None:
    """Write facts as one JSON object, or a text that says them."""
    write_json(facts) if as_json else write_text(text)


@contextmanager
def show_progress(what: str) -> Iterator[OnProgress]:
    """Show a progress bar on standard error, if that is a terminal. It moves to and fro until a total is known."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
