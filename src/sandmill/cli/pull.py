"""sandmill pull, export, copy and push: tasks as folders and in formats of trainers; versions to roots and hubs."""

from typing import Annotated

import typer

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


def copy(
    release: ReleaseArgument,
    root: Annotated[str, typer.Argument(metavar="ROOT", help="Folder or S3 prefix that holds datasets.")],
    public_only: Annotated[bool, switch("--public-only", "Without the private half and the reports.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy a version to ROOT/DATASET/VERSION, byte by byte.

    It is verified before and after. The manifest is written last, so readers see the whole version or none. Run it
    again to continue: files that are there already are left alone.
    """
    from sandmill.store.copy import copy_release
    from sandmill.store.release import load

    opened = load(release)
    with show_progress("copying") as progress:
        copied = copy_release(opened, root, public_only=public_only, progress=progress)
    half = "public half of " if public_only else ""
    said = f"{opened.ref}: {half}{count(copied.manifest.tasks, 'task')} in {copied.ref}, all holds"
    write_result({"release": opened.ref, "copy": copied.ref}, said, as_json)


def push(
    release: ReleaseArgument,
    to: Annotated[str, typer.Argument(metavar="hf://datasets/ORG/NAME", help="Repository of the public half.")],
    private_to: Annotated[
        str,
        option("REPO", "Also send both halves to hf://datasets/ORG/NAME, which must exist and be private."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Send the public half of a version to a hub of data sets, in one commit; with --private-to, both halves elsewhere.

    README.md lists the files of each split, so `datasets.load_dataset` reads them. The version is verified first.
    Answers go only to a repository that the hub says is private. huggingface_hub reads your token (`hf auth login` or
    HF_TOKEN).
    """
    from sandmill.store.hub import push as send
    from sandmill.store.release import load

    opened = load(release)
    with show_progress("verifying") as progress:
        sent = send(opened, to, private_to, progress)
    said = "\n".join(f"{opened.ref}: {half} in {ref}" for half, ref in sent.items())
    write_result({"release": opened.ref, "sent": sent}, said, as_json)
