"""The root that all runs of a warm interpreter share: operating system, interpreter, libraries, all read-only.

It is mounted once; a run copies the mounts (some microseconds each) and adds its own folders.
"""

import os
from typing import Any

from sandmill.sandbox.guest import kernel

DEVICES = {"null": "null", "zero": "full", "full": "full", "random": "random", "urandom": "urandom"}
"""Devices by name, and the machine's device behind each. /dev/full reads as zeros too, but it cannot be mapped: a
shared mapping of the real /dev/zero would be memory that `memory_mb` does not count (see `filter.py`)."""


def leave_host(is_root: bool) -> None:
    """Leave the host's mounts, for our children its processes, and without root its users.

    What the host mounts later still arrives.
    """
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | (0 if is_root else kernel.CLONE_NEWUSER))
    if not is_root:
        proc_self = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
        kernel.map_user(proc_self, 0, uid, gid)
        os.close(proc_self)
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_SLAVE)


def build_template(root: str, view: dict[str, Any]) -> None:
    """Mount the shared root on an empty folder.

    Args:
        root: the folder.
        view: `steps` in order (`tree`: a file, or a folder with all below it, shown at the same path; `mask`: a folder
            shown empty); then `folders` to be there, `links` and `files` by path. None of these three may lie in a
            tree: they would be made on the host.
    """
    kernel.mount("sandmill", root, "tmpfs", kernel.MS_NOSUID, "size=4m,nr_inodes=4096,mode=755")
    for kind, path in view["steps"]:
        if kind == "mask":
            kernel.mount("sandmill", root + path, "tmpfs", 0, "size=16k,nr_inodes=16,mode=755")
        else:
            _bind(path, root + path)
    for path in view["folders"]:
        os.makedirs(root + path, exist_ok=True)
    for path, target in view["links"].items():
        _parent(root + path)
        os.symlink(target, root + path)
    for path, text in view["files"].items():
        _parent(root + path)
        with open(root + path, "w", encoding="utf-8") as file:
            file.write(text)
    kernel.restrict_mounts(root)
    # From here on, what the host mounts below a tree that is shown stays out.
    kernel.mount(None, root, None, kernel.MS_REC | kernel.MS_PRIVATE)
    for device, source in DEVICES.items():
        # Mounted when the rest has lost its devices. Reading and writing work on a read-only mount; changing the times
        # of the node, which all runs share, does not.
        kernel.mount(f"/dev/{source}", f"{root}/dev/{device}", None, kernel.MS_BIND)
        kernel.restrict_mounts(f"{root}/dev/{device}", has_devices=True)


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        _parent(target)
        with open(target, "w", encoding="utf-8"):
            pass
    kernel.mount(source, target, None, kernel.MS_BIND | kernel.MS_REC)


def _parent(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
