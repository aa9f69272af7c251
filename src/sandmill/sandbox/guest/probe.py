"""Try every step of the isolation in the order of a run, and report the first that fails."""

import json
import os
import platform
import sys
import tempfile

from sandmill.sandbox.guest import box, kernel
from sandmill.sandbox.guest.template import leave_host


def main(arguments: list[str]) -> None:
    """Print one JSON object: `is_root`, and `missing`, the error of each way to isolate; empty if one works."""
    missing: dict[str, str] = {}
    for is_root in [True, False] if os.geteuid() == 0 else [False]:
        failure = _try_in_child(is_root)
        if not (failure or is_root or _is_counted()):
            failure = "works, but the kernel does not limit processes of uid 0: run as an ordinary user"
        if not failure:
            sys.stdout.write(json.dumps({"is_root": is_root, "missing": {}}))
            return
        missing["as root" if is_root else "with user namespaces"] = failure
    sys.stdout.write(json.dumps({"is_root": False, "missing": missing}))


def _is_counted() -> bool:
    """Whether the kernel limits the number of our processes. It does not for uid 0 of the machine."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        return os.geteuid() != 0 or file.read().split()[:2] != ["0", "0"]


def _try_in_child(is_root: bool) -> str:
    """Try the isolation in a forked process. Returns the error, or an empty string."""
    with tempfile.TemporaryDirectory(prefix="sandmill-probe-") as root:
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            _try(is_root, root, writer)
        os.close(writer)
        with open(reader, encoding="utf-8") as file:
            message = file.read()
        _, status = os.waitpid(pid, 0)
    return "" if message == "done" else message or f"the probe ended with status {status}"


def _try(is_root: bool, root: str, writer: int) -> None:
    try:
        if platform.machine() not in kernel.MACHINES:
            raise OSError(f"processor {platform.machine()} is not supported, only {', '.join(kernel.MACHINES)}")
        leave_host(is_root)
        kernel.freeze_mounts("/")
        kernel.unfreeze_mount("/proc")
        inner = os.fork()
        if inner:
            os.waitpid(inner, 0)
            os._exit(0)
        uid = box.FIRST_UID if is_root else 0
        proc_self = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
        kernel.unshare(kernel.RUN_NAMESPACES)
        kernel.mount("sandmill", root, "tmpfs", 0, "size=1m,nr_inodes=64,mode=755")
        for folder in ("/proc", "/box"):
            os.mkdir(root + folder)
        for folder in box.FOLDERS:
            os.mkdir(f"{root}{box.BOX}/{folder}")
        kernel.mount("proc", f"{root}/proc", "proc", 0)
        kernel.restrict_mounts(f"{root}/proc")
        kernel.swap_root(root)
        box.set_host_identity()
        box.claim_folders(uid)
        if not uid:
            box.make_user(proc_self)
        box.become_agent(uid)
        os.write(writer, b"done")
    except BaseException as error:
        os.write(writer, f"{error}".encode())
    os._exit(0)
