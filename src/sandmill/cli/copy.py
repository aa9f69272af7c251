"""sandmill copy and push: a version to another root, and to a hub of data sets."""

from typing import Annotated

import typer

from sandmill.cli.screen import JsonOption, ReleaseArgument, option, show_progress, switch, write_result
from sandmill.errors import count


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
