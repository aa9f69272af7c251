"""The warm interpreter: import the libraries once, then fork the processes of a run for every request.

It has one thread and holds no secret. It passes the descriptor of a job on without reading it; only the processes of
the run read it. When it is idle, it prepares the processes of one run in advance, so that the next request starts fast.
"""

import gc
import json
import os
import platform
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.agent import run_agent_process
from sandmill.sandbox.guest.filter import build_filter
from sandmill.sandbox.guest.keeper import serve_init_requests
from sandmill.sandbox.guest.preload import Span, preload, rehearse
from sandmill.sandbox.guest.template import build_template, leave_host

_PARENT_CHECK_MS = 1000
"""Interval at which the guard checks that the parent still lives, in milliseconds."""
_FORK_AHEAD_DELAY_MS = 250
"""Wait after a run has started before the next one is prepared, in milliseconds. A fork copies the page tables of a
large process, and would delay the report of a short run's end."""


def main(arguments: list[str]) -> None:
    """Serve the control socket, whose descriptor is the first argument, until its other end closes.

    With a second argument, `root`, or `user` without root, the interpreter restarts first from read-only mounts. A
    process can open its own program through /proc/self/exe. The link leads to the mount that the program was started
    from, even after a change of root. On a writable mount a run could change mode, times and attributes of the file if
    its user owns the interpreter, as ordinary users often do.
    """
    control_at, *right = arguments
    control = socket.socket(fileno=int(control_at))
    try:
        if right:
            leave_host(right[0] == "root")
            kernel.freeze_mounts("/")
            # The uid map and the OOM score are written there.
            kernel.unfreeze_mount("/proc")
            os.execv(sys.executable, sys.orig_argv[:-1])
        settings: dict[str, Any] = json.loads(control.recv(1 << 16))
        if server := os.fork():
            control.close()
            _guard(server)
        kernel.die_with_parent()
        build_template(settings["root"], settings["view"])
        # Assembled once, so that forks inherit it.
        build_filter(platform.machine())
        init_requests = _fork_keeper(settings["root"], settings["is_root"])
        preload()
    except Exception as error:
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    gc.collect()
    gc.freeze()
    spans = rehearse()
    control.send(b'{"ready": true}')
    _Server(control, init_requests, spans).serve()
    os._exit(0)


def _guard(server: int) -> NoReturn:
    """Wait for the server to end, and kill it when our parent has ended. The kernel then kills every run."""
    parent = os.getppid()
    poller = select.poll()
    poller.register(os.pidfd_open(server), select.POLLIN)
    while not poller.poll(_PARENT_CHECK_MS) and os.getppid() == parent:
        pass
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    os._exit(0)


def _fork_keeper(root: str, is_root: bool) -> socket.socket:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if not os.fork():
        serve_init_requests(far, root, is_root)
    far.close()
    return near


@dataclass
class _RunProcesses:
    """The processes of one run: an init process that holds its namespaces, and the agent process inside them."""

    init: int
    agent: int
    pid: int
    """Process id of the agent process, in the namespace of the server."""
    job_socket: socket.socket
    report: socket.socket | None = None
    """Reports the start and the end of the run to the parent. None before the run has a job."""
    exit_facts: dict[str, Any] | None = None
    """How the agent process ended. It is reported when the init process has ended too."""


class _Server:
    """Forks the processes of a run on request. Reports each end over the socket that came with the request."""

    def __init__(self, control: socket.socket, init_requests: socket.socket, spans: list[Span]) -> None:
        self._control, self._init_requests, self._spans = control, init_requests, spans
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._runs: dict[int, _RunProcesses] = {}
        self._prepared_run: _RunProcesses | None = None
        self._may_fork_ahead = True
        self._pause_ms = 0
        self._poller = select.poll()

    def serve(self) -> None:
        """Handle requests and ends of runs until the control socket closes."""
        self._poller.register(self._control, select.POLLIN)
        while True:
            is_idle = self._may_fork_ahead and self._prepared_run is None
            events = self._poller.poll(self._pause_ms if is_idle else None)
            if not events and is_idle:
                try:
                    self._prepared_run = self._fork()
                except OSError:
                    # The next request meets the same error and reports it.
                    self._may_fork_ahead = False
            for descriptor, _ in events:
                if descriptor in self._runs:
                    self._handle_exit(descriptor)
                elif not self._accept():
                    return

    def _accept(self) -> bool:
        """Start a run for one request. Returns False if the control socket is closed."""
        message, descriptors, _, _ = socket.recv_fds(self._control, 16, 8)
        if not message:
            return False
        *guest_descriptors, report_at = descriptors
        report = socket.socket(fileno=report_at)
        try:
            run, self._prepared_run = self._prepared_run or self._fork(), None
            self._may_fork_ahead = True
            self._pause_ms = _FORK_AHEAD_DELAY_MS
            socket.send_fds(run.job_socket, [b"run"], guest_descriptors)
            run.job_socket.close()
            run.report = report
            _send_if_open(report, {"forked": True}, [run.init, run.agent])
        except OSError as error:
            self._prepared_run = None
            _send_if_open(report, {"error": str(error)}, [])
            report.close()
        finally:
            for descriptor in guest_descriptors:
                os.close(descriptor)
        return True

    def _fork(self) -> _RunProcesses:
        """Have the keeper fork an init process, then fork the agent process into its PID namespace."""
        agent_end, init_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        job_socket, agent_job_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with agent_end, init_end, agent_job_socket:
            socket.send_fds(self._init_requests, [b"init"], [init_end.fileno()])
            answer, descriptors, _, _ = socket.recv_fds(self._init_requests, 1 << 12, 1)
            if not descriptors:
                job_socket.close()
                raise OSError(answer.decode(errors="replace") or "the keeper is gone")
            (init,) = descriptors
            kernel.enter_namespace(init, kernel.CLONE_NEWPID)
            try:
                pid = os.fork()
                if not pid:
                    run_agent_process(agent_job_socket, agent_end, init, self._spans)
            finally:
                kernel.enter_namespace(self._own_pid_namespace, kernel.CLONE_NEWPID)
        run = _RunProcesses(init, os.pidfd_open(pid), pid, job_socket)
        self._runs[run.agent] = run
        self._poller.register(run.agent, select.POLLIN)
        return run

    def _handle_exit(self, descriptor: int) -> None:
        """Kill the init process when its agent process has ended. When both have ended, report the end of the run."""
        run = self._runs.pop(descriptor)
        self._poller.unregister(descriptor)
        os.close(descriptor)
        if run.exit_facts is None:
            _, status, used = os.wait4(run.pid, 0)
            run.exit_facts = {"status": status, "cpu_s": used.ru_utime + used.ru_stime, "peak_kb": used.ru_maxrss}
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(run.init, signal.SIGKILL)
            self._runs[run.init] = run
            self._poller.register(run.init, select.POLLIN)
            if run is self._prepared_run:
                self._prepared_run = None
                run.job_socket.close()
        elif run.report:
            _send_if_open(run.report, run.exit_facts, [])
            run.report.close()
            self._pause_ms = 0


def _send_if_open(to: socket.socket, what: dict[str, Any], descriptors: list[int]) -> None:
    with suppress(OSError):
        socket.send_fds(to, [json.dumps(what).encode()], descriptors)
