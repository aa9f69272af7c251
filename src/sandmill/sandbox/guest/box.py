"""What one run sees and may use: its own folders, the public files, limits, and no way back.

Layout inside: `/box/work` is the working directory with `public/` in it; `/tmp`, the home folder and `/dev/shm` lie
in the same size-limited file system beside it.
"""

import json
import os
import platform
import resource
import socket
import time
from functools import cache
from typing import Any

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.filter import build_filter

BOX = "/box"
WORK = "/box/work"
FOLDERS = ("work", "tmp", "home", "shm")
AGENT_UID = 1000
FIRST_UID = 1 << 30
"""As root, a run has the uid FIRST_UID + pid of its init: its own as long as it lives, with nothing to give back."""

OWN_NAMESPACES = (
    kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP
)


class Job:
    """One run as the parent describes it: limits, places and code, read from a memory file after the fork."""

    def __init__(self, descriptor: int) -> None:
        # Two processes read the same open file, so neither may move its position.
        facts: dict[str, Any] = json.loads(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        self.code: str = facts["code"]
        self.public: str = facts["public"]
        self.public_identity: tuple[int, int] = tuple(facts["public_identity"])
        self.limits: dict[str, int] = facts["limits"]
        self.processors: list[int] = facts["processors"]


def leave_namespaces() -> None:
    """Start namespaces of our own; that of processes was made before the fork, that of users comes last."""
    kernel.unshare(OWN_NAMESPACES)


def furnish(public: int, job: Job) -> None:
    """Mount the run's own file system and put the public files into it.

    Args:
        public: copied mounts of the public files.
        job: says how large, and which folder the parent meant.

    Raises:
        OSError: also if `public` is not the folder that the parent meant, seen from our mounts.
    """
    limits = job.limits
    options = f"size={limits['disk_bytes']},nr_inodes={limits['inodes']},mode=755"
    kernel.mount("sandmill", BOX, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for folder in FOLDERS:
        os.mkdir(f"{BOX}/{folder}", 0o700)
    target = f"{WORK}/public"
    os.mkdir(target, 0o755)
    kernel.attach_mounts(public, target)
    os.close(public)
    seen = os.stat(target)
    if (seen.st_dev, seen.st_ino) != job.public_identity:
        raise FileNotFoundError(f"public: another folder is mounted at {job.public} since the sandbox started")
    kernel.restrict_mounts(target)


def name_host() -> None:
    """Give the run a host name and a loopback of its own, so that nothing tells where it runs."""
    socket.sethostname("sandbox")
    kernel.raise_loopback()


def report_ready(stage: socket.socket, uid: int, folder: str = WORK) -> None:
    """Hand the working directory to the parent, who fills it, and wait for its word.

    Raises:
        ConnectionError: if the parent is gone.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    socket.send_fds(stage, [f"ready {uid}".encode()], [descriptor])
    os.close(descriptor)
    if stage.recv(16) != b"go":
        raise ConnectionError("the parent is gone")


def claim_folders(uid: int) -> None:
    """Give the run's folders to its uid, if it has one of its own."""
    os.umask(0o022)
    if uid:
        for folder in FOLDERS:
            os.chown(f"{BOX}/{folder}", uid, uid)


def make_user(proc_self: int) -> None:
    """Start a user namespace of the run's own.

    Args:
        proc_self: our folder in a writable /proc.
    """
    kernel.unshare(kernel.CLONE_NEWUSER)
    kernel.map_user(proc_self, AGENT_UID, 0, 0)


def become_agent(uid: int) -> None:
    """Give up every right for good: as root for a uid of the run's own, else within its user namespace."""
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.install_filter(_program())


@cache
def _program() -> bytes:
    return build_filter(platform.machine())


def prepare_filter() -> None:
    """Assemble the filter once, for all forks to come."""
    _program()


def be_first_to_die() -> None:
    """Have the kernel end us, and what we start, before anything else when memory runs out."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def set_limits(limits: dict[str, int]) -> None:
    """Bound what one process may use; memory counts from what the interpreter holds already."""
    with open("/proc/self/statm", "rb") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    for kind, value in (
        (resource.RLIMIT_AS, held + limits["memory_bytes"]),
        (resource.RLIMIT_CPU, limits["cpu_s"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_MEMLOCK, 1 << 16),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_RTPRIO, 0),
        # With 0 the machine's handler of crashes, if it has one, would still be given the memory; not with 1.
        (resource.RLIMIT_CORE, 1),
    ):
        _, hard = resource.getrlimit(kind)
        lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # A second between SIGXCPU, which tells why, and SIGKILL, which cannot be ignored.
        grace = 1 if kind == resource.RLIMIT_CPU and lowered == value else 0
        resource.setrlimit(kind, (lowered, lowered + grace))


def keep_to(processors: list[int]) -> None:
    """Run on these processors only; the filter of system calls, which comes later, refuses to change it again."""
    if processors:
        os.sched_setaffinity(0, processors)


def take_streams(stdout: int, stderr: int) -> None:
    """Put the parent's pipes in place of our output."""
    for source, target in ((stdout, 1), (stderr, 2)):
        os.dup2(source, target)
        os.close(source)


def close_input() -> None:
    """Put nothing in place of our input: the null device of our own root, not of a mount that we should not hold."""
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def say_started(stage: socket.socket) -> None:
    """Say that the code is about to start, and what processor time went before: a warm run has used some for us."""
    stage.send(f"started {time.process_time():.6f}".encode())


def report_started(stage: socket.socket) -> None:
    """Say that all faults from here on are the agent's, and leave its code no descriptor of ours."""
    say_started(stage)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
