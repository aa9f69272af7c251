"""The agent process: a fork of the warm interpreter that joins the namespaces of its run and runs the agent's code.

`run_job` runs code like `python solution.py public submission.csv`, but in a running interpreter, also for `cold.py`.
"""

import atexit
import builtins
import gc
import os
import random
import signal
import socket
import sys
import tempfile
import threading
from types import ModuleType
from typing import NoReturn

from sandmill.sandbox.guest import box, kernel
from sandmill.sandbox.guest.preload import Span, touch_ahead

OUT_OF_MEMORY = 86
"""Exit code after an uncaught MemoryError. The agent can fake it without gain, since both outcomes are failures."""

_SCRIPT = "solution.py"


def run_agent_process(job_socket: socket.socket, init_socket: socket.socket, init: int, spans: list[Span]) -> NoReturn:
    """Wait for a job and run it. The process may be forked before the job exists, and touches memory meanwhile.

    `job_socket` receives the descriptors of the job, standard output, standard error and the set-up socket. `init` is
    the pidfd of the init process.
    """
    box.close_all_but(job_socket.fileno(), init_socket.fileno(), init)
    kernel.die_with_parent()
    os.setsid()
    touch_ahead(spans, job_socket)
    message, descriptors, _, _ = socket.recv_fds(job_socket, 16, 4)
    if not message:
        os._exit(0)
    job_at, stdout, stderr, setup_at = descriptors
    setup_socket = socket.socket(fileno=setup_at)
    try:
        box.replace_stream(1, stdout)
        box.replace_stream(2, stderr)
        # Parse the job before sending it: an init process that cannot parse it ends, and this process with it, so that
        # nobody would report the error.
        job = box.GuestRun(job_at)
        socket.send_fds(init_socket, [b"job"], [job_at])
        box.prefer_as_oom_victim()
        box.restrict_to_processors(job.processors)
        _join_namespaces(init_socket, init, setup_socket)
    except BaseException as error:
        box.report_error(setup_socket, error)
    run_job(job, box.WORK)


def _join_namespaces(init_socket: socket.socket, init: int, setup_socket: socket.socket) -> None:
    """Join the namespaces of the run, let the parent copy files in, and drop all rights."""
    reply = init_socket.recv(1 << 12).decode(errors="replace")
    if not reply.startswith("furnished "):
        raise ConnectionError(reply.removeprefix("error ") or "the init process of the run is gone")
    uid = int(reply.split()[1])
    kernel.enter_namespace(init, kernel.RUN_NAMESPACES)
    if not uid:
        kernel.enter_namespace(init, kernel.CLONE_NEWUSER)
    init_socket.send(b"joined")
    # Standard input reads /dev/null from the file system of the run, so that no file of the host stays open.
    box.replace_stream(0, os.open("/dev/null", os.O_RDONLY))
    box.report_ready(setup_socket, uid)
    box.become_agent(uid)
    kernel.die_with_parent()
    box.report_started(setup_socket)


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
