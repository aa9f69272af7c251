"""System calls that the standard library of Python 3.11 lacks. Each raises OSError with the name of the call."""

import ctypes
import fcntl
import os
import platform
import socket
import struct

_libc = ctypes.CDLL(None, use_errno=True)

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE, MS_SLAVE = 1 << 12, 1 << 14, 1 << 18, 1 << 19
MNT_DETACH = 2
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x0002_0000, 0x0200_0000, 0x0400_0000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000
RUN_NAMESPACES = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
"""Namespaces of each run, except that of processes (made before the fork) and that of users (made last)."""

_MADV_POPULATE_READ, _MADV_POPULATE_WRITE = 22, 23
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_OPEN_TREE, _MOVE_MOUNT, _OPENAT2, _MOUNT_SETATTR = 428, 429, 437, 442
_RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 4, 8
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC, _MOVE_MOUNT_F_EMPTY_PATH = 1, 0x8_0000, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x2008_0522
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

MACHINES = tuple(_PIVOT_ROOT)


def _check(result: int, call: str, subject: str = "") -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}", subject or None)


def _call(name: str, number: int, *arguments: int | bytes | None, subject: str = "") -> int:
    words = (ctypes.c_long(word) if isinstance(word, int) else word for word in arguments)
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    _check(result, name, subject)
    return result


def _path(path: str | None) -> bytes | None:
    return None if path is None else os.fsencode(path)


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system or bind a folder."""
    data = options.encode() or None
    _check(_libc.mount(_path(source), _path(target), _path(kind), ctypes.c_ulong(flags), data), "mount", target)


def copy_mounts(source: str) -> int:
    """Copy the mounts of a folder. They are attached nowhere and reachable only through the returned descriptor."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
    return _call("open_tree", _OPEN_TREE, _AT_FDCWD, _path(source), flags, subject=source)


def attach_mounts(copied: int, target: str) -> None:
    """Attach copied mounts to a folder."""
    flags = _MOVE_MOUNT_F_EMPTY_PATH
    _call("move_mount", _MOVE_MOUNT, copied, b"", _AT_FDCWD, _path(target), flags, subject=target)


def open_folder(root: int, path: str) -> int:
    """Open a folder below the folder of a descriptor. A path with a link in it, or out of the root, is an error."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    how = struct.pack("=QQQ", flags, 0, _RESOLVE_NO_SYMLINKS | _RESOLVE_BENEATH)
    return _call("openat2", _OPENAT2, root, _path(path), how, len(how))


def detach(target: str) -> None:
    """Unmount a folder and all mounts below it, as soon as nobody uses them."""
    _check(_libc.umount2(_path(target), MNT_DETACH), "umount2", target)


def restrict_mounts(target: str, has_devices: bool = False) -> None:
    """Make a mount and all mounts below it read-only, without set-uid and, unless `has_devices`, without devices."""
    _set_attributes(target, _ATTR_RDONLY | _ATTR_NOSUID | (0 if has_devices else _ATTR_NODEV), 0, _AT_RECURSIVE)


def freeze_mounts(target: str) -> None:
    """Make a mount and all mounts below it read-only. Other attributes stay."""
    _set_attributes(target, _ATTR_RDONLY, 0, _AT_RECURSIVE)


def unfreeze_mount(target: str) -> None:
    """Make one mount writable again. This works only if it was writable when the mount namespace was created."""
    _set_attributes(target, 0, _ATTR_RDONLY, 0)


def _set_attributes(target: str, added: int, removed: int, flags: int) -> None:
    data = struct.pack("=QQQQ", added, removed, 0, 0)
    _call("mount_setattr", _MOUNT_SETATTR, _AT_FDCWD, _path(target), flags, data, len(data), subject=target)


def swap_root(new_root: str) -> None:
    """Make a mounted folder the root, and unmount the old root."""
    os.chdir(new_root)
    _call("pivot_root", _PIVOT_ROOT[platform.machine()], b".", b".", subject=new_root)
    detach(".")
    os.chdir("/")


def unshare(flags: int) -> None:
    """Create new namespaces and enter them."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def enter_namespace(descriptor: int, kind: int) -> None:
    """Join the namespace of a descriptor."""
    _check(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def _prctl(option: int, value: int, call: str) -> None:
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), call)


def die_with_parent() -> None:
    """Die when the thread that forked this process ends. A change of uid or capabilities resets this setting."""
    _prctl(_PR_SET_PDEATHSIG, 9, "prctl(PR_SET_PDEATHSIG)")


def set_dumpable(is_dumpable: bool) -> None:
    """Set whether processes of the same uid may inspect this process through /proc."""
    _prctl(_PR_SET_DUMPABLE, int(is_dumpable), "prctl(PR_SET_DUMPABLE)")


def forbid_new_privileges() -> None:
    """Ignore set-uid bits of programs from here on."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "prctl(PR_SET_NO_NEW_PRIVS)")


def install_filter(program: bytes) -> None:
    """Filter the system calls of this process and its future children with a classic BPF program."""
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    zero = ctypes.c_ulong(0)
    result = _libc.prctl(ctypes.c_int(_PR_SET_SECCOMP), ctypes.c_ulong(_SECCOMP_MODE_FILTER), header, zero, zero)
    _check(result, "prctl(PR_SET_SECCOMP)")


def populate(low: int, size: int, is_written: bool) -> bool:
    """Fault in memory as if it had been read or written. Returns whether this worked, which needs Linux 5.14."""
    advice = _MADV_POPULATE_WRITE if is_written else _MADV_POPULATE_READ
    return bool(_libc.madvise(ctypes.c_void_p(low), ctypes.c_size_t(size), ctypes.c_int(advice)) == 0)


def empty_bounding_set() -> None:
    """Remove every capability from those that a program may ever gain. This needs CAP_SETPCAP."""
    with open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _prctl(_PR_CAPBSET_DROP, capability, "prctl(PR_CAPBSET_DROP)")


def drop_capabilities() -> None:
    """Drop all capabilities in this user namespace."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _call("capset", _CAPSET[platform.machine()], header, bytes(24))


def raise_loopback() -> None:
    """Switch on the loopback device of the network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        (flags,) = struct.unpack_from("H", request, 16)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def map_user(proc_self: int, inside: int, outside_uid: int, outside_gid: int) -> None:
    """Map our uid and gid into the user namespace that this process has just created."""
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {outside_uid} 1"),
        ("gid_map", f"{inside} {outside_gid} 1"),
    ):
        descriptor = os.open(name, os.O_WRONLY, dir_fd=proc_self)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
