"""The parent's side of the warm interpreter: start it, hand it runs, replace it when it has died."""

import json
import os
import select
import signal
import socket
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from sandmill.errors import Problem, SandboxUnavailable
from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.channels import Channels, Ending
from sandmill.sandbox.interpreter import GUEST, guest_command, guest_environment
from sandmill.sandbox.view import view_of

_START_S = 120.0
_REPORT_S = 15.0
_STOP_S = 5.0


class ServerGone(Exception):
    """The warm interpreter ended before it took a run; another one can be started."""


class WarmServer:
    """Keeps one warm interpreter alive. Safe to use from several threads; a forked copy of us starts its own."""

    def __init__(self, env: AgentEnv, is_root: bool) -> None:
        self._env, self._is_root = env, is_root
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = os.getpid()

    @property
    def pid(self) -> int | None:
        """Process id of the warm interpreter, if it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Have a warm interpreter: start one unless one runs.

        Raises:
            SandboxUnavailable: if it cannot be started; says why.
        """
        with self._lock:
            self._ensure()

    def launch(self, channels: Channels) -> "WarmRun":
        """Fork a run.

        Raises:
            ServerGone: if the interpreter died meanwhile; try again.
        """
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near.settimeout(_REPORT_S)
        try:
            with far, self._lock:
                control = self._ensure()
                socket.send_fds(control, [b"run"], [*channels.given, far.fileno()])
            return WarmRun(near)
        except (OSError, ServerGone) as error:
            near.close()
            raise ServerGone(str(error)) from error

    def close(self) -> None:
        """End the interpreter and with it every run."""
        with self._lock:
            self._stop()

    def _ensure(self) -> socket.socket:
        if self._owner != os.getpid():
            # We are a forked copy: the interpreter belongs to the process that started it.
            self._process, self._control, self._owner = None, None, os.getpid()
        if self._control is None or self._process is None or self._process.poll() is not None:
            self._stop()
            self._control = self._start()
        return self._control

    def _start(self) -> socket.socket:
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        complaints = os.memfd_create("sandmill-server")
        # By a descriptor, so that neither its command line nor its code objects tell runs where we are installed.
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
                    stderr=complaints,
                    pass_fds=[far.fileno(), guest],
                    start_new_session=True,
                )
            hello = {"is_root": self._is_root, "root": str(self._env.mount_point), "view": view_of(self._env)}
            near.settimeout(_START_S)
            near.send(json.dumps(hello).encode())
            answer = json.loads(near.recv(1 << 16) or b"{}")
            if "ready" not in answer:
                said = answer.get("error") or os.pread(complaints, 2000, 0).decode(errors="replace")
                self._stop()
                raise SandboxUnavailable(
                    "backend warm",
                    [Problem("warm interpreter", said.strip() or "no answer", "an interpreter ready to fork")],
                )
        except BaseException:
            near.close()
            raise
        finally:
            os.close(complaints)
            os.close(guest)
        near.settimeout(_REPORT_S)
        return near

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


class WarmRun:
    """One fork, as the warm interpreter reports it."""

    def __init__(self, report: socket.socket) -> None:
        self._report = report
        message, descriptors, _, _ = socket.recv_fds(report, 1 << 12, 2)
        facts: dict[str, Any] = json.loads(message) if message else {}
        if "forked" not in facts:
            raise ServerGone(facts.get("error", "the warm interpreter ended"))
        self._init, agent = descriptors
        self.pids = _pid_of(self._init), _pid_of(agent)
        os.close(agent)
        report.settimeout(None)

    @property
    def over(self) -> int:
        """Readable when the interpreter has reported the end, or is gone."""
        return self._report.fileno()

    def kill(self) -> None:
        """Kill the init of the namespace: the kernel then ends all other processes in it."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._init, signal.SIGKILL)

    def finish(self) -> Ending:
        """Read the interpreter's report of the end."""
        try:
            message = self._report.recv(1 << 12)
        except OSError:
            message = b""
        self.kill()
        # Readable when the init is dead, and an init dies last: nobody writes any more when we collect.
        waiting = select.poll()
        waiting.register(self._init, select.POLLIN)
        waiting.poll(1000 * _REPORT_S)
        self._report.close()
        os.close(self._init)
        if not message:
            return Ending(None)
        facts = json.loads(message)
        code = os.waitstatus_to_exitcode(facts["status"])
        return Ending(code if code >= 0 else 128 - code, facts["cpu_s"], facts["peak_kb"] / 1024)


def _pid_of(pidfd: int) -> int:
    """Give the process id of a pidfd as we see it; the warm interpreter has process ids of its own."""
    facts = dict(line.split(":") for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines())
    return int(facts["Pid"])
