"""Run the agent's code as `python solution.py public submission.csv` would, in a process that is already warm."""

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

OUT_OF_MEMORY = 86
"""Exit code after an uncaught MemoryError. The agent can fake it, and gains nothing: both are failures."""

_SCRIPT = "solution.py"


def write_script(code: str) -> None:
    """Put the code where tracebacks and new interpreters look for it."""
    if os.path.lexists(_SCRIPT):
        os.unlink(_SCRIPT)
    with open(_SCRIPT, "w", encoding="utf-8") as file:
        file.write(code)


def run_script(code: str) -> NoReturn:
    """Run the code in the working directory and end the process with its exit code."""
    _freshen()
    main = ModuleType("__main__")
    main.__dict__.update(__file__=os.path.abspath(_SCRIPT), __builtins__=builtins)
    sys.modules["__main__"] = main
    sys.argv = [_SCRIPT, "public", "submission.csv"]
    sys.path.insert(0, os.getcwd())
    status = _ending_of(code, main)
    os._exit(_finish(main, status))


def _freshen() -> None:
    """Undo what the interpreter remembers from before the fork."""
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    tempfile.tempdir = None
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if process := sys.modules.get("multiprocessing.process"):
        # It is drawn at the import, so all runs of a warm interpreter would have the same.
        process.current_process().authkey = os.urandom(32)
    gc.enable()


def _ending_of(code: str, main: ModuleType) -> int:
    try:
        exec(compile(code, main.__dict__["__file__"], "exec", dont_inherit=True), main.__dict__)
    except SystemExit as ending:
        return _exit_code(ending)
    except BaseException as error:
        trace = error.__traceback__
        _show(error.with_traceback(trace.tb_next if trace else None))
        return OUT_OF_MEMORY if isinstance(error, MemoryError) else 1
    return 0


def _show(error: BaseException) -> None:
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


def _finish(main: ModuleType, status: int) -> int:
    """Do what the end of an interpreter does for a script, without taking hundreds of imported modules apart."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        main.__dict__.clear()
        sys.last_value = sys.last_traceback = None
        gc.collect()
    except SystemExit as ending:
        status = _exit_code(ending)
    except BaseException as error:
        _show(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            status = status or 120
    return status
