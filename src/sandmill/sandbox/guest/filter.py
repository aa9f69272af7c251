"""The seccomp program: an allow-list in classic BPF that answers with error numbers and never kills."""

import errno
import struct

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.syscalls import ALLOWED, CHECKED, REFUSED, numbers

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENT = 0, 4, 16
"""Offsets in struct seccomp_data; arguments are 8 bytes each, the low half first on both processors."""

_AUDIT_ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_X32 = 0x4000_0000
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000

_NAMESPACES = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWCGROUP
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
)
_CLONE_PTRACE, _CLONE_UNTRACED = 0x2000, 0x0080_0000
_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6: local to the run's own network namespace. AF_VSOCK and AF_NETLINK would not be."""
_TERMINAL_TRICKS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX put characters into the input of a terminal."""
_PERSONALITIES = (0, 0xFFFF_FFFF)
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_HUGETLB = 1, 0x20, 0x4_0000
"""Shared anonymous memory stays in use after MADV_DONTNEED or a partial munmap, but no process is charged for it any
more. Memory from the machine's pool of huge pages is never part of a process's resident set. `memory_mb` could count
neither, so neither can be had. MAP_SHARED_VALIDATE (3) has the bit of MAP_SHARED too."""
_PRCTL = (1, 2, 3, 4, 7, 14, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 41, 42, 64, 0x53564D41)
"""Names, parent-death signal, dumpability, timer slack, reaping, huge pages, no-new-privs, names of memory areas."""


def build_filter(machine: str) -> bytes:
    """Assemble the program for a processor.

    Raises:
        KeyError: if we do not know the processor's system calls.
    """
    unknown, refused = _ERRNO | errno.ENOSYS, _ERRNO | errno.EPERM
    code = [
        _step(_LOAD, _MACHINE),
        _step(_JUMP_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        _step(_RETURN, unknown),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_ABOVE, _X32, 0, 1),
        _step(_RETURN, unknown),
    ]
    for number in sorted(numbers(ALLOWED, machine).values()):
        code += [_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, _ALLOW)]
    for number in sorted(numbers(REFUSED, machine).values()):
        code += [_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, refused)]
    checked = numbers(CHECKED, machine)
    for name, body in (
        ("clone", _without_bits(_NAMESPACES | _CLONE_PTRACE | _CLONE_UNTRACED)),
        ("socket", _one_of(_FAMILIES)),
        ("socketpair", _one_of(_FAMILIES[:1])),
        ("ioctl", _none_of(_TERMINAL_TRICKS)),
        ("mmap", _countable_mapping()),
        ("personality", _one_of(_PERSONALITIES)),
        ("prctl", _one_of(_PRCTL)),
    ):
        code += [_step(_JUMP_EQUAL, checked[name], 0, len(body)), *body]
    code.append(_step(_RETURN, unknown))
    return b"".join(code)


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _without_bits(bits: int) -> list[bytes]:
    return [
        _step(_LOAD, _ARGUMENT),
        _step(_JUMP_ANY, bits, 0, 1),
        _step(_RETURN, _ERRNO | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]


def _countable_mapping() -> list[bytes]:
    """Refuse MAP_HUGETLB, and MAP_ANONYMOUS together with MAP_SHARED; flags are the fourth argument."""
    return [
        _step(_LOAD, _ARGUMENT + 8 * 3),
        _step(_JUMP_ANY, _MAP_HUGETLB, 2, 0),
        _step(_JUMP_ANY, _MAP_ANONYMOUS, 0, 2),
        _step(_JUMP_ANY, _MAP_SHARED, 0, 1),
        _step(_RETURN, _ERRNO | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]


def _one_of(values: tuple[int, ...]) -> list[bytes]:
    return _listed(values, 0, _ALLOW, _ERRNO | errno.EPERM)


def _none_of(values: tuple[int, ...]) -> list[bytes]:
    return _listed(values, 1, _ERRNO | errno.EPERM, _ALLOW)


def _listed(values: tuple[int, ...], argument: int, if_listed: int, otherwise: int) -> list[bytes]:
    code = [_step(_LOAD, _ARGUMENT + 8 * argument)]
    for value in values:
        code += [_step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, if_listed)]
    return [*code, _step(_RETURN, otherwise)]
