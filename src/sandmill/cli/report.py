"""sandmill report and curriculum: a release as a page, and which of its tasks a model solves."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import (
    JsonOption,
    ReleaseArgument,
    open_console,
    option,
    show_progress,
    switch,
    write_json,
    write_result,
)
from sandmill.errors import InputError, Problem, count, require_extra

if TYPE_CHECKING:
    from sandmill.report.html.figure import Edition


def report(
    release: ReleaseArgument,
    to: Annotated[str, option("DIR", "New local folder to write into.")],
    private: Annotated[
        bool, switch("--private", "With thresholds, scores and difficulty: not for agents to see.")
    ] = False,
    rollouts: Annotated[
        str | None, option("DIR", "With --private: folder of rollouts, some of which the page shows.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a page on a release, report.html, and its numbers for programs, report.json.

    The page is one file that loads nothing, so that it opens from a disk as from a web server. It lists the tasks with
    filters and search, shows each task, and tells how the build went, with the SQL behind each figure.

    Every version has its public page in `reports/report.html` already.
    """
    with require_extra("report", "sandmill report"):
        import duckdb  # noqa: F401
        import jinja2  # noqa: F401
        import PIL.Image  # noqa: F401
    from sandmill.publish.release_report import PAGE, make_report
    from sandmill.store.files import Store
    from sandmill.store.pull import check_new_folder, write_new_folder
    from sandmill.store.release import load
    from sandmill.store.rollouts import RolloutFolder, check_release

    opened = load(release)
    edition: Edition = "private" if private else "public"
    if private and not opened.has_private:
        problem = Problem("--private", "no private half that is readable here", "private/ of the release")
        raise InputError(opened.ref, [problem], "Nothing was written.")
    if rollouts is not None and not private:
        problem = Problem("--rollouts", "no --private", "--private beside it", "Rollouts show grades.")
        raise InputError(opened.ref, [problem], "Nothing was written.")
    folder = check_new_folder(to, "sandmill report")
    folders = [RolloutFolder(Store(rollouts))] if rollouts is not None else []
    check_release(opened, folders)
    with show_progress("making the report"):
        made = make_report(opened, edition, (record for one in folders for record in one.records()))
        write_new_folder(folder, made.items(), owner_only=private)
    place = to.rstrip("/")
    files = {name: f"{place}/{name}" for name in sorted(made)}
    tasks = opened.manifest.tasks
    facts = {"release": opened.ref, "edition": edition, "tasks": tasks, "files": files}
    write_result(facts, f"{opened.ref}: {count(tasks, 'task')}, {edition} edition, in {files[PAGE]}", as_json)


def curriculum(
    release: ReleaseArgument,
    rollouts: Annotated[
        list[str] | None, typer.Argument(metavar="[ROLLOUTS]...", help="Folders that `sandmill rollout` wrote.")
    ] = None,
    profiles: Annotated[
        bool,
        switch("--profiles", "Also write profiles/MODEL.json beside the versions: mean, sd and n of rewards by task."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the tasks that rollouts solve always, sometimes and never, and propose a curriculum of reading.

    A rollout solves a task with bronze or better. The frontier are the tasks that some rollouts solve and some do not.
    Tasks whose rewards differ within the rollouts of one folder are marked too, since GRPO also learns from those.

    The curriculum of reading sorts training tasks by what their texts state: one plain fact, then more facts and harder
    levels. Most of the mix goes to the first stage that rollouts do not master. It needs no rollouts.
    """
    from sandmill.play.release import load
    from sandmill.report.rollouts import (
        Solved,
        curriculum_table,
        make_curriculum,
        reading_stages,
        reading_table,
        reward_profiles,
    )
    from sandmill.store.files import Store
    from sandmill.store.rollouts import RolloutFolder, check_release

    opened = load(release)
    folders = [RolloutFolder(Store(name)) for name in dict.fromkeys(rollouts or [])]
    check_release(opened, folders)
    found = make_curriculum(opened.ref, [folder.facts() for folder in folders], opened.places())
    made = [folder.require() for folder in folders] if profiles else []
    triples = ((one.model, one.reward, folder.facts()) for one, folder in zip(made, folders, strict=False))
    written = reward_profiles(opened.version, triples)
    for profile in written:
        opened.store.write(profile.path, f"{profile.model_dump_json(indent=1)}\n".encode(), owner_only=True)
    stages = reading_stages(map(opened.record, opened.task_ids), {task.task_id: task for task in found.tasks})
    if as_json:
        write_json(
            {
                "release": found.release,
                **{kind.value: [task.task_id for task in found.of(kind)] for kind in Solved},
                "reward_variance": [task.task_id for task in found.tasks if task.has_reward_variance],
                "tasks": [task.model_dump(mode="json") for task in found.tasks],
                "reading": [stage.model_dump() for stage in stages],
                "profiles": [opened.store.where(profile.path) for profile in written],
            }
        )
        return
    console = open_console()
    console.print_table(reading_table(stages))
    for profile in written:
        console.print(f"{profile.model}: rewards in {opened.store.where(profile.path)}")
    if not rollouts:
        return
    console.print(f"\n{found.release}: {count(len(found.tasks), 'task')} with rollouts", style="bold")
    for kind in (Solved.FRONTIER, Solved.NEVER, Solved.ALWAYS):
        solved = found.of(kind)
        differ = sum(task.has_reward_variance for task in solved)
        console.print(f"\n{kind}: {count(len(solved), 'task')}, {differ} with different rewards in a group")
        if solved:
            console.print_table(curriculum_table(solved))
