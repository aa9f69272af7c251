"""Run the agent's code like `python solution.py public submission.csv`, but in a running interpreter."""

import atexit
import builtins
import gc
import os
import random
import signal
import sys
import tempfile
import threading
from types import ModuleType
from typing import NoReturn

from sandmill.sandbox.guest import box, kernel

OUT_OF_MEMORY = 86
"""Exit code after an uncaught MemoryError. The agent can fake it without gain, since both outcomes are failures."""

_SCRIPT = "solution.py"


def run_job(job: box.GuestRun, folder: str) -> NoReturn:
    """Run an agent's code in its working directory, then exit with the exit code of that code."""
    try:
        kernel.set_dumpable(True)
        os.chdir(folder)
        box.set_limits(job.limits)
        # Tracebacks and new interpreters find the code there.
        if os.path.lexists(_SCRIPT):
            os.unlink(_SCRIPT)
        with open(_SCRIPT, "w", encoding="utf-8") as file:
            file.write(job.code)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)
    _reset_inherited_state()
    main = ModuleType("__main__")
    main.__dict__.update(__file__=os.path.abspath(_SCRIPT), __builtins__=builtins)
    sys.modules["__main__"] = main
    sys.argv = [_SCRIPT, "public", "submission.csv"]
    sys.path.insert(0, os.getcwd())
    status = _execute(job.code, main)
    os._exit(_shut_down(main, status))


def _reset_inherited_state() -> None:
    """Reset signal handlers, random generators and caches that were inherited by the fork."""
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    tempfile.tempdir = None
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if process := sys.modules.get("multiprocessing.process"):
        # The key is drawn at the import, so without this all forks would share one key.
        process.current_process().authkey = os.urandom(32)
    gc.enable()


def _execute(code: str, main: ModuleType) -> int:
    try:
        exec(compile(code, main.__dict__["__file__"], "exec", dont_inherit=True), main.__dict__)
    except SystemExit as ending:
        return _exit_code(ending)
    except BaseException as error:
        trace = error.__traceback__
        _print_traceback(error.with_traceback(trace.tb_next if trace else None))
        return OUT_OF_MEMORY if isinstance(error, MemoryError) else 1
    return 0


def _print_traceback(error: BaseException) -> None:
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException:
        os.write(2, f"{type(error).__name__}\n".encode())


def _exit_code(ending: SystemExit) -> int:
    if ending.code is None:
        return 0
    if isinstance(ending.code, int):
        return ending.code & 0xFF
    sys.stderr.write(f"{ending.code}\n")
    return 1


def _shut_down(main: ModuleType, status: int) -> int:
    """Shut down like an interpreter (threads, atexit, streams), but skip the slow clean-up of imported modules."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        main.__dict__.clear()
        sys.last_value = sys.last_traceback = None
        gc.collect()
    except SystemExit as ending:
        status = _exit_code(ending)
    except BaseException as error:
        _print_traceback(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            status = status or 120
    return status
