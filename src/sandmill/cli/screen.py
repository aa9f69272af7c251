"""What the commands share in speaking to a person or to a programme."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from sandmill.errors import visible

RELEASE_HELP = "Folder or S3 prefix of a dataset, with @version if not the latest."

_PIPE_WIDTH = 160
"""Columns when the output goes to a file or a programme, which have no width."""

ReleaseArgument = Annotated[str, typer.Argument(metavar="RELEASE", help=RELEASE_HELP, show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", metavar="ID", help="Only this task; may be repeated.", show_default=False)
]


_LINES = "\n\t"
"""Characters that a text of several lines may have; all others that do not print are shown as escapes."""


class PlainConsole(Console):
    """A console for text of strangers: nothing in a string is markup, and nothing steers the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Take a string as it is, with control characters made visible. Cells of tables come through here too."""
        return super().render_str(visible(text, keep=_LINES), **options)


def open_console() -> PlainConsole:
    """Give a console for standard output that cuts nothing off in a pipe and takes no bracket for markup."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return PlainConsole(highlight=False, markup=False, emoji=False, width=None if has_width else _PIPE_WIDTH)


def write_text(text: str, to_stderr: bool = False) -> None:
    """Write text that may quote a stranger, with control characters made visible."""
    typer.echo(visible(text, keep=_LINES), err=to_stderr)


def write_json(value: Any) -> None:
    """Write one JSON object to standard output; characters that do not print are JSON escapes."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    typer.echo("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error while work is done, only if someone watches."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
