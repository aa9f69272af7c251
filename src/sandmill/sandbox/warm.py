"""Start the warm interpreter, send it requests for runs, and replace it when it has died."""

import json
import os
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

from sandmill.errors import Problem, SandboxUnavailable
from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.channels import Channels, Launched, Launcher, ProcessEnding
from sandmill.sandbox.interpreter import GUEST, guest_command, guest_environment
from sandmill.sandbox.view import view_of

_START_TIMEOUT_S = 120.0
"""Longest start of the warm interpreter, which imports all libraries, in seconds."""
_REPORT_TIMEOUT_S = 15.0
"""Longest wait for the report of a started or killed run, in seconds."""
_STOP_TIMEOUT_S = 5.0
"""Longest wait until the warm interpreter ends by itself before it is killed, in seconds."""


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

    def launch(self, channels: Channels, public: Path) -> "WarmRun":
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
                inside = ("launch", str(far.fileno()), "root" if self._is_root else "user")
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
                raise SandboxUnavailable(
                    "backend warm",
                    [Problem("warm interpreter", reason.strip() or "no answer", "an interpreter ready to fork")],
                )
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
            try:
                self._process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
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
        try:
            message = self._report.recv(1 << 12)
        except OSError:
            message = b""
        self.kill()
        self._wait_for_init()
        self._report.close()
        if not message:
            return ProcessEnding(None)
        facts = json.loads(message)
        return ProcessEnding.of(facts["status"], facts["cpu_s"], facts["peak_kb"] / 1024)


def _pid_of(pidfd: int) -> int:
    """Return the process id of a pidfd in our namespace, which differs from that in the warm interpreter's."""
    facts = dict(line.split(":") for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines())
    return int(facts["Pid"])
