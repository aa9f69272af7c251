"""sandmill pull: tasks as folders."""

from typing import Annotated

import typer

from sandmill.cli.screen import (
    BandOption,
    JsonOption,
    MetricOption,
    ReleaseArgument,
    SplitOption,
    StructureOption,
    TaskOption,
    show_progress,
    write_json,
    write_text,
)
from sandmill.errors import count

EXAMPLES = (
    "Examples: `sandmill pull s3://bucket/releases/micro@3 --to tasks --public-only` · "
    "`sandmill pull releases/micro --to tasks --split train --band easy --band medium`"
)


def pull(
    release: ReleaseArgument,
    to: Annotated[str, typer.Option(metavar="DIR", help="Folder to write into.", show_default=False)],
    task: TaskOption = None,
    split: SplitOption = None,
    band: BandOption = None,
    metric: MetricOption = None,
    structure: StructureOption = None,
    public_only: Annotated[
        bool, typer.Option("--public-only", help="Without answers, thresholds and solution.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write tasks as folders DIR/TASK/public and DIR/TASK/private.

    Each task is written whole or not at all. Run it again to continue: tasks that are there already are left alone.

    A task is taken if it has one of the values of every option that is given.
    """
    from sandmill.store.release import load

    opened = load(release)
    with show_progress("pulling") as progress:
        folders = opened.pull(
            to,
            task or None,
            public_only,
            progress,
            split=split or (),
            band=band or (),
            metric=metric or (),
            structure=structure or (),
        )
    if as_json:
        write_json({"release": opened.ref, "tasks": [str(folder) for folder in folders]})
    else:
        half = "public half of " if public_only else ""
        write_text(f"{opened.ref}: {half}{count(len(folders), 'task')} in {to}")
