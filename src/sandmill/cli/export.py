"""sandmill export: tasks in the formats of trainers and benchmarks."""

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
    "Examples: `sandmill export releases/micro --format harbor --to exports/harbor` · "
    "`sandmill export s3://bucket/releases/micro@3 --format verl --to exports/verl --split train --band easy`"
)


def export(
    release: ReleaseArgument,
    to: Annotated[str, typer.Option(metavar="DIR", help="New folder to write into.", show_default=False)],
    name: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="harbor, hf, mlebench, mledojo, nemo-gym, rllm, sandmle, skyrl or verl.",
            show_default=False,
        ),
    ],
    task: TaskOption = None,
    split: SplitOption = None,
    band: BandOption = None,
    metric: MetricOption = None,
    structure: StructureOption = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure-upstream-layout", help="With sandmle: answers where agents can read them."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write tasks in the format of a trainer or a benchmark.

    DIR appears when it is complete. The same command again changes nothing, and equal releases give equal bytes. Every
    format needs the private half of the release; `docs/exports.md` says where each format puts the answers.
    """
    from sandmill.export.export import export as write_export
    from sandmill.store.release import load

    opened = load(release)
    with show_progress("exporting") as progress:
        task_ids = write_export(
            opened,
            name,
            to,
            task or None,
            split=split or (),
            band=band or (),
            metric=metric or (),
            structure=structure or (),
            is_insecure=insecure,
            progress=progress,
        )
    if as_json:
        write_json({"release": opened.ref, "format": name, "folder": to, "tasks": list(task_ids)})
    else:
        write_text(f"{opened.ref}: {count(len(task_ids), 'task')} in {to}, format {name}")
