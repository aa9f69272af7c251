"""The last screen of a build: what was made, what was lost on the way, what to type next."""

import json

from sandmill.cli.screen import open_console
from sandmill.models.reports import Funnel
from sandmill.report import ending_table, funnel_table, to_rich
from sandmill.store.release import Release, load

_MOST_TASKS = 40


def show_ending(reference: str) -> None:
    """Print a release's tasks and funnel, and the next commands.

    Args:
        reference: <root>/<dataset>@<version>, as the build gives it.
    """
    console, release = open_console(), load(reference)
    shown = release.tasks["task_id"].to_list()[:_MOST_TASKS]
    console.print(to_rich(ending_table((release.record(task_id) for task_id in shown), release.slot_reports())))
    if len(release.tasks) > _MOST_TASKS:
        console.print(f"and {len(release.tasks) - _MOST_TASKS} more tasks")
    console.print(to_rich(funnel_table(Funnel.model_validate_json(release.report("funnel.json") or b"{}"))))
    for line in (*_set_aside(release), "", f"Published {reference}. Next:", *_commands(reference, shown[0])):
        console.print(line)


def _set_aside(release: Release) -> list[str]:
    seeds = json.loads(release.report("seeds.json") or b'{"set_aside": []}')["set_aside"]
    return [f"Seed set aside: {seed['id']} needs {', '.join(seed['needs'])}." for seed in seeds]


def _commands(reference: str, task_id: str) -> list[str]:
    return [
        f"  sandmill show {reference} {task_id}",
        f"  sandmill pull {reference} --to pulled",
        f"  sandmill grade pulled/{task_id} pulled/{task_id}/public/sample_submission.csv",
        f"  sandmill verify {reference} --rerun",
    ]
