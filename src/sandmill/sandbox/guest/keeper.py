"""The keeper, and the init processes that it forks: one for each run.

An init process (PID 1 of its PID namespace) creates and holds the namespaces of a run. When it ends, the kernel kills
all other processes in it. The keeper is forked before the libraries are imported, so it is small and forks fast.
"""

import os
import select
import signal
import socket
from typing import NoReturn

from sandmill.sandbox.guest import box, kernel


def serve_init_requests(requests: socket.socket, root: str, is_root: bool) -> NoReturn:
    """Fork an init process for every request of the warm interpreter, and reap those that have ended.

    A request holds the socket that connects the init process to the agent process; the reply holds the pidfd of the
    init process. `is_root` says whether each run gets its own uid. Otherwise it gets its own user namespace.
    """
    box.close_all_but(requests.fileno())
    kernel.die_with_parent()
    own_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY)
    inits: dict[int, int] = {}
    poller = select.poll()
    poller.register(requests, select.POLLIN)
    while True:
        for descriptor, _ in poller.poll():
            if descriptor in inits:
                poller.unregister(descriptor)
                os.waitpid(inits.pop(descriptor), 0)
                os.close(descriptor)
                continue
            message, descriptors, _, _ = socket.recv_fds(requests, 16, 1)
            if not message:
                os._exit(0)
            (agent_socket,) = descriptors
            try:
                pid = _fork_init(own_namespace, agent_socket, root, is_root)
            except OSError as error:
                requests.send(f"error {error}".encode())
            else:
                init_fd = os.pidfd_open(pid)
                inits[init_fd] = pid
                poller.register(init_fd, select.POLLIN)
                socket.send_fds(requests, [b"made"], [init_fd])
            os.close(agent_socket)


def _fork_init(own_namespace: int, agent_socket: int, root: str, is_root: bool) -> int:
    """Fork an init process into a new PID namespace. `own_namespace` is the keeper's PID namespace."""
    kernel.unshare(kernel.CLONE_NEWPID)
    try:
        pid = os.fork()
        if not pid:
            _run_init(socket.socket(fileno=agent_socket), root, is_root)
    finally:
        kernel.enter_namespace(own_namespace, kernel.CLONE_NEWPID)
    return pid


def _run_init(agent_socket: socket.socket, root: str, is_root: bool) -> NoReturn:
    try:
        box.close_all_but(agent_socket.fileno())
        kernel.die_with_parent()
        _prepare_namespaces(agent_socket, root, is_root)
    except BaseException as error:
        box.report_error(agent_socket, error)
    _collect_orphans()


def _collect_orphans() -> NoReturn:
    """Reap orphans of the run until this process is killed. The agent process is a child of the warm interpreter."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        signal.sigwait([signal.SIGCHLD])


def _prepare_namespaces(agent_socket: socket.socket, root: str, is_root: bool) -> None:
    """Create the namespaces and the root of a run, wait for the job, add its folders, and drop all rights."""
    proc_self = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
    host_mounts = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    uid = box.FIRST_UID + int(os.readlink("/proc/self")) if is_root else 0
    box.prefer_as_oom_victim()
    kernel.unshare(kernel.RUN_NAMESPACES)
    kernel.mount("proc", f"{root}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.restrict_mounts(f"{root}/proc")
    box.set_host_identity()
    own_mounts = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    kernel.swap_root(root)
    # The steps above do not need the job, so they are done ahead. A run waits for the steps below.
    message, descriptors, _, _ = socket.recv_fds(agent_socket, 16, 1)
    if not message:
        os._exit(0)
    job = box.GuestRun(descriptors[0])
    kernel.enter_namespace(host_mounts, kernel.CLONE_NEWNS)
    public = kernel.copy_mounts(job.public)
    kernel.enter_namespace(own_mounts, kernel.CLONE_NEWNS)
    for descriptor in (host_mounts, own_mounts, descriptors[0]):
        os.close(descriptor)
    box.mount_run_folders(public, job)
    box.claim_folders(uid)
    if not uid:
        box.make_user(proc_self)
    os.close(proc_self)
    agent_socket.send(f"furnished {uid}".encode())
    if agent_socket.recv(16) != b"joined":
        os._exit(0)
    agent_socket.close()
    box.become_agent(uid)
    kernel.set_dumpable(False)
    kernel.die_with_parent()
    for stream in range(3):
        os.close(stream)
