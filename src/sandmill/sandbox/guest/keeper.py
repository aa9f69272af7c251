"""Inits of runs: small processes that make a run's namespaces, hold them, and take all processes along when they end.

They are forked from the keeper, which was forked before the libraries were imported, so that they cost next to nothing.
"""

import os
import select
import signal
import socket
from typing import NoReturn

from sandmill.sandbox.guest import box, kernel


def keep(asks: socket.socket, root: str, is_root: bool) -> NoReturn:
    """Fork an init for every request of the server, and collect those that ended.

    Args:
        asks: a request brings the socket by which the init talks with the agent's process; the answer brings a pidfd.
        root: folder of the template.
        is_root: whether runs get uids of their own, and not user namespaces.
    """
    close_all_but(asks.fileno())
    kernel.die_with_parent()
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    inits: dict[int, int] = {}
    poller = select.poll()
    poller.register(asks, select.POLLIN)
    while True:
        for descriptor, _ in poller.poll():
            if descriptor in inits:
                poller.unregister(descriptor)
                os.waitpid(inits.pop(descriptor), 0)
                os.close(descriptor)
                continue
            message, descriptors, _, _ = socket.recv_fds(asks, 16, 1)
            if not message:
                os._exit(0)
            (link,) = descriptors
            try:
                pid = _fork_init(own, link, root, is_root)
            except OSError as error:
                asks.send(f"error {error}".encode())
            else:
                held = os.pidfd_open(pid)
                inits[held] = pid
                poller.register(held, select.POLLIN)
                socket.send_fds(asks, [b"made"], [held])
            os.close(link)


def _fork_init(own: int, link: int, root: str, is_root: bool) -> int:
    kernel.unshare(kernel.CLONE_NEWPID)
    try:
        pid = os.fork()
        if not pid:
            _be_init(socket.socket(fileno=link), root, is_root)
    finally:
        kernel.enter_namespace(own, kernel.CLONE_NEWPID)
    return pid


def _be_init(link: socket.socket, root: str, is_root: bool) -> NoReturn:
    try:
        close_all_but(link.fileno())
        kernel.die_with_parent()
        _prepare(link, root, is_root)
    except BaseException as error:
        try:
            link.send(f"error {type(error).__name__}: {error}".encode())
        finally:
            os._exit(1)
    _collect_orphans()


def _collect_orphans() -> NoReturn:
    """Collect the agent's orphans until we are killed; its first process is the server's child, not ours."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        signal.sigwait([signal.SIGCHLD])


def _prepare(link: socket.socket, root: str, is_root: bool) -> None:
    proc_self = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
    host = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    uid = box.FIRST_UID + int(os.readlink("/proc/self")) if is_root else 0
    box.be_first_to_die()
    box.leave_namespaces()
    kernel.mount("proc", f"{root}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.restrict_mounts(f"{root}/proc")
    box.name_host()
    own = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    kernel.swap_root(root)
    # All of the above was done before there was a job; what follows, a run waits for.
    message, descriptors, _, _ = socket.recv_fds(link, 16, 1)
    if not message:
        os._exit(0)
    job = box.Job(descriptors[0])
    kernel.enter_namespace(host, kernel.CLONE_NEWNS)
    public = kernel.copy_mounts(job.public)
    kernel.enter_namespace(own, kernel.CLONE_NEWNS)
    for descriptor in (host, own, descriptors[0]):
        os.close(descriptor)
    box.furnish(public, job)
    box.claim_folders(uid)
    if not uid:
        box.make_user(proc_self)
    os.close(proc_self)
    link.send(f"furnished {uid}".encode())
    if link.recv(16) != b"joined":
        os._exit(0)
    link.close()
    box.become_agent(uid)
    kernel.set_dumpable(False)
    kernel.die_with_parent()
    for stream in range(3):
        os.close(stream)


def close_all_but(*kept: int) -> None:
    """Let go of every descriptor but the streams and these."""
    low = 3
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))
