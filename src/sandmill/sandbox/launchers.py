"""Start the processes of one run, by each backend: descriptors, warm interpreter, plain subprocess."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sandmill.errors import Problem, SandboxUnavailable
from sandmill.sandbox.agent_env import GUEST, AgentEnv, guest_command, guest_environment
from sandmill.sandbox.memory import peak_of_ended
from sandmill.sandbox.view import view_of

_END_TIMEOUT_MS = 15_000
_START_TIMEOUT_S = 120.0
"""Longest start of the warm interpreter, which imports all libraries, in seconds."""
_REPORT_TIMEOUT_S = 15.0
_STOP_TIMEOUT_S = 5.0
"""Longest wait until the warm interpreter ends by itself before it is killed, in seconds."""


class Channels:
    """Two output pipes, a socket for the set-up, and a memory file that holds the job.

    When the agent's code starts, only the write ends of the two pipes are still open in the run.
    """

    def __init__(self, job: bytes) -> None:
        self.cleanup, self._theirs = ExitStack(), ExitStack()
        """`cleanup` closes our ends, and takes further actions for the end of the run."""
        try:
            memory = os.memfd_create("sandmill-job", os.MFD_CLOEXEC)
            self._theirs.callback(os.close, memory)
            with open(memory, "wb", closefd=False) as file:
                file.write(job)
            self.stdout, guest_stdout = self._pipe()
            self.stderr, guest_stderr = self._pipe()
            near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.setup_socket = self.cleanup.enter_context(near)
            self._theirs.enter_context(far)
        except OSError:
            self.close()
            raise
        self.guest_descriptors = memory, guest_stdout, guest_stderr, far.fileno()
        """Descriptors for the run: job, standard output, standard error, set-up socket."""

    def _pipe(self) -> tuple[int, int]:
        near, far = os.pipe()
        self.cleanup.callback(os.close, near)
        self._theirs.callback(os.close, far)
        os.set_blocking(near, False)
        return near, far

    def close_guest_ends(self) -> None:
        """Close our copies of the run's descriptors. Only then do we see the end of a stream that the run closes."""
        self._theirs.close()

    def close(self) -> None:
        """Close all descriptors."""
        self._theirs.close()
        self.cleanup.close()


@dataclass(frozen=True)
class ProcessEnding:
    """Exit status and resource usage of an ended run, as the kernel reported them."""

    code: int | None
    """Exit code, or 128 + signal number after a signal. None if it is unknown."""
    cpu_s: float = 0.0
    peak_mb: float = 0.0

    @classmethod
    def of(cls, status: int, cpu_s: float, peak_mb: float) -> "ProcessEnding":
        """Decode the status of `os.wait4`."""
        code = os.waitstatus_to_exitcode(status)
        return cls(code if code >= 0 else 128 - code, cpu_s, peak_mb)


