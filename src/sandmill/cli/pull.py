"""sandmill pull and export: tasks as folders, and in the formats of trainers and benchmarks."""

from typing import Annotated

from sandmill.cli.screen import (
    BandOption,
    JsonOption,
    MetricOption,
    ReadingOption,
    ReleaseArgument,
    SplitOption,
    StructureOption,
    TaskOption,
    option,
    selection,
    show_progress,
    switch,
    write_result,
)
from sandmill.errors import count


def pull(
    release: ReleaseArgument,
    to: Annotated[str, option("DIR", "Folder to write into.")],
    task: TaskOption = None,
    split: SplitOption = None,
    band: BandOption = None,
    metric: MetricOption = None,
    structure: StructureOption = None,
    reading_level: ReadingOption = None,
    public_only: Annotated[bool, switch("--public-only", "Without answers, thresholds and solution.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write tasks as folders DIR/TASK/public and DIR/TASK/private.

    Each task is written whole or not at all. Run it again to continue: tasks that are there already are left alone.

    A task is taken if it has one of the values of every option that is given.
    """
    from sandmill.store.release import load

    opened = load(release)
    with show_progress("pulling") as progress:
        wanted = selection(split=split, band=band, metric=metric, structure=structure, reading_level=reading_level)
        folders = opened.pull(to, task or None, public_only, progress, **wanted)
    half = "public half of " if public_only else ""
    said = f"{opened.ref}: {half}{count(len(folders), 'task')} in {to}"
    write_result({"release": opened.ref, "tasks": [str(folder) for folder in folders]}, said, as_json)


def export(
    release: ReleaseArgument,
    to: Annotated[str, option("DIR", "New folder to write into.")],
    name: Annotated[
        str,
        option("NAME", "harbor, mlebench, nemo-gym, rllm, sandmle, sft, skyrl or verl.", flag="--format"),
    ],
    task: TaskOption = None,
    split: SplitOption = None,
    band: BandOption = None,
    metric: MetricOption = None,
    structure: StructureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write tasks in the format of a trainer or a benchmark.

    DIR appears when it is complete. Equal releases give equal bytes. Every format needs the private half of the
    release; `docs/exports.md` says where each format puts the answers.
    """
    from sandmill.export.base import TEXT_VISIBLE
    from sandmill.export.export import export as write_export
    from sandmill.store.release import load

    opened = load(release)
    with show_progress("exporting") as progress:
        wanted = selection(split=split, band=band, metric=metric, structure=structure)
        task_ids = write_export(opened, name, to, task or None, **wanted, progress=progress)
    facts = {"release": opened.ref, "format": name, "folder": to, "text_visible": name in TEXT_VISIBLE}
    said = f"{opened.ref}: {count(len(task_ids), 'task')} in {to}, format {name}"
    write_result({**facts, "tasks": list(task_ids)}, said, as_json)
