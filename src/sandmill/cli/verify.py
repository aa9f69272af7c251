"""sandmill verify: check a release against its hashes, repeat its runs, render its tasks again."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import (
    JsonOption,
    ReleaseArgument,
    TaskOption,
    option,
    show_progress,
    switch,
    write_json,
    write_text,
)
from sandmill.errors import InputError, Problem, SandboxUnavailable, count, require_extra, visible

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease
    from sandmill.verify.rerun import TaskRerun

_NOT_RENDERED = "not rendered again: that takes the release secret, --secret-file"


def verify(
    release: ReleaseArgument,
    rerun: Annotated[
        bool, switch("--rerun", "Also run references and panels again, grade, and recompute all measures.")
    ] = False,
    secret_file: Annotated[
        Path | None,
        option(
            "FILE",
            "With --rerun: the release secret, to render each design again. Only for a release that you trust: a "
            "design may render for ever.",
        ),
    ] = None,
    unconfined: Annotated[
        bool,
        switch(
            "--unconfined",
            "DANGER, with --rerun: where this machine has no sandbox, run the release's scripts as plain "
            "processes that may do all that you may. Only for a release that you built yourself.",
        ),
    ] = False,
    task: TaskOption = None,
    public_only: Annotated[
        bool, switch("--public-only", "Check the public half alone, for a copy without the private one.")
    ] = False,
    certificate: Annotated[
        bool, switch("--certificate", "Also compute the figures of qc.json again from the bytes.")
    ] = False,
    public_key: Annotated[
        Path | None,
        option("FILE", "With --certificate: Ed25519 public key (PEM) by which qc.json must be signed."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read every byte of a release and check it against its hashes; with --rerun, prove its facts again.

    A release may be a stranger's: names and sizes are checked, and with --rerun its scripts run in the sandbox or not
    at all. Exit code 1 if anything does not hold.
    """
    from sandmill.store.release import load
    from sandmill.store.verify import verify_hashes

    alone = ("no --rerun", "--rerun beside it")
    rules = (
        (secret_file and not rerun, Problem("--secret-file", *alone, "Only a rerun renders again.")),
        (task and not rerun, Problem("--task", *alone, "Hashes are always checked for all tasks.")),
        (unconfined and not rerun, Problem("--unconfined", *alone, "Nothing else runs scripts.")),
        (public_key and not certificate, Problem("--public-key", "no --certificate", "--certificate beside it")),
        (
            rerun and public_only,
            Problem("--rerun", "--public-only", "only one of them", "Grading needs the private half."),
        ),
    )
    if broken := [problem for is_broken, problem in rules if is_broken]:
        raise InputError("sandmill verify", broken, "Nothing was checked.")
    if rerun:
        _check_packages()
        _check_sandbox(unconfined)
    opened = load(release)
    if task:
        opened.check_ids(task)
    if not (public_only or opened.has_private):
        hint = "A copy of the public half alone is checked with --public-only."
        raise InputError(opened.ref, [Problem("private half", "nothing readable", "private/ of the release", hint)], "")
    with show_progress("reading files") as progress:
        problems = verify_hashes(opened, public_only=public_only, progress=progress)
    proves = ""
    if certificate and not problems:
        from sandmill.publish.certificate import certificate_problems, describe_signature

        problems = certificate_problems(opened, public_only=public_only, public_key=public_key)
        proves = describe_signature(opened, public_key)
    secret = matching_secret(opened, str(secret_file)) if secret_file else None
    chosen: tuple[str, ...] = ()
    other: list[TaskRerun] = []
    if rerun and not problems:
        chosen = tuple(task) if task else opened.task_ids
        from sandmill.verify.rerun import rerun_tasks

        # Solvers of the panel warn of what their scores show anyway, such as a fit that did not converge.
        with show_progress("running again") as progress, warnings.catch_warnings(action="ignore"):
            ran_again = rerun_tasks(opened, chosen, secret, unconfined=unconfined, progress=progress)
        problems = [f"task {one.task_id}: {problem}" for one in ran_again for problem in one.problems]
        other = [one for one in ran_again if one.made_by]
    if as_json:
        facts = {"release": opened.ref, "holds": not problems, "problems": problems}
        facts |= {"parts": len(opened.manifest.parts), "tasks": opened.manifest.tasks, "rerun": len(chosen)}
        facts |= {"certificate": proves or None}
        told = [one.model_dump(mode="json", exclude={"problems"}) for one in other]
        write_json({**facts, "other_code": told})
    else:
        for ran in other:
            write_text(f"task {ran.task_id}: {visible(ran.describe_code())}")
        if problems:
            listed = (f"  {visible(line)}" for line in problems)
            write_text("\n".join([f"{opened.ref}: {count(len(problems), 'problem')}", *listed]), to_stderr=True)
        else:
            half = "public half of " if public_only else ""
            said = f"{opened.ref}: {half}{count(opened.manifest.tasks, 'task')}: "
            differing = sum(bool(one.differences) for one in other)
            said += f"{count(differing, 'task')} of other code with differences, all else" if differing else "all"
            rendered = "rendered from the design" if secret else _NOT_RENDERED
            write_text(f"{said} holds" + (f", {count(len(chosen), 'task')} ran again ({rendered})" if rerun else ""))
            if proves:
                write_text(f"qc.json: computed again from the bytes; {proves}")
    if problems:
        raise typer.Exit(1)


def _check_packages() -> None:
    """The panel of a task runs in this process, and reads tables with pandas and pictures with Pillow."""
    with require_extra("rerun", "sandmill verify --rerun"):
        import pandas  # noqa: F401
        import PIL  # noqa: F401


def _check_sandbox(unconfined: bool) -> None:
    from sandmill.sandbox.sandbox import choose_backend
    from sandmill.verify.verify import trusting_backend

    if unconfined:
        if trusting_backend() == "subprocess":
            write_text("Warning: the scripts of this release run unconfined, with all your rights.", to_stderr=True)
        return
    try:
        choose_backend("auto")
    except SandboxUnavailable as error:
        hint = "If you built this release yourself, --unconfined runs its scripts as plain processes with your rights."
        problem = Problem("--rerun", "no way to confine a stranger's scripts", "a sandbox", hint)
        raise SandboxUnavailable("a confined rerun", [*error.problems, problem]) from error


def matching_secret(release: "StoredRelease", place: str) -> bytes:
    """Return the secret in a file, local or on S3.

    Raises:
        InputError: it cannot be read, or belongs to another release.
    """
    from sandmill.store.secret import read_secret_file, secret_id

    secret = read_secret_file(place)
    if secret_id(secret) == release.manifest.secret_id:
        return secret
    seen, wanted = f"secret {secret_id(secret)}", f"secret {release.manifest.secret_id}"
    raise InputError(place, [Problem("--secret-file", seen, wanted)], footer="Nothing ran again.")