class Launched:
    """A started run. `_init` is a pidfd of the process that ends last: no process writes files after it is dead."""

    pids: tuple[int, ...]
    """Processes of the run. All others descend from them."""
    end_descriptor: int
    """Descriptor that becomes readable when the run has ended."""
    _init: int

    def kill(self) -> None:
        """Kill every process of the run. The kernel kills the whole PID namespace with its init process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._init, signal.SIGKILL)

    def finish(self) -> ProcessEnding:
        """Wait for the end, close all descriptors, and return how the run ended."""
        raise NotImplementedError


class Launcher:
    """Starts runs in one way of isolation."""

    def __init__(self, env: AgentEnv, is_root: bool) -> None:
        self._env, self._is_root = env, is_root

    def start(self) -> None:
        """Start what all runs share, so that the first run does not wait for it."""

    def launch(self, channels: Channels, public: Path, hidden: Set[str]) -> Launched:
        """Start the processes of a run with these public files, but for those with a hidden name."""
        raise NotImplementedError

    def close(self) -> None:
        """End all runs and release all resources."""


class ServerGone(Exception):
    """The warm interpreter ended before it took a run. The caller may try again with a new one."""


class WarmServer(Launcher):
    """Keeps one warm interpreter running. Thread-safe. A forked child of this process starts its own interpreter."""

    def __init__(self, env: AgentEnv, is_root: bool) -> None:
        super().__init__(env, is_root)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner_pid = os.getpid()

    def start(self) -> None:
        """Start the warm interpreter unless it runs. If it cannot be started, `SandboxUnavailable` says why."""
        with self._lock:
            self._ensure_running()

    def launch(self, channels: Channels, public: Path, hidden: Set[str]) -> "WarmRun":
        """Fork the processes of a run. `ServerGone` says that the interpreter died meanwhile."""
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near.settimeout(_REPORT_TIMEOUT_S)
        try:
            with far, self._lock:
                control = self._ensure_running()
                socket.send_fds(control, [b"run"], [*channels.guest_descriptors, far.fileno()])
            return WarmRun(near)
        except (OSError, ServerGone) as error:
            near.close()
            raise ServerGone(str(error)) from error

    def close(self) -> None:
        """End the warm interpreter and all of its runs."""
        with self._lock:
            self._stop()

    def _ensure_running(self) -> socket.socket:
        if self._owner_pid != os.getpid():
            # This process was forked. The interpreter belongs to its parent.
            self._process, self._control, self._owner_pid = None, None, os.getpid()
        if self._control is None or self._process is None or self._process.poll() is not None:
            self._stop()
            self._control = self._start()
        return self._control

    def _start(self) -> socket.socket:
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stderr_file = os.memfd_create("sandmill-server")
        # A descriptor hides our installation path from runs, which see the command line and the code objects.
        guest = os.open(GUEST, os.O_PATH | os.O_DIRECTORY)
        try:
            with far:
                inside = ("serve", str(far.fileno()), "root" if self._is_root else "user")
                self._process = subprocess.Popen(
                    guest_command(self._env, *inside, guest=Path(f"/proc/self/fd/{guest}")),
                    env=guest_environment(),
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr_file,
                    pass_fds=[far.fileno(), guest],
                    start_new_session=True,
                )
            settings = {"is_root": self._is_root, "root": str(self._env.mount_point), "view": view_of(self._env)}
            near.settimeout(_START_TIMEOUT_S)
            near.send(json.dumps(settings).encode())
            answer = json.loads(near.recv(1 << 16) or b"{}")
            if "ready" not in answer:
                reason = answer.get("error") or os.pread(stderr_file, 2000, 0).decode(errors="replace")
                self._stop()
                saw, expected = reason.strip() or "no answer", "an interpreter ready to fork"
                raise SandboxUnavailable("backend warm", [Problem("warm interpreter", saw, expected)])
        except BaseException:
            near.close()
            raise
        finally:
            os.close(stderr_file)
            os.close(guest)
        near.settimeout(_REPORT_TIMEOUT_S)
        return near

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_TIMEOUT_S)
            self._process.kill()
            self._process.wait()
            self._process = None


class WarmRun(Launched):
    """A started run of the warm interpreter. It has ended when the interpreter has said so, or has itself ended."""

    def __init__(self, report: socket.socket) -> None:
        self._report, self.end_descriptor = report, report.fileno()
        message, descriptors, _, _ = socket.recv_fds(report, 1 << 12, 2)
        facts: dict[str, Any] = json.loads(message) if message else {}
        if "forked" not in facts:
            raise ServerGone(facts.get("error", "the warm interpreter ended"))
        self._init, agent = descriptors
        self.pids = _pid_of(self._init), _pid_of(agent)
        os.close(agent)
        report.settimeout(None)

    def finish(self) -> ProcessEnding:
        """Read the interpreter's report, and wait until all processes of the run are dead."""
        message = b""
        with suppress(OSError):
            message = self._report.recv(1 << 12)
        self.kill()
        waiting = select.poll()
        waiting.register(self._init, select.POLLIN)
        waiting.poll(_END_TIMEOUT_MS)
        os.close(self._init)
        self._report.close()
        if not message:
            return ProcessEnding(None)
        facts = json.loads(message)
        return ProcessEnding.of(facts["status"], facts["cpu_s"], facts["peak_kb"] / 1024)


def _pid_of(pidfd: int) -> int:
    """Return the process id of a pidfd in our namespace, which differs from that in the warm interpreter's."""
    facts = dict(line.split(":") for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines())
    return int(facts["Pid"])


class PlainRun(Launched):
    """A started run without a namespace: a new interpreter, whose process group is killed with it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.pids = (process.pid,)
        self._init = self.end_descriptor = os.pidfd_open(process.pid)

    def kill(self) -> None:
        """Kill the process and its group."""
        super().kill()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def finish(self) -> ProcessEnding:
        """Wait for the process."""
        _, status, used = os.wait4(self._process.pid, 0)
        os.close(self._init)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return ProcessEnding.of(status, used.ru_utime + used.ru_stime, peak_of_ended(used.ru_maxrss * 1024) / (1 << 20))


class PlainSubprocess(Launcher):
    """Starts runs as plain subprocesses, with resource limits only, each in its own temporary folder."""

    def launch(self, channels: Channels, public: Path, hidden: Set[str]) -> PlainRun:
        """Create the working directory, copy the public files, and start an interpreter there."""
        folder = Path(mkdtemp(prefix="sandmill-run-"))
        channels.cleanup.callback(remove_tree, folder)
        job, stdout, stderr, setup_socket = channels.guest_descriptors
        for name in ("work", "home", "tmp"):
            (folder / name).mkdir()

        def without(at: str, names: list[str]) -> Set[str]:
            return hidden & {*names} if Path(at) == public else frozenset()

        shutil.copytree(public, folder / "work" / "public", symlinks=True, ignore=without)
        process = subprocess.Popen(
            guest_command(self._env, "bare", str(job), str(setup_socket)),
            cwd=folder / "work",
            env=guest_environment(HOME=str(folder / "home"), TMPDIR=str(folder / "tmp")),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[job, setup_socket],
            start_new_session=True,
        )
        return PlainRun(process)


def remove_tree(folder: Path) -> None:
    """Remove a folder that a script has filled. `rm` removes trees of any depth; `shutil.rmtree` recurses."""
    for command in ("chmod", "-R", "u+rwX"), ("rm", "-rf"):
        subprocess.run([*command, "--", folder], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
