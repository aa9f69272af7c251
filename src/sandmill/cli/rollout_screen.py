"""Progress of rollouts while they run, and their figures at the end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sandmill.cli.screen import open_console
from sandmill.errors import count
from sandmill.report.rollouts import RolloutFigures, figure_lines, groups_table, pass_table

if TYPE_CHECKING:
    from sandmill.play.batch import BatchEnd, BatchProgress

_MOST_ERRORS = 5


@contextmanager
def show_rollouts() -> Iterator[Callable[["BatchProgress"], None]]:
    """Show finished rollouts and their cost on standard error, if that is a terminal."""
    columns = (TextColumn("rollouts"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[cost]}"))
    console, is_quiet = Console(stderr=True), not sys.stderr.isatty()
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=is_quiet, transient=True) as bar:
        task = bar.add_task("rollouts", total=None, cost="")

        def update(state: "BatchProgress") -> None:
            masked = f", {state.masked} masked" if state.masked else ""
            bar.update(task, completed=state.done, total=state.total, cost=f"{state.usd:.4f} USD{masked}")

        yield update


def print_figures(title: str, figures: RolloutFigures) -> None:
    """Print all figures."""
    console = open_console()
    rollouts = count(figures.all.rollouts, "rollout")
    masked = f", and {figures.masked} masked" if figures.masked else ""
    console.print(f"{title}: {rollouts} of {count(figures.tasks, 'task')}{masked}", style="bold", soft_wrap=True)
    for table in (groups_table(figures), pass_table(figures)):
        if table.rows:
            console.print_table(table)
    for line in figure_lines(figures):
        console.print(line)


def problem_lines(end: "BatchEnd", unfinished: int) -> list[str]:
    """Describe why a batch is not complete; nothing if it is."""
    lines = [f"{task_id}, rollout {sample}: {error}" for (task_id, sample), error in end.errors.items()]
    lines = lines[:_MOST_ERRORS] + ([f"and {len(lines) - _MOST_ERRORS} more"] if len(lines) > _MOST_ERRORS else [])
    if end.spend_limit:
        lines.append(f"The money of --max-usd is spent: {end.spend_limit}.")
    if unfinished:
        lines.append(f"{count(unfinished, 'rollout')} not finished. Run the same command again to continue.")
    return lines
