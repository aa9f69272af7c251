"""Try everything that isolation needs and say what fails, in the order in which a run would meet it."""

import json
import os
import platform
import sys
import tempfile

from sandmill.sandbox.guest import box, kernel
from sandmill.sandbox.guest.template import leave_host


def main(arguments: list[str]) -> None:
    """Write one JSON object: `is_root`, and in `missing` what failed for each way; empty if one way works."""
    missing: dict[str, str] = {}
    for is_root in [True, False] if os.geteuid() == 0 else [False]:
        failure = _try_in_child(is_root)
        if not (failure or is_root or _is_counted()):
            failure = "works, but for uid 0 without its rights there is no limit of processes: be an ordinary user"
        if not failure:
            sys.stdout.write(json.dumps({"is_root": is_root, "missing": {}}))
            return
        missing["as root" if is_root else "with user namespaces"] = failure
    sys.stdout.write(json.dumps({"is_root": False, "missing": missing}))


def _is_counted() -> bool:
    """Whether the kernel counts our processes: those of the machine's own uid 0 it does not."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        return os.geteuid() != 0 or file.read().split()[:2] != ["0", "0"]


def _try_in_child(is_root: bool) -> str:
    with tempfile.TemporaryDirectory(prefix="sandmill-probe-") as root:
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            _try(is_root, root, writer)
        os.close(writer)
        with open(reader, encoding="utf-8") as file:
            said = file.read()
        _, status = os.waitpid(pid, 0)
    return "" if said == "done" else said or f"the probe ended with status {status}"


def _try(is_root: bool, root: str, writer: int) -> None:
    try:
        if platform.machine() not in kernel.MACHINES:
            raise OSError(f"processor {platform.machine()} is none of {', '.join(kernel.MACHINES)}")
        leave_host(is_root)
        kernel.freeze_mounts("/")
        kernel.unfreeze_mount("/proc")
        inner = os.fork()
        if inner:
            os.waitpid(inner, 0)
            os._exit(0)
        uid = box.FIRST_UID if is_root else 0
        proc_self = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
        box.leave_namespaces()
        kernel.mount("sandmill", root, "tmpfs", 0, "size=1m,nr_inodes=64,mode=755")
        for folder in ("/proc", "/box"):
            os.mkdir(root + folder)
        for folder in box.FOLDERS:
            os.mkdir(f"{root}{box.BOX}/{folder}")
        kernel.mount("proc", f"{root}/proc", "proc", 0)
        kernel.restrict_mounts(f"{root}/proc")
        kernel.swap_root(root)
        box.name_host()
        box.claim_folders(uid)
        if not uid:
            box.make_user(proc_self)
        box.become_agent(uid)
        os.write(writer, b"done")
    except BaseException as error:
        os.write(writer, f"{error}".encode())
    os._exit(0)
