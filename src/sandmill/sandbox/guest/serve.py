"""The warm interpreter: imports the libraries once, then forks a run for every request, from its only thread.

It holds no secret and never reads a job: descriptors pass through it, and only the forked child reads the code.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from typing import Any, NoReturn

from sandmill.sandbox.guest import box, kernel, script
from sandmill.sandbox.guest.preload import preload
from sandmill.sandbox.guest.template import build_template, leave_host

_PARENT_CHECK_MS = 1000


def main(arguments: list[str]) -> None:
    """Serve the control socket whose descriptor is the first argument until the other end closes."""
    control = socket.socket(fileno=int(arguments[0]))
    hello: dict[str, Any] = json.loads(control.recv(1 << 16))
    try:
        leave_host(hello["is_root"])
        if server := os.fork():
            control.close()
            _guard(server)
        kernel.die_with_parent()
        build_template(hello["root"], hello["view"])
        preload()
    except Exception as error:
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    gc.collect()
    gc.freeze()
    control.send(b'{"ready": true}')
    _Server(control, hello["root"], hello["is_root"]).serve()
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


class _Server:
    """Forks on request and reports how each fork ended, each over a socket of its own."""

    def __init__(self, control: socket.socket, root: str, is_root: bool) -> None:
        self._control, self._root, self._is_root = control, root, is_root
        self._processes = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._alive, self._still_alive = os.pipe()
        self._runs: dict[int, tuple[int, socket.socket]] = {}
        self._poller = select.poll()

    def serve(self) -> None:
        self._poller.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in self._poller.poll():
                if descriptor in self._runs:
                    self._reap(descriptor)
                elif not self._accept():
                    return

    def _accept(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, 16, 8)
        if not message:
            return False
        job, stdout, stderr, stage, report = descriptors
        try:
            self._fork(job, stdout, stderr, stage, socket.socket(fileno=report))
        finally:
            for descriptor in (job, stdout, stderr, stage):
                os.close(descriptor)
        return True

    def _fork(self, job: int, stdout: int, stderr: int, stage: int, report: socket.socket) -> None:
        try:
            kernel.unshare(kernel.CLONE_NEWPID)
            try:
                pid = os.fork()
                if not pid:
                    self._become_init(job, stdout, stderr, stage)
            finally:
                kernel.enter_namespace(self._processes, kernel.CLONE_NEWPID)
        except OSError as error:
            report.send(json.dumps({"error": str(error)}).encode())
            report.close()
            return
        watched = os.pidfd_open(pid)
        self._runs[watched] = (pid, report)
        self._poller.register(watched, select.POLLIN)
        _tell(report, {"forked": True}, [watched])

    def _reap(self, watched: int) -> None:
        pid, report = self._runs.pop(watched)
        self._poller.unregister(watched)
        _, status, used = os.wait4(pid, 0)
        os.close(watched)
        facts = {"status": status, "cpu_s": used.ru_utime + used.ru_stime, "peak_kb": used.ru_maxrss}
        _tell(report, facts, [])
        report.close()

    def _become_init(self, job: int, stdout: int, stderr: int, stage: int) -> NoReturn:
        talk = socket.socket(fileno=os.dup(stage))
        try:
            os.close(self._still_alive)
            kernel.die_with_parent()
            box.take_streams(os.dup(stdout), os.dup(stderr))
            agent = self._prepare(box.Job(os.dup(job)), talk)
        except BaseException as error:
            _tell(talk, f"error {type(error).__name__}: {error}", [])
            os._exit(1)
        _wait_for(agent)

    def _prepare(self, job: box.Job, talk: socket.socket) -> int:
        """Shut the run in, then start the agent's process, of which we stay the parent as init."""
        proc_self = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
        uid = box.FIRST_UID + int(os.readlink("/proc/self")) if self._is_root else 0
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        box.leave_namespaces()
        box.furnish(self._root, job.public, job)
        kernel.mount("proc", f"{self._root}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        kernel.restrict_mounts(f"{self._root}/proc")
        kernel.swap_root(self._root)
        box.name_host()
        box.report_ready(talk, uid)
        box.give_up_rights(uid, proc_self)
        kernel.set_dumpable(False)
        kernel.die_with_parent()
        poller = select.poll()
        poller.register(self._alive, select.POLLIN)
        if poller.poll(0):
            raise ConnectionError("the server is gone")
        box.report_started(talk)
        agent = os.fork()
        if agent:
            return agent
        try:
            kernel.set_dumpable(True)
            os.chdir(box.WORK)
            box.set_limits(job.limits)
            script.write_script(job.code)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        script.run_script(job.code)


def _wait_for(agent: int) -> NoReturn:
    """Collect orphans until the agent's process ends; the kernel then ends all others with us."""
    while True:
        try:
            pid, status = os.wait()
        except InterruptedError:
            continue
        if pid == agent:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _tell(to: socket.socket, what: str | dict[str, Any], descriptors: list[int]) -> None:
    """Send if anyone still listens."""
    text = what if isinstance(what, str) else json.dumps(what)
    with suppress(OSError):
        socket.send_fds(to, [text.encode()], descriptors)
