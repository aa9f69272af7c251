"""The sandbox as a trainer uses it: `with Sandbox() as box: box.run(code, public=...)`."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from types import TracebackType
from typing import Self

from sandmill.errors import InputError, Problem
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult, timeout_problem
from sandmill.sandbox.admission import ADMISSION, Cancelled
from sandmill.sandbox.agent_env import require_agent_env
from sandmill.sandbox.attend import Order, attend
from sandmill.sandbox.backends import BackendName, choose_backend, probe
from sandmill.sandbox.cold import Bare, Bubblewrap
from sandmill.sandbox.placement import refuse_exposed
from sandmill.sandbox.public_folder import check_public, readable
from sandmill.sandbox.tree import remove_tree
from sandmill.sandbox.view import shown_trees
from sandmill.sandbox.warm import ServerGone, WarmServer

_MOST_CODE = 1 << 20
"""Bytes of a script. More could take so long to hand over that it looked like a fault of ours."""
_TRIES = 3


class Sandbox:
    """Runs code that nobody vouches for, over a task's public files and nothing else.

    Each run is a new process with namespaces, limits and, as root, a uid of its own; see docs/sandbox.md for what is
    claimed. Memory: all processes of a run together are looked at twenty times a second and end with it when over
    `limits.memory_mb`; between two looks each of `limits.processes` processes can at worst fill the address space that
    its own limit allows, `limits.memory_mb` each, and files take `limits.disk_mb` of memory more.

    Safe to use from several threads; runs are concurrent, as many as this process has descriptors for, and further ones
    wait. One scratch folder serves one run at a time.
    """

    def __init__(
        self, backend: BackendName = "auto", *, limits: RunLimits | None = None, agent_env: Path | None = None
    ) -> None:
        """Choose a backend and find the agent's interpreter; nothing is started yet.

        Args:
            backend: `warm` (forks of a warm interpreter), `bwrap` (a cold interpreter in bubblewrap), `subprocess` (no
                isolation: for development), or `auto`: warm, else bwrap.
            limits: what a run may use.
            agent_env: environment made by `sandmill agent-env create --path`, if not in the default place.

        Raises:
            SandboxUnavailable: if the machine cannot isolate or the environment is missing; says what to type.
        """
        self.backend = choose_backend(backend)
        self.limits = limits or RunLimits()
        self.agent_env = require_agent_env(agent_env)
        is_root = self.backend != "subprocess" and probe().is_root
        self._warm = WarmServer(self.agent_env, is_root) if self.backend == "warm" else None
        self._bwrap = Bubblewrap(self.agent_env, is_root) if self.backend == "bwrap" else None
        self._bare = Bare(self.agent_env)
        self._is_root = is_root
        self._shown = () if self.backend == "subprocess" else shown_trees(self.agent_env)

    @property
    def isolation(self) -> Isolation:
        """What stands between the code and the machine; every result says it too."""
        return {"warm": Isolation.WARM, "bwrap": Isolation.BWRAP, "subprocess": Isolation.NONE}[self.backend]

    def start(self) -> None:
        """Have the warm interpreter ready, so that the first run does not wait for it."""
        if self._warm:
            self._warm.start()

    def run(
        self,
        code: str,
        *,
        public: Path | str,
        scratch: Path | str | None = None,
        timeout: float = 30.0,
        cancel: int = -1,
    ) -> RunResult:
        """Run code as `python solution.py public submission.csv` in a working directory with `public/` in it.

        Args:
            code: Python source.
            public: the task's public files, seen read-only: a folder of regular files and folders, no links, nothing
                called as private files are, at most 8 folders deep and 10,000 files and folders in all.
            scratch: folder whose files are there at the start, and which afterwards holds what the run left: regular
                files and folders. What is too much for the run's limits is not brought in or out, and `detail` of the
                result says so. Without one nothing is kept.
            timeout: seconds of wall time, at most a day.
            cancel: descriptor that becomes readable when the run is no longer wanted.

        Raises:
            InputError: if an argument is of another type or out of range, a folder is not there or lies where every run
                could read it, or `public` is anything but a folder of public files.
            SandboxUnavailable: if the warm interpreter cannot be started.
        """
        _check_types(code, public, scratch, timeout)
        public, scratch, timeout = Path(public), None if scratch is None else Path(scratch), float(timeout)
        is_open = _check_folders(public, scratch)
        refuse_exposed(_own_places(public, scratch), self._shown)
        if not code.strip():
            return RunResult(outcome=Outcome.NO_CODE, isolation=self.isolation, detail="no code")
        if (size := len(code.encode("utf-8", "replace"))) > _MOST_CODE:
            detail = f"code of {size} bytes, more than {_MOST_CODE}"
            return RunResult(outcome=Outcome.RUNTIME_ERROR, isolation=self.isolation, detail=detail)
        with readable(public.resolve(), is_open or not self._is_root) as files:
            order = Order(code, files, scratch, timeout, self.limits, cancel)
            try:
                with ADMISSION.admit(self.limits.cores, cancel) as processors:
                    return self._attend_with_retries(replace(order, processors=processors))
            except Cancelled:
                return RunResult(
                    outcome=Outcome.INFRA_ERROR, isolation=self.isolation, detail="cancelled before it began"
                )

    def close(self) -> None:
        """End what runs and let go of everything."""
        for part in (self._warm, self._bwrap):
            if part:
                part.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _attend_with_retries(self, order: Order) -> RunResult:
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._attend(order)
            except ServerGone as error:
                if not tries_left:
                    return RunResult(outcome=Outcome.INFRA_ERROR, isolation=self.isolation, detail=str(error))
        raise AssertionError("unreachable")

    def _attend(self, order: Order) -> RunResult:
        if self._warm:
            return attend(order, self.isolation, self._warm.launch)
        if self._bwrap:
            bubblewrap = self._bwrap
            return attend(order, self.isolation, lambda channels: bubblewrap.launch(channels, order.public))
        folder = Path(mkdtemp(prefix="sandmill-run-"))
        try:
            return attend(order, self.isolation, lambda channels: self._bare.launch(channels, order.public, folder))
        finally:
            remove_tree(folder)


def _check_types(code: object, public: object, scratch: object, timeout: object) -> None:
    problems = []
    if not isinstance(code, str):
        problems.append(Problem("code", _type_of(code), "Python source as text"))
    if not isinstance(public, str | PathLike):
        problems.append(Problem("public", _type_of(public), "the path of a folder"))
    if not isinstance(scratch, str | PathLike | None):
        problems.append(Problem("scratch", _type_of(scratch), "the path of a folder, or None"))
    if problem := timeout_problem(timeout):
        problems.append(problem)
    if problems:
        raise InputError("run", problems, "Nothing was run.")


def _type_of(value: object) -> str:
    return f"an object of type {type(value).__name__}"


def _check_folders(public: Path, scratch: Path | None) -> bool:
    """Check both folders, and give whether every user may read the public one."""
    problems = []
    if scratch is not None and not scratch.is_dir():
        problems.append(Problem("scratch", f"{scratch}, no folder", "a folder that is there"))
    try:
        is_open = check_public(public)
    except InputError as error:
        raise InputError("run", [*error.problems, *problems], "Nothing was run.") from None
    if problems:
        raise InputError("run", problems, "Nothing was run.")
    return is_open


def _own_places(public: Path, scratch: Path | None) -> dict[str, Path]:
    """List what no other run may see: a task's files, answers that lie beside them, and what a run leaves."""
    places = {"public": public.absolute(), "temporary folder (TMPDIR)": Path(gettempdir())}
    for folder in {public.absolute().parent, public.resolve().parent}:
        places[f"answers of {folder}"] = folder / "private"
    return places if scratch is None else places | {"scratch": scratch.absolute()}
