"""sandmill pull: tasks as folders."""

from pathlib import Path
from typing import Annotated

import typer

from sandmill.cli.screen import JsonOption, ReleaseArgument, TaskOption, show_progress, write_json

EXAMPLES = "Example: `sandmill pull s3://bucket/releases/micro@3 --to tasks --public-only`"


def pull(
    release: ReleaseArgument,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into.", show_default=False)],
    task: TaskOption = None,
    public_only: Annotated[
        bool, typer.Option("--public-only", help="Leave answers, thresholds and solution out.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write tasks as folders DIR/TASK/public and DIR/TASK/private.

    Each task is there whole or not at all. Run again, it leaves what is equal and goes on with the rest.
    """
    from sandmill.store.release import load

    opened = load(release)
    with show_progress("pulling") as progress:
        folders = opened.pull(to, task or None, public_only, progress)
    if as_json:
        write_json({"release": opened.ref, "tasks": [str(folder) for folder in folders]})
    else:
        half = "public half of " if public_only else ""
        typer.echo(f"{opened.ref}: {half}{len(folders)} tasks in {to}")
