"""Runs scripts of a model in a pool of forked interpreters, and grades what they write.

Start the pool before CUDA is used: it forks. Each worker has a child without answers, from which every script is
forked: the libraries are loaded already, and processor time, memory and files are limited.
"""

import contextlib
import math
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from sandmill_learn.lm.grading import Graded, Grader, Table

CPU_SECONDS, WALL_SECONDS, MEMORY_BYTES = 6, 20.0, 3 << 30
"""Limits of one script."""
LOST_SECONDS = 60.0
"""Time to wait for a script, those before it included, after which its worker counts as lost."""
_FILE_BYTES = 32 << 20
_NOBODY, _NEW_NETWORK = 65534, 0x40000000
_NAME = "submission.csv"


def preload() -> None:
    """Import what scripts import, and run a little of it, so that forks have it."""
    import warnings

    import numpy as np
    import pandas as pd
    from sklearn import (  # noqa: F401
        compose,
        ensemble,
        gaussian_process,
        impute,
        kernel_ridge,
        linear_model,
        model_selection,
        neighbors,
        pipeline,
        preprocessing,
        svm,
    )
    from threadpoolctl import threadpool_limits

    # Threads of a parent are lost in a fork, and one process a processor is enough.
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    frame = pd.DataFrame({"a": np.arange(40.0), "b": ["x", "y"] * 20})
    made = pipeline.make_pipeline(
        compose.make_column_transformer(
            (pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler()), ["a"]),
            (preprocessing.OneHotEncoder(handle_unknown="ignore"), ["b"]),
        ),
        linear_model.RidgeCV(),
    )
    model_selection.cross_val_predict(made, frame, frame["a"])
    ensemble.RandomForestRegressor(2).fit(frame[["a"]], frame["a"])
    ensemble.HistGradientBoostingRegressor(max_iter=2).fit(frame[["a"]], frame["a"])
    impute, kernel_ridge, gaussian_process  # noqa: B018


@dataclass
class Pool:
    """Workers that run scripts. Results of equal scripts on a table are computed once."""

    folder: Path
    tables: Mapping[str, Table]
    workers: int
    keeps: bool = False
    """Whether results have the predictions."""
    place: Path = field(init=False)
    _known: dict[tuple[str, str], "Future[Graded]"] = field(default_factory=dict)
    executed: int = 0

    def __post_init__(self) -> None:
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.place = Path(tempfile.mkdtemp(prefix="lm-", dir=base))
        self.place.chmod(0o711)
        for table in self.tables.values():
            public = self.place / "tables" / table.name / "public"
            public.mkdir(parents=True)
            for place in (public, public.parent, public.parent.parent):
                place.chmod(0o755)
            for path, text in table.public.items():
                (public / path).write_text(text, encoding="utf-8")
        context = multiprocessing.get_context("fork")
        # A queue with a thread: a full pipe would hold up the sampling.
        self._jobs, self._done = context.Queue(), context.SimpleQueue()
        self._waiting: dict[int, Future[Graded]] = {}
        preload()
        self._processes = [
            context.Process(
                target=_work,
                args=(self.folder, self.tables, self.place, place, self._jobs, self._done, self.keeps),
            )
            for place in range(self.workers)
        ]
        for process in self._processes:
            process.start()
        self._number = 0
        Thread(target=self._collect, daemon=True).start()

    def submit(self, name: str, script: str) -> "Future[Graded]":
        """Run a script on a table."""
        key = (name, script)
        if key not in self._known:
            future: Future[Graded] = Future()
            self._known[key] = self._waiting[self._number] = future
            self._jobs.put((self._number, name, script))
            self._number += 1
            self.executed += 1
        return self._known[key]

    def run(self, pairs: Iterable[tuple[str, str]]) -> list[Graded]:
        """Run scripts on tables, and wait for all."""
        return [result_of(future, math.inf) for future in [self.submit(*pair) for pair in pairs]]

    def _collect(self) -> None:
        while True:
            item = self._done.get()
            if item is None:
                return
            number, graded = item
            self._waiting.pop(number).set_result(graded)

    def close(self) -> None:
        """End the workers and remove the files."""
        for _ in self._processes:
            self._jobs.put(None)
        self._jobs.cancel_join_thread()
        for process in self._processes:
            process.join(5)
            if process.is_alive():
                process.kill()
        self._done.put(None)
        shutil.rmtree(self.place, ignore_errors=True)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _work(
    folder: Path, tables: Mapping[str, Table], place: Path, number: int, jobs: Any, done: Any, keeps: bool
) -> None:
    """Take jobs until there is a None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    runner = _Runner(place / f"run{number}")
    grader = Grader(folder, tables)
    while (job := jobs.get()) is not None:
        key, name, script = job
        try:
            problem, seconds = runner.run(place / "tables" / name / "public", script)
            graded = Graded(False, problem, seconds=seconds) if problem else None
            graded = graded or grader.grade(name, runner.folder / _NAME, seconds, keeps=keeps)
        except (EOFError, BrokenPipeError):
            # The child without answers is gone. The other workers go on.
            done.put((key, Graded(False, "the process that runs scripts ended")))
            return
        except Exception as error:
            graded = Graded(False, f"runner: {type(error).__name__}: {error}")
        done.put((key, graded))
    runner.close()


def result_of(future: "Future[Graded]", seconds: float = LOST_SECONDS) -> Graded:
    """Wait for a result. A script whose worker was lost is invalid."""
    try:
        return future.result(None if seconds == math.inf else seconds)
    except TimeoutError:
        return Graded(False, "the worker was lost")


class _Runner:
    """A child without answers, which forks a process for each script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._here, there = multiprocessing.get_context("fork").Pipe()
        self._child = os.fork()
        if self._child == 0:
            self._here.close()
            try:
                _serve(there, folder)
            finally:
                os._exit(0)
        there.close()

    def run(self, public: Path, script: str) -> tuple[str, float]:
        """Run a script, and return what went wrong, or nothing, and the seconds that it took."""
        self._here.send((str(public), script))
        problem, seconds = self._here.recv()
        return str(problem), float(seconds)

    def close(self) -> None:
        self._here.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._child, 0)


