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

RELEASE_HELP = "Folder or S3 prefix of a dataset, with @version if not the latest."

_PIPE_WIDTH = 160
"""Columns when the output goes to a file or a programme, which have no width."""

ReleaseArgument = Annotated[str, typer.Argument(metavar="RELEASE", help=RELEASE_HELP, show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", metavar="ID", help="Only this task; may be repeated.", show_default=False)
]


def open_console() -> Console:
    """Give a console for standard output that cuts nothing off in a pipe and takes no bracket for markup."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, width=None if has_width else _PIPE_WIDTH)


def write_json(value: Any) -> None:
    """Write one JSON object to standard output."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error while work is done, only if someone watches."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
