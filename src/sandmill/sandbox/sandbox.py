"""Public interface of the sandbox: `with Sandbox() as box: box.run(code, public=...)`, and the same as coroutines."""

import asyncio
import json
import os
import platform
import resource
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike
from pathlib import Path
from tempfile import gettempdir
from threading import Event
from typing import TYPE_CHECKING, Literal, Self, get_args

from sandmill.errors import InputError, Problem, SandboxUnavailable
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult, timeout_problem
from sandmill.sandbox.agent_env import GUEST, own_interpreter, require_agent_env
from sandmill.sandbox.attend import RunOrder, attend
from sandmill.sandbox.launchers import Launcher, PlainSubprocess, ServerGone, WarmServer
from sandmill.sandbox.public_folder import check_public, readable, texts_of
from sandmill.sandbox.view import refuse_exposed, view_of

if TYPE_CHECKING:
    from sandmill.sandbox.remote import RemoteSandbox

BackendName = Literal["auto", "warm", "subprocess", "local"]
BACKENDS: tuple[BackendName, ...] = get_args(BackendName)

_PROBE_S = 30
_NEEDS = "Linux 5.12 or newer on x86_64 or aarch64, as root or with user namespaces"
_HELP = (
    "Run as root (in a container with CAP_SYS_ADMIN, CAP_NET_ADMIN and seccomp=unconfined), or allow user namespaces "
    "(in a container with seccomp=unconfined and systempaths=unconfined): "
    "sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 "
    "kernel.apparmor_restrict_unprivileged_userns=0 (leave out settings that this kernel does not have)"
)
RUN_DESCRIPTORS = 16
"""Largest number of descriptors that one run has open in this process. Six are open while its code runs; starting the
run and copying its files take more."""
_CALLERS_SHARE = 4
"""Divisor: one quarter of the descriptors is reserved for other work of this process."""
_CANCEL_CHECK_S = 0.1
"""Interval at which a waiting run checks whether it was cancelled, in seconds."""
_MAX_CODE_BYTES = 1 << 20
"""Largest script, in bytes. A larger one could exceed the time-out of the set-up and look like an `infra_error`."""
_MAX_LAUNCHES = 3
"""Attempts to start a run while the warm interpreter ends before it takes the run."""


@dataclass(frozen=True)
class Capability:
    """Whether and how namespaces can be created on this machine."""

    is_root: bool
    """Whether they are created as root, without user namespaces."""
    problems: tuple[Problem, ...]
    """What failed. Empty if isolation works."""


@cache
def probe() -> Capability:
    """Create every namespace, mount and filter that a run needs, in a separate process, and report what fails."""
    if platform.system() != "Linux":
        return Capability(False, (Problem("system", platform.system(), _NEEDS),))
    command = [sys.executable, "-I", "-S", str(GUEST / "start.py"), "probe"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PROBE_S)
    if result.returncode or not result.stdout:
        return Capability(False, (Problem("probe", result.stderr.strip()[-300:] or "no answer", _NEEDS, _HELP),))
    facts = json.loads(result.stdout)
    ways = list(facts["missing"])
    problems = [Problem(way, facts["missing"][way], _NEEDS, _HELP if way == ways[-1] else "") for way in ways]
    return Capability(facts["is_root"], tuple(problems))


def missing_for(backend: BackendName) -> tuple[Problem, ...]:
    """Return what a backend needs and this machine lacks. Empty if the backend works."""
    return probe().problems if backend in ("auto", "warm") else ()


def choose_backend(requested: BackendName) -> Literal["warm", "subprocess", "local"]:
    """Return the requested backend; for `auto` the one that isolates.

    Raises `InputError` if there is no backend of this name. Raises `SandboxUnavailable` if it does not work on this
    machine. A backend with less isolation is never used instead.
    """
    if requested not in BACKENDS:
        problem = Problem("backend", repr(requested), f"one of {', '.join(BACKENDS)}")
        raise InputError("sandbox", [problem], "Nothing was run.")
    if requested == "auto":
        requested = "warm"
    if missing := missing_for(requested):
        raise SandboxUnavailable(f"backend {requested}", missing)
    return requested


class Cancelled(Exception):
    """A run was cancelled while it waited in the queue."""


class Admission:
    """Queue of runs. It admits as many at a time as descriptors allow, and assigns their processors."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all running code. A forked child calls this, because the runs belong to its parent."""
        self._changed = threading.Condition()
        self._running = 0
        self._users: Counter[int] = Counter()

    @contextmanager
    def admit(self, cores: int | None, cancel: threading.Event | None = None) -> Iterator[tuple[int, ...]]:
        """Wait until the run is admitted, and count it until the block ends.

        Yields:
            Numbers of the `cores` processors with the fewest runs; empty if the run may use all.

        Raises:
            Cancelled: if `cancel` is set before the run is admitted.
        """
        with self._changed:
            while self._running >= most_runs():
                if cancel and cancel.is_set():
                    raise Cancelled
                self._changed.wait(_CANCEL_CHECK_S)
            self._running += 1
            processors = self._choose(cores)
            self._users.update(processors)
        try:
            yield processors
        finally:
            with self._changed:
                self._running -= 1
                self._users.subtract(processors)
                self._changed.notify()

    def _choose(self, cores: int | None) -> tuple[int, ...]:
        allowed = sorted(os.sched_getaffinity(0))
        if cores is None or cores >= len(allowed):
            return ()
        # Ties are broken by process id, so that several processes on one machine choose different processors.
        first = os.getpid() % len(allowed)
        return tuple(sorted(allowed[first:] + allowed[:first], key=lambda number: self._users[number])[:cores])


