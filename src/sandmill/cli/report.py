"""sandmill report and curriculum: a release as a page, and which of its tasks a model solves."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import (
    JsonOption,
    ReleaseArgument,
    open_console,
    option,
    refuse_options,
    show_progress,
    write_json,
    write_text,
)
from sandmill.errors import InputError, Problem, count

if TYPE_CHECKING:
    from sandmill.report.html.figure import Edition

REPORT_EXAMPLES = (
    "Examples: `sandmill report releases/micro --to report` · "
    "`sandmill report s3://bucket/releases/micro@3 --to report --private` · "
    "`sandmill report releases/micro@2 --to report --rollouts rollouts/base "
    "--rollouts after=rollouts/step-100`"
)
CURRICULUM_EXAMPLES = (
    "Examples: `sandmill curriculum releases/micro rollouts` · "
    "`sandmill curriculum releases/micro rollouts/base rollouts/step-100 --to curriculum.json`"
)


def report(
    release: ReleaseArgument,
    to: Annotated[str, option("DIR", "New folder, local or s3://, to write into.")],
    private: Annotated[
        bool, typer.Option("--private", help="With thresholds, scores and difficulty: not for agents to see.")
    ] = False,
    rollouts: Annotated[
        list[str] | None,
        option(
            "[LABEL=]PLACE",
            "Show what models earned: a folder of `sandmill rollout` or a Parquet file; may be repeated. Others are "
            "compared with the first.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a page on a release, report.html, and its numbers for programs, qc.json.

    The page is one file that loads nothing, so that it opens from a disk as from a web server. It lists the tasks with
    filters and search, shows each task, and tells how the build went, with the SQL behind each figure.

    Every version has its public page in `reports/report.html` already.
    """
    from sandmill.publish.overlay import rollouts_section
    from sandmill.publish.release_report import PAGE, check_folder, make_report, write_folder
    from sandmill.store.release import load

    opened = load(release)
    edition: Edition = "private" if private else "public"
    if private and not opened.has_private:
        problem = Problem("--private", "no private half that is readable here", "private/ of the release")
        raise InputError(opened.ref, [problem], "Nothing was written.")
    check_folder(to)
    with show_progress("making the report"):
        extra = [rollouts_section(opened, edition, rollouts)] if rollouts else []
        made = make_report(opened, edition, extra)
        write_folder(to, made.files, owner_only=private)
    place = to.rstrip("/")
    if as_json:
        files = {name: f"{place}/{name}" for name in sorted(made.files)}
        write_json({"release": opened.ref, "edition": edition, "tasks": made.tasks, "files": files})
    else:
        write_text(f"{opened.ref}: {count(made.tasks, 'task')}, {edition} edition, in {place}/{PAGE}")


def curriculum(
    release: ReleaseArgument,
    rollouts: Annotated[
        list[str], typer.Argument(metavar="ROLLOUTS...", help="Folders that `sandmill rollout` wrote.")
    ],
    to: Annotated[Path | None, option("FILE", "Write the JSON object into a file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the tasks that rollouts solve always, sometimes and never, with their band and structure.

    A rollout solves a task with bronze or better. The frontier are the tasks that some rollouts solve and some do not.
    Tasks whose rewards differ within the rollouts of one folder are marked too, since GRPO also learns from those.
    """
    from sandmill.play.release import load
    from sandmill.report.rollouts import Solved, curriculum_table, make_curriculum
    from sandmill.store.files import Store
    from sandmill.store.rollouts import RolloutFolder, check_release

    refuse_options(
        "sandmill curriculum",
        "Nothing was written.",
        (to and as_json, Problem("--to", "--json", "only one of them", "--to writes the same object into a file.")),
        (
            len(set(rollouts)) < len(rollouts),
            Problem("ROLLOUTS", "the same folder twice", "each folder once", "Its rollouts would count twice."),
        ),
    )
    opened = load(release)
    folders = [RolloutFolder(Store(name)) for name in rollouts]
    check_release(opened, folders)
    found = make_curriculum(opened.ref, [folder.facts() for folder in folders], opened.places())
    if as_json or to:
        tasks = [task.model_dump(mode="json") for task in found.tasks]
        kinds = {kind.value: [task.task_id for task in found.of(kind)] for kind in Solved}
        differing = [task.task_id for task in found.tasks if task.has_reward_variance]
        facts = {"release": found.release, **kinds, "reward_variance": differing, "tasks": tasks}
        if to is None:
            write_json(facts)
            return
        _write_file(to, json.dumps(facts, indent=2) + "\n")
        write_text(f"{opened.ref}: {count(len(found.tasks), 'task')} in {to}")
        return
    console = open_console()
    console.print(f"{found.release}: {count(len(found.tasks), 'task')} with rollouts", style="bold", soft_wrap=True)
    for kind in (Solved.FRONTIER, Solved.NEVER, Solved.ALWAYS):
        solved = found.of(kind)
        differ = sum(task.has_reward_variance for task in solved)
        console.print(f"\n{kind}: {count(len(solved), 'task')}, {differ} with different rewards in a group")
        if solved:
            console.print_table(curriculum_table(solved))


def _write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        staged.write_text(text, encoding="utf-8")
        staged.replace(path)
    except OSError as error:
        saw = error.strerror or str(error)
        problem = Problem("--to", f"{path}: {saw}", "a file in a folder that exists")
        raise InputError("sandmill curriculum", [problem]) from error
    finally:
        staged.unlink(missing_ok=True)