def _serve(pipe: Any, folder: Path) -> None:
    """Fork a process for each script that comes, in a network namespace without interfaces where the system allows."""
    is_root = os.geteuid() == 0 and _is_open_to_all(Path(multiprocessing.__file__))
    is_root = is_root and _is_open_to_all(Path(np.__file__))
    if os.geteuid() == 0 and sys.version_info >= (3, 12):
        with contextlib.suppress(OSError):
            os.unshare(_NEW_NETWORK)
    while True:
        try:
            public, script = pipe.recv()
        except EOFError:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.symlink(public, folder / "public")
        if is_root:
            os.chown(folder, _NOBODY, _NOBODY)
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            _execute(folder, script, is_root=is_root)
        problem = _wait(child, started)
        if problem == "failed":
            error = folder / "error.txt"
            problem = error.read_text(errors="replace")[-200:] if error.exists() else "failed"
        pipe.send((problem, time.monotonic() - started))


def _wait(child: int, started: float) -> str:
    """Wait for a script and end its whole process group. Returns what went wrong, or nothing."""
    pause = 0.002
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(status)
            if code in (-signal.SIGXCPU, -signal.SIGKILL):
                return f"more than {CPU_SECONDS} s of processor time"
            return "" if code == 0 else "failed" if code > 0 else f"signal {-code}"
        if time.monotonic() - started > WALL_SECONDS:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"more than {WALL_SECONDS:g} s"
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)


def _execute(folder: Path, script: str, *, is_root: bool) -> None:
    """Become the process of a script. It never returns."""
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.closerange(3, 4096)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        memory = _mapped_bytes() + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
        if is_root:
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
        exec(compile(script, "script.py", "exec"), {"__name__": "__main__"})
        code = 0
    except BaseException as error:
        with contextlib.suppress(BaseException), open("error.txt", "w") as file:
            file.write(f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


def _is_open_to_all(path: Path) -> bool:
    """Return whether every user may read a file, as scripts without privileges need."""
    return all(place.stat().st_mode & 0o005 in (0o001, 0o004, 0o005) for place in (path, *path.parents))


def _mapped_bytes() -> int:
    """Return the address space of this process. Loaded libraries count, and the limit is for what a script adds."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def default_workers() -> int:
    """Return the number of processors that this process may use, less one for the process that trains."""
    return max(1, len(os.sched_getaffinity(0)) - 1)
