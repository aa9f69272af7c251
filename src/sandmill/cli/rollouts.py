"""sandmill rollouts: read one stored rollout, and look for reward hacking in all of them."""

from typing import Annotated

import typer

from sandmill.cli.app import SETTINGS
from sandmill.cli.screen import JsonOption, open_console, option, write_json
from sandmill.errors import InputError, Problem, count, name_some

_SHOW = "`sandmill rollouts show rollouts/base sm366958470390 --sample 3`"
_CHECK = "`sandmill rollouts check rollouts/base` · `sandmill rollouts check rollouts/step-0 rollouts/step-100`"
_SHOWN = 2000
"""Characters of a message without --full."""

rollouts = typer.Typer(
    no_args_is_help=True, help="Read stored rollouts, and check them for reward hacking.", **SETTINGS
)


@rollouts.command("show", epilog=f"Example: {_SHOW}")
def show(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folder that `sandmill rollout` wrote.")],
    task: Annotated[str, typer.Argument(metavar="TASK", help="Id of the task.")],
    sample: Annotated[int | None, option("N", "Number of the rollout of the task; else the first.", min=0)] = None,
    full: Annotated[bool, typer.Option("--full", help="Do not shorten long messages.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show one rollout: outcome, credit, steps with feedback, and all messages with the code.

    It shows grades: keep it from agents.
    """
    from sandmill.play.observation import shorten_output
    from sandmill.report.rollouts import trajectory
    from sandmill.store.files import Store
    from sandmill.store.rollouts import RolloutFolder

    stored = RolloutFolder(Store(folder))
    stored.require()
    records = {record.rollout.sample: record for record in stored.records(task)}
    if not records:
        known = name_some(sorted({one.task_id for one in stored.facts()}))
        raise InputError(folder, [Problem("TASK", f"{task}, which has no rollout here", f"one of {known}")])
    numbers = name_some(map(str, sorted(records)))
    record = records.get(min(records) if sample is None else sample)
    if record is None:
        raise InputError(folder, [Problem("--sample", str(sample), f"one of {numbers}")])
    if as_json:
        write_json(record.model_dump(mode="json"))
        return
    console = open_console()
    for title, text in trajectory(record, console.width):
        console.print(f"--- {title} ---", style="bold")
        console.print((text if full else shorten_output(text, _SHOWN)) + "\n")
    console.print(f"{count(len(records), 'rollout')} of this task: {numbers}")


@rollouts.command("check", epilog=f"Examples: {_CHECK}")
def check(
    folders: Annotated[list[str], typer.Argument(metavar="DIR", help="Folders in the order of the training.")],
    as_json: JsonOption = False,
) -> None:
    """Look for identical scripts, a part that dominates the reward, lengths that drift, and searches for answers.

    A finding names episodes to read, and the exit code is 0. docs/rollouts.md states the thresholds.
    """
    from sandmill.report.rollout_checks import KINDS, check_rollouts
    from sandmill.store.files import Store
    from sandmill.store.rollouts import RolloutFolder

    opened = {name: RolloutFolder(Store(name)) for name in folders}
    is_greedy = max(folder.require().temperature for folder in opened.values()) == 0
    number, findings = check_rollouts({name: folder.records() for name, folder in opened.items()}, is_greedy)
    if as_json:
        write_json({"rollouts": number, "findings": [finding.model_dump() for finding in findings]})
        return
    console = open_console()
    console.print(f"{count(number, 'rollout')} checked", style="bold")
    for finding in findings:
        console.print(f"\n{finding.kind}: {finding.words}")
        for name, task_id, sample in finding.examples:
            console.print(f"  sandmill rollouts show {name} {task_id} --sample {sample}")
    if clean := [kind for kind in KINDS if kind not in {finding.kind for finding in findings}]:
        console.print(f"\nNothing found: {', '.join(clean)}")
