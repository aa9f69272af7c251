"""Mount the root that all runs of a warm interpreter share: system, interpreter and libraries, all read-only.

It is mounted once. Each run copies the mounts, which takes some microseconds each, and adds its own folders.
"""

import os
from typing import Any

from sandmill.sandbox.guest import kernel

DEVICES = {"null": "null", "zero": "full", "full": "full", "random": "random", "urandom": "urandom"}
"""Devices in the run, by name, and the device of the machine behind each. /dev/zero is /dev/full of the machine: it
also reads as zeros, but cannot be mapped. `memory_mb` would miss a shared mapping of /dev/zero: see `filter.py`."""


def leave_host(is_root: bool) -> None:
    """Create a mount namespace, a PID namespace for our children, and without root a user namespace.

    Later mounts of the host still appear in the new mount namespace.
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

    The view has `steps`, in order: `tree` shows a file or folder of the host at the same path, `mask` hides the
    contents of a folder. Then `folders` to create, `links` and `files` by path. None of these three may lie in a shown
    tree, since they would be created on the host.
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
    # From here on, new mounts of the host below a shown tree do not appear here.
    kernel.mount(None, root, None, kernel.MS_REC | kernel.MS_PRIVATE)
    for device, source in DEVICES.items():
        # Devices are mounted after restrict_mounts has disabled devices elsewhere. On a read-only mount, reading and
        # writing a device work, but its times, which all runs share, cannot be changed.
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
