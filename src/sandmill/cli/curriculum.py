"""sandmill curriculum: which tasks a model solves always, never, and sometimes."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import JsonOption, ReleaseArgument, open_console, refuse_options, write_json, write_text
from sandmill.errors import InputError, Problem, count

if TYPE_CHECKING:
    from sandmill.report.rollouts import Curriculum

CURRICULUM_EXAMPLES = (
    "Examples: `sandmill curriculum releases/micro rollouts` · "
    "`sandmill curriculum releases/micro rollouts/base rollouts/step-100 --to curriculum.json`"
)


def curriculum(
    release: ReleaseArgument,
    rollouts: Annotated[
        list[str], typer.Argument(metavar="ROLLOUTS...", help="Folders that `sandmill rollout` wrote.")
    ],
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Write the JSON object into a file.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the tasks that rollouts solve always, sometimes and never, with their band and structure.

    A rollout solves a task with bronze or better. The frontier are the tasks that some rollouts solve and some do not.
    Tasks whose rewards differ within the rollouts of one folder are marked too, since GRPO also learns from those.
    """
    from sandmill.play.release import load
    from sandmill.report.rollouts import make_curriculum
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
    if as_json:
        write_json(_describe(found))
    elif to:
        _write_file(to, json.dumps(_describe(found), indent=2) + "\n")
        write_text(f"{opened.ref}: {count(len(found.tasks), 'task')} in {to}")
    else:
        _print(found)


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


def _describe(found: "Curriculum") -> dict[str, object]:
    """Return the object for --json: ids by kind, and all facts of each task."""
    from sandmill.report.rollouts import Solved

    kinds = {kind.value: [task.task_id for task in found.of(kind)] for kind in Solved}
    differing = [task.task_id for task in found.tasks if task.has_reward_variance]
    tasks = [task.model_dump(mode="json") for task in found.tasks]
    return {"release": found.release, **kinds, "reward_variance": differing, "tasks": tasks}


def _print(found: "Curriculum") -> None:
    from sandmill.report.rollouts import Solved, curriculum_table

    console = open_console()
    console.print(f"{found.release}: {count(len(found.tasks), 'task')} with rollouts", style="bold", soft_wrap=True)
    for kind in (Solved.FRONTIER, Solved.NEVER, Solved.ALWAYS):
        tasks = found.of(kind)
        differing = sum(task.has_reward_variance for task in tasks)
        console.print(f"\n{kind}: {count(len(tasks), 'task')}, {differing} with different rewards in a group")
        if tasks:
            console.print_table(curriculum_table(tasks))
