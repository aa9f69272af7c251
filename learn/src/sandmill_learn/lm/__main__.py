"""The phases as a command: `python -m sandmill_learn.lm PHASE`, or `python -m lm PHASE` in a prepared folder."""

import os
import sys
import traceback
from collections.abc import Sequence

from sandmill_learn.lm.folder import Record
from sandmill_learn.lm.settings import Arguments, parse


def main(given: Sequence[str] | None = None) -> int:
    """Run a phase, and return 0 if nothing failed."""
    arguments = parse(given)
    record = Record(arguments.out)
    try:
        if arguments.phase == "prepare":
            from sandmill_learn.lm.prepare import prepare

            prepare(arguments, record)
            return 0
        return _run(arguments, record)
    except Exception:
        record.say(traceback.format_exc())
        return 1


def _run(arguments: Arguments, record: Record) -> int:
    """Start the pool before torch, which maps memory and starts threads, and then the phases."""
    _limit_threads()
    from sandmill_learn.lm.grading import read_tables
    from sandmill_learn.lm.scripts import Pool, default_workers

    tables = read_tables(arguments.folder)
    workers = arguments.workers or default_workers()
    with Pool(arguments.folder, tables, workers) as pool:
        record.say(f"{len(tables)} tables, {workers} workers")
        if arguments.phase == "trl":
            from sandmill_learn.lm.trl import train_with_trl

            train_with_trl(arguments, tables, pool, record)
            return 0
        from sandmill_learn.lm.run import run_phases

        return run_phases(arguments, tables, pool, record)


def _limit_threads() -> None:
    """Limit numpy to one thread a process. Must run before numpy is imported."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
        os.environ[name] = "1"


if __name__ == "__main__":
    sys.exit(main())
