"""The warm interpreter: imports the libraries once, then forks a run for every request, from its only thread.

It holds no secret and never reads a job: descriptors pass through it, and only the processes of the run read it. When
it has nothing to do it forks one run ahead, so that the next request need not wait for that.
"""

import gc
import json
import os
import select
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from sandmill.sandbox.guest import box, kernel
from sandmill.sandbox.guest.agent import be_agent
from sandmill.sandbox.guest.keeper import keep
from sandmill.sandbox.guest.preload import preload
from sandmill.sandbox.guest.rehearsal import Span, rehearse
from sandmill.sandbox.guest.template import build_template

_PARENT_CHECK_MS = 1000
_SHORT_RUN_MS = 250
"""How long a run that was just handed over is given to end, before another one is forked ahead: forking copies the page
tables of a large process, and the report of an end would wait for that."""


def main(arguments: list[str]) -> None:
    """Serve the control socket whose descriptor is the first argument until the other end closes. See `launch.py`."""
    control = socket.socket(fileno=int(arguments[0]))
    hello: dict[str, Any] = json.loads(control.recv(1 << 16))
    try:
        if server := os.fork():
            control.close()
            _guard(server)
        kernel.die_with_parent()
        build_template(hello["root"], hello["view"])
        box.prepare_filter()
        asks = _fork_keeper(hello["root"], hello["is_root"])
        preload()
    except Exception as error:
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    gc.collect()
    gc.freeze()
    spans = rehearse()
    control.send(b'{"ready": true}')
    _Server(control, asks, spans).serve()
    os._exit(0)


def _guard(server: int) -> NoReturn:
    """Stay outside as long as the server lives, and end it when whoever started us is gone.

    The server is the init of its own processes: when it ends, the kernel ends every run.
    """
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
        keep(far, root, is_root)
    far.close()
    return near


@dataclass
class _Cell:
    """The processes of one run: an init that holds its namespaces, and a fork of us in them."""

    init: int
    """Pidfd."""
    agent: int
    """Pidfd."""
    pid: int
    """Of the agent's process, for us."""
    orders: socket.socket
    report: socket.socket | None = None
    facts: dict[str, Any] | None = None
    """How the agent's process ended, kept until the init has ended too."""


class _Server:
    """Forks on request and reports how each run ended, each over a socket of its own."""

    def __init__(self, control: socket.socket, asks: socket.socket, spans: list[Span]) -> None:
        self._control, self._asks, self._spans = control, asks, spans
        self._processes = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._cells: dict[int, _Cell] = {}
        self._spare: _Cell | None = None
        self._may_fork_ahead = True
        self._pause_ms = 0
        self._poller = select.poll()

    def serve(self) -> None:
        self._poller.register(self._control, select.POLLIN)
        while True:
            is_idle = self._may_fork_ahead and self._spare is None
            events = self._poller.poll(self._pause_ms if is_idle else None)
            if not events and is_idle:
                self._fork_ahead()
            for descriptor, _ in events:
                if descriptor in self._cells:
                    self._see_end(descriptor)
                elif not self._accept():
                    return

    def _fork_ahead(self) -> None:
        try:
            self._spare = self._fork()
        except OSError:
            # Whatever it is, the next request meets it too and reports it.
            self._may_fork_ahead = False

    def _accept(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, 16, 8)
        if not message:
            return False
        *given, report_at = descriptors
        report = socket.socket(fileno=report_at)
        try:
            cell, self._spare = self._spare or self._fork(), None
            self._may_fork_ahead = True
            self._pause_ms = _SHORT_RUN_MS
            socket.send_fds(cell.orders, [b"run"], given)
            cell.orders.close()
            cell.report = report
            _tell(report, {"forked": True}, [cell.init, cell.agent])
        except OSError as error:
            self._spare = None
            _tell(report, {"error": str(error)}, [])
            report.close()
        finally:
            for descriptor in given:
                os.close(descriptor)
        return True

    def _fork(self) -> _Cell:
        """Have an init made, then fork into its namespace of processes."""
        link, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        orders, orders_far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with link, far, orders_far:
            socket.send_fds(self._asks, [b"init"], [far.fileno()])
            answer, descriptors, _, _ = socket.recv_fds(self._asks, 1 << 12, 1)
            if not descriptors:
                orders.close()
                raise OSError(answer.decode(errors="replace") or "the keeper is gone")
            (init,) = descriptors
            kernel.enter_namespace(init, kernel.CLONE_NEWPID)
            try:
                pid = os.fork()
                if not pid:
                    be_agent(orders_far, link, init, self._spans)
            finally:
                kernel.enter_namespace(self._processes, kernel.CLONE_NEWPID)
        cell = _Cell(init, os.pidfd_open(pid), pid, orders)
        self._cells[cell.agent] = cell
        self._poller.register(cell.agent, select.POLLIN)
        return cell

    def _see_end(self, descriptor: int) -> None:
        """Collect the agent's process, end its init, and report when that has ended: the init ends last."""
        cell = self._cells.pop(descriptor)
        self._poller.unregister(descriptor)
        os.close(descriptor)
        if cell.facts is None:
            _, status, used = os.wait4(cell.pid, 0)
            cell.facts = {"status": status, "cpu_s": used.ru_utime + used.ru_stime, "peak_kb": used.ru_maxrss}
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(cell.init, signal.SIGKILL)
            self._cells[cell.init] = cell
            self._poller.register(cell.init, select.POLLIN)
            if cell is self._spare:
                self._spare = None
                cell.orders.close()
        elif cell.report:
            _tell(cell.report, cell.facts, [])
            cell.report.close()
            self._pause_ms = 0


def _tell(to: socket.socket, what: dict[str, Any], descriptors: list[int]) -> None:
    """Send if anyone still listens."""
    with suppress(OSError):
        socket.send_fds(to, [json.dumps(what).encode()], descriptors)