def most_runs() -> int:
    """Return how many concurrent runs the descriptor limit of this process (`ulimit -n`) allows."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1 << 16
    return max(1, (soft - soft // _CALLERS_SHARE) // RUN_DESCRIPTORS)


ADMISSION = Admission()
os.register_at_fork(after_in_child=ADMISSION.forget)


class Sandbox:
    """Runs untrusted code that sees only the public files of a task.

    Each run is a new process with its own namespaces and limits and, as root, its own uid. docs/sandbox.md states what
    is guaranteed.

    Memory of all processes of a run is measured about twenty times a second. A run above `limits.memory_mb` is killed.
    Between two measurements each of `limits.processes` processes can allocate up to `limits.memory_mb` in the worst
    case. Files use up to `limits.disk_mb` of memory in addition.

    A sandbox is thread-safe. Runs are concurrent up to the descriptor limit of this process; further runs wait. Do not
    use one scratch folder for two runs at the same time.
    """

    def __init__(
        self,
        backend: BackendName = "auto",
        *,
        limits: RunLimits | None = None,
        agent_env: Path | None = None,
        allow_unsafe: bool = False,
    ) -> None:
        """Choose a backend and find the agent environment. No process is started yet.

        Args:
            backend: `warm` (forks of an interpreter with imported libraries), `subprocess` (no isolation, for
                development only), `local` (the same with the interpreter of this process), `auto` (warm).
            limits: limits of each run. None means the defaults.
            agent_env: folder that `sandmill agent-env create --path` made. None means the default place.
            allow_unsafe: whether `local` may run any code, with all rights of this user.

        Raises:
            InputError: for `local` without `allow_unsafe`.
            SandboxUnavailable: if this machine cannot isolate runs or the agent environment is missing. The message
                names the command that helps.
        """
        self.backend = choose_backend(backend)
        self.limits = limits or RunLimits()
        if self.backend == "local" and not allow_unsafe:
            hint = 'sandmill.load("samples", backend="local") runs code for the samples; allow_unsafe=True runs any.'
            problem = Problem("backend", "local, which isolates nothing", "samples, or allow_unsafe=True", hint)
            raise InputError("sandbox", [problem], "Nothing was run.")
        self.agent_env = own_interpreter() if self.backend == "local" else require_agent_env(agent_env)
        is_warm = self.backend == "warm"
        self.isolation = Isolation.WARM if is_warm else Isolation.NONE
        self._is_root = is_warm and probe().is_root
        steps = view_of(self.agent_env)["steps"] if is_warm else ()
        self._shown = tuple(Path(path) for kind, path in steps if kind == "tree")
        launcher: type[Launcher] = WarmServer if is_warm else PlainSubprocess
        self._launcher = launcher(self.agent_env, self._is_root)

    def start(self) -> None:
        """Start the warm interpreter, so that the first run does not wait for it."""
        self._launcher.start()

    def run(
        self,
        code: str,
        *,
        public: Path | str,
        scratch: Path | str | None = None,
        timeout: float = 30.0,
        cancel: Event | None = None,
        with_text: bool = False,
    ) -> RunResult:
        """Run code as `python solution.py public submission.csv` in a working directory with `public/` in it.

        Args:
            code: Python source.
            public: folder of the task's public files, mounted read-only. It holds regular files and folders only, no
                links and no name of a private file, at most 8 folders deep and 10,000 entries in all. Texts that stand
                in the prompt are not mounted.
            scratch: folder whose files are copied into the working directory before the run. After the run it holds
                the regular files and folders of the working directory. What exceeds the limits is not copied, and
                `detail` of the result reports it. None means that no files are kept.
            timeout: limit of wall time in seconds, at most one day.
            cancel: event that cancels the run when it is set.
            with_text: mount the texts too, for a script of a person.

        Raises:
            InputError: if an argument has a wrong type or value, a folder does not exist or lies where every run could
                read it, or `public` holds anything but public files.
            SandboxUnavailable: if the warm interpreter cannot be started.
        """
        is_open = check_run(code, public, scratch, timeout)
        public, scratch, timeout = Path(public), None if scratch is None else Path(scratch), float(timeout)
        places = {"public": public.absolute(), "temporary folder (TMPDIR)": Path(gettempdir())}
        for folder in {public.absolute().parent, public.resolve().parent}:
            places[f"answers of {folder}"] = folder / "private"
        refuse_exposed(places if scratch is None else places | {"scratch": scratch.absolute()}, self._shown)
        outcome, detail = refuse_code(code) or (Outcome.INFRA_ERROR, "")
        if detail:
            return RunResult(outcome=outcome, isolation=self.isolation, detail=detail)
        with readable(public.resolve(), is_open or not self._is_root) as files:
            hidden = frozenset[str]() if with_text else texts_of(files)
            order = RunOrder(code, files, scratch, timeout, self.limits, cancel, hidden=hidden)
            try:
                with ADMISSION.admit(self.limits.cores, cancel) as processors:
                    for _ in range(_MAX_LAUNCHES):
                        try:
                            order = replace(order, processors=processors)
                            return attend(order, self.isolation, self._launcher.launch)
                        except ServerGone as error:
                            # It ended before it took the run, which starts again with a new warm interpreter.
                            detail = str(error)
            except Cancelled:
                detail = "cancelled before the run started"
        return RunResult(outcome=outcome, isolation=self.isolation, detail=detail)

    def with_limits(self, limits: RunLimits) -> Self:
        """Return a sandbox with other limits that shares the processes of this one. Closing one closes both."""
        other = copy(self)
        other.limits = limits
        return other

    def close(self) -> None:
        """End all runs and release all resources."""
        self._launcher.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def refuse_code(code: str) -> tuple[Outcome, str] | None:
    """Return outcome and detail of a script that is never started; None for all others."""
    if not code.strip():
        return Outcome.NO_CODE, "the script is empty"
    if (size := len(code.encode("utf-8", "replace"))) > _MAX_CODE_BYTES:
        return Outcome.RUNTIME_ERROR, f"the script has {size} bytes, more than the limit of {_MAX_CODE_BYTES}"
    return None


def check_run(code: object, public: Path | str, scratch: Path | str | None, timeout: float) -> bool:
    """Check the arguments of a run. Returns whether every user of the machine may read the public folder.

    Raises `InputError` with all problems of the arguments.
    """
    problems = [
        Problem(name, f"an object of type {type(value).__name__}", expected)
        for name, value, kinds, expected in (
            ("code", code, str, "Python source as text"),
            ("public", public, str | PathLike, "the path of a folder"),
            ("scratch", scratch, str | PathLike | None, "the path of a folder, or None"),
        )
        if not isinstance(value, kinds)
    ]
    if problem := timeout_problem(timeout):
        problems.append(problem)
    is_open = False
    if not problems:
        try:
            is_open = check_public(Path(public))
        except InputError as error:
            problems += error.problems
        if scratch is not None and not Path(scratch).is_dir():
            problems.append(Problem("scratch", f"{scratch}, which is not a folder", "an existing folder"))
    if problems:
        raise InputError("run", problems, "Nothing was run.")
    return is_open


class AsyncSandbox:
    """A `Sandbox` with coroutine methods. Cancelling the asyncio task of a run kills the run."""

    def __init__(
        self,
        backend: BackendName = "auto",
        *,
        limits: RunLimits | None = None,
        agent_env: Path | None = None,
        allow_unsafe: bool = False,
        concurrency: int = 8,
    ) -> None:
        """Choose a backend as `Sandbox` does.

        At most `concurrency` runs go on at a time, fewer if this process may not open enough files. Further runs wait,
        and their time-outs start when they start.
        """
        box = Sandbox(backend, limits=limits, agent_env=agent_env, allow_unsafe=allow_unsafe)
        self._wrap(box, min(concurrency, most_runs()))

    @classmethod
    def over(cls, box: "Sandbox | RemoteSandbox", *, concurrency: int = 8) -> Self:
        """Return coroutines for a sandbox, also for a remote one. Closing them closes the sandbox."""
        made = cls.__new__(cls)
        made._wrap(box, concurrency)
        return made

    def _wrap(self, box: "Sandbox | RemoteSandbox", concurrency: int) -> None:
        self.box = box
        """The same sandbox for code without coroutines."""
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="sandmill-run")

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self.box.backend

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        return self.box.limits

    @property
    def isolation(self) -> Isolation:
        """Isolation of the agent's code."""
        return self.box.isolation

    async def start(self) -> None:
        """Start the warm interpreter, so that the first run does not wait for it."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self.box.start)

    async def run(
        self, code: str, *, public: Path | str, scratch: Path | str | None = None, timeout: float = 30.0
    ) -> RunResult:
        """Run code; see `Sandbox.run`."""
        cancel = threading.Event()
        call = partial(self.box.run, code, public=public, scratch=scratch, timeout=timeout, cancel=cancel)
        future = asyncio.get_running_loop().run_in_executor(self._threads, call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancel.set()
            future.cancel()
            raise

    async def close(self) -> None:
        """End all runs and release all resources."""
        await asyncio.get_running_loop().run_in_executor(None, self.box.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
