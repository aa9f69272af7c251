"""Steps that confine one run: its own folders, the public files, limits, and the irreversible loss of rights.

Inside a run, `/box/work` is the working directory and contains `public/`. `/tmp`, the home folder and `/dev/shm` are
folders of the same size-limited file system.
"""

import json
import os
import platform
import resource
import socket
import time
from typing import Any, NoReturn

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.filter import build_filter

BOX = "/box"
WORK = "/box/work"
FOLDERS = ("work", "tmp", "home", "shm")
AGENT_UID = 1000
FIRST_UID = 1 << 30
"""As root, a run has the uid FIRST_UID + pid of its init process. It is unique while the run lives, and needs no
allocation."""


class GuestRun:
    """One run as the parent describes it: limits, folders and code. It is read from a memory file after the fork."""

    def __init__(self, descriptor: int) -> None:
        # Two processes share this open file and its position, so it is read with pread.
        facts: dict[str, Any] = json.loads(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        self.code: str = facts["code"]
        self.public: str = facts["public"]
        self.public_identity: tuple[int, int] = tuple(facts["public_identity"])
        self.hidden: frozenset[str] = frozenset(facts["hidden"])
        self.limits: dict[str, int] = facts["limits"]
        self.processors: list[int] = facts["processors"]


def mount_run_folders(public: int, job: GuestRun) -> None:
    """Mount the run's own file system and attach the public files in it, whose copied mounts `public` describes.

    If some are hidden, the others are attached one by one in a folder of their own.

    Raises `OSError` if a mount fails, or if `public` is another folder than the parent named.
    """
    limits = job.limits
    options = f"size={limits['disk_bytes']},nr_inodes={limits['inodes']},mode=755"
    kernel.mount("sandmill", BOX, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for folder in FOLDERS:
        os.mkdir(f"{BOX}/{folder}", 0o700)
    target = f"{WORK}/public"
    os.mkdir(target, 0o755)
    whole = f"{BOX}/public" if job.hidden else target
    os.makedirs(whole, exist_ok=True)
    kernel.attach_mounts(public, whole)
    os.close(public)
    seen = os.stat(whole)
    if (seen.st_dev, seen.st_ino) != job.public_identity:
        raise FileNotFoundError(f"public: another folder is mounted at {job.public} since the sandbox started")
    if job.hidden:
        _attach_others(whole, target, job.hidden)
    kernel.restrict_mounts(target)


def _attach_others(whole: str, target: str, hidden: frozenset[str]) -> None:
    """Attach the entries of a mounted folder in an empty one, but for those with a hidden name, and unmount it."""
    with os.scandir(whole) as found:
        entries = [entry for entry in found if entry.name not in hidden]
    options = f"size=16k,nr_inodes={len(entries) + 2},mode=755"
    kernel.mount("sandmill", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for entry in entries:
        place = f"{target}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            os.mkdir(place)
        else:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        copied = kernel.copy_mounts(entry.path)
        kernel.attach_mounts(copied, place)
        os.close(copied)
    kernel.detach(whole)
    os.rmdir(whole)


def set_host_identity() -> None:
    """Set a neutral host name and switch on the loopback of the run's network namespace."""
    socket.sethostname("sandbox")
    kernel.raise_loopback()


def report_ready(setup_socket: socket.socket, uid: int, folder: str = WORK) -> None:
    """Send the working directory to the parent, and wait until the parent has copied files into it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    socket.send_fds(setup_socket, [f"ready {uid}".encode()], [descriptor])
    os.close(descriptor)
    if setup_socket.recv(16) != b"go":
        raise ConnectionError("the parent is gone")


def claim_folders(uid: int) -> None:
    """Make the run's uid the owner of its folders. A uid of 0 means that the run has no uid of its own."""
    os.umask(0o022)
    if uid:
        for folder in FOLDERS:
            os.chown(f"{BOX}/{folder}", uid, uid)


def make_user(proc_self: int) -> None:
    """Create the run's user namespace. `proc_self` is a descriptor of our own folder in a writable /proc."""
    kernel.unshare(kernel.CLONE_NEWUSER)
    kernel.map_user(proc_self, AGENT_UID, 0, 0)


def become_agent(uid: int) -> None:
    """Drop all rights irreversibly: switch to the run's uid (as root), drop capabilities, and install the filter."""
    kernel.empty_bounding_set()
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.install_filter(build_filter(platform.machine()))


def prefer_as_oom_victim() -> None:
    """Make the kernel kill this process and its children first when the machine runs out of memory."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def set_limits(limits: dict[str, int]) -> None:
    """Set the resource limits of one process. Its address space limit is added to what the interpreter uses already."""
    with open("/proc/self/statm", "rb") as file:
        mapped_bytes = int(file.read().split()[0]) * resource.getpagesize()
    for kind, value in (
        (resource.RLIMIT_AS, mapped_bytes + limits["memory_bytes"]),
        (resource.RLIMIT_CPU, limits["cpu_s"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_MEMLOCK, 1 << 16),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_RTPRIO, 0),
        # A limit of 0 does not stop a crash handler that reads cores from a pipe. A limit of 1 does.
        (resource.RLIMIT_CORE, 1),
    ):
        _, hard = resource.getrlimit(kind)
        lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # SIGXCPU tells the reason, and SIGKILL cannot be ignored. There is one second between them.
        grace = 1 if kind == resource.RLIMIT_CPU and lowered == value else 0
        resource.setrlimit(kind, (lowered, lowered + grace))


def restrict_to_processors(processors: list[int]) -> None:
    """Run on these processors only. The seccomp filter, installed later, refuses to change this."""
    if processors:
        os.sched_setaffinity(0, processors)


def replace_stream(stream: int, source: int) -> None:
    """Replace standard input, output or error by a descriptor, and close that."""
    os.dup2(source, stream)
    os.close(source)


def report_started(setup_socket: socket.socket) -> None:
    """Report that the code starts now, with the processor time that this process has used for the set-up.

    Then close all of our descriptors. Later errors count as the agent's.
    """
    setup_socket.send(f"started {time.process_time():.6f}".encode())
    close_all_but()


def report_error(to: socket.socket, error: BaseException) -> NoReturn:
    """Report an error of the set-up and end this process."""
    try:
        to.send(f"error {type(error).__name__}: {error}".encode())
    finally:
        os._exit(1)


def close_all_but(*kept: int) -> None:
    """Close all descriptors except 0, 1, 2 and these."""
    low = 3
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))
