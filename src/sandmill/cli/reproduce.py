"""sandmill reproduce: render one task again and compare its bytes."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import JsonOption, ReleaseArgument, show_progress, write_json, write_text
from sandmill.errors import InputError, Problem, count, visible

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease
    from sandmill.verify.reproduce import FileCheck, Reproduction

EXAMPLES = (
    "Examples: `sandmill reproduce releases/micro sm3f9a1c0d5e7b --secret-file releases/micro/secret/release.key` · "
    "`sandmill reproduce s3://bucket/releases/micro@3 sm3f9a1c0d5e7b --secret-file release.key --json`"
)


def reproduce(
    release: ReleaseArgument,
    task: Annotated[str, typer.Argument(metavar="TASK", help="Id of one task.", show_default=False)],
    secret_file: Annotated[
        str | None,
        typer.Option(
            "--secret-file",
            metavar="FILE",
            help="The release secret, local or on S3. Only for a release that you trust: a design may be made to "
            "render for ever.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Render a task again from its recorded design and the release secret, and compare every file byte by byte.

    Public files and answers are rendered; leaderboard.csv and the values of task.json follow from the record. Scripts
    come from calibration and are not compared: `sandmill verify --rerun` runs them and compares their scores.

    Exit code 1 if a file differs, which it names.
    """
    from sandmill.cli.secret import matching_secret
    from sandmill.store.release import load
    from sandmill.verify.reproduce import reproduce_task

    opened = load(release)
    opened.check_ids([task])
    opened.require_private()
    secret = matching_secret(opened, secret_file or _refuse_without(opened))
    with show_progress("rendering again"):
        found = reproduce_task(opened.package(task), opened.record(task), secret)
    if as_json:
        write_json({"release": opened.ref, "holds": found.holds, **found.model_dump(mode="json")})
    else:
        _print(opened.ref, found)
    if not found.holds:
        raise typer.Exit(1)


def _refuse_without(release: "StoredRelease") -> str:
    """Raise an error that names the secret that is needed, and where it may lie."""
    from sandmill.store.secret import SECRET_PATH

    hint = f"A build keeps it in {release.store.where(SECRET_PATH)}, or uses the file of its own --secret-file."
    wanted = f"a file with secret {release.manifest.secret_id}"
    problem = Problem("--secret-file", "nothing", wanted, hint)
    raise InputError(release.ref, [problem], "Nothing was rendered: no draw can be repeated without the secret.")


def _print(ref: str, found: "Reproduction") -> None:
    where = f"{ref}: task {found.task_id}"
    if found.failure:
        write_text(f"{where}: not reproduced: {found.failure}", to_stderr=True)
    for check in found.files:
        at = f" from line {check.line}" if check.line else ""
        write_text(f"  {check.verdict.value:<12} {visible(check.path)}{at}")
    for name, (recorded, installed) in found.libraries.items():
        write_text(f"  note: made with {visible(name)} {visible(recorded)}, here is {installed}")
    if found.holds:
        write_text(f"{where}: {count(_number(found.files, 'equal'), 'file')} equal")
    elif not found.failure:
        wrong = [check.path for check in found.files if check.verdict.value in ("differs", "missing", "extra")]
        note = "Other code or libraries may render other bytes; see the code with: sandmill show --lineage"
        write_text(f"{where}: {count(len(wrong), 'file')} not equal: {', '.join(wrong)}\n{note}", to_stderr=True)


def _number(files: "tuple[FileCheck, ...]", verdict: str) -> int:
    return sum(check.verdict.value == verdict for check in files)
