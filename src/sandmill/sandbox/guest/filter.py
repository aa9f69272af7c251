"""The seccomp program: an allow-list in classic BPF that answers with error numbers and never kills."""

import errno
import struct

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.syscalls import ALLOWED, CHECKED, REFUSED, numbers

_LOAD, _AND, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_ANY, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
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
_UNIX, _INTERNET = 1, (2, 10)
"""Families AF_UNIX, and AF_INET and AF_INET6: local to the run's own network namespace. Others need not be."""
_UNIX_TYPES, _INTERNET_TYPES = (1, 2, 5), (1, 2)
"""SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET; never SOCK_RAW or SOCK_PACKET."""
_TYPE_BITS = 0xF
"""Bits of the argument that hold the socket type; the others are the flags SOCK_NONBLOCK and SOCK_CLOEXEC."""
_PROTOCOLS = (0, 6, 17)
"""The default, TCP, UDP. Rarer ones (MPTCP, UDP-Lite, SCTP, SMC) are code of the kernel that no script needs."""
_LEVELS = (0, 1, 6, 17, 41)
"""Socket options of IP, of any socket, of TCP, UDP and IPv6."""
_OF_ANY_SOCKET, _OF_TCP = 1, 6
_SOCKET_PROGRAMS = (26, 50, 51, 52)
"""SO_ATTACH_FILTER, SO_ATTACH_BPF and both for groups of sockets: programs that the kernel would run."""
_TCP_UPPER_LAYER = (31,)
"""TCP_ULP puts another protocol, such as the kernel's TLS, on a socket."""
_FILE_COMMANDS = (*range(12), 15, 16, *range(36, 39), 1027, 1030, 1032, 1033, 1034)
"""Duplicates, flags, record locks (of processes and of open files), signals for readiness, sizes of pipes, seals.

Not among them: F_SETLEASE and F_NOTIFY, which tell of and delay others' use of a shared file; F_SET_RW_HINT, which
leaves a number at a shared file for later runs to read; F_SETPIPE_SZ, which takes kernel memory.
"""
_NO_OWNER = 0xFFFF_FFFF
"""As new owner and new group it changes nothing but the file's time of change, which takes no right to the file: not
even to one of the namespaces that all runs share."""
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
        ("chown", _with_owner(1)),
        ("lchown", _with_owner(1)),
        ("fchown", _with_owner(1)),
        ("fchownat", _with_owner(2)),
        ("fcntl", [*_demand(1, _FILE_COMMANDS), _PASS]),
        ("socket", [*_if_equal(0, _UNIX, _of_unix()), *_demand(0, _INTERNET), *_of_internet()]),
        ("socketpair", [*_demand(0, (_UNIX,)), *_of_unix()]),
        ("setsockopt", _socket_option()),
        ("ioctl", [*_refuse(1, _TERMINAL_TRICKS), _PASS]),
        ("mmap", _countable_mapping()),
        ("personality", [*_demand(0, _PERSONALITIES), _PASS]),
        ("prctl", [*_demand(0, _PRCTL), _PASS]),
    ):
        if name in checked:
            code += [_step(_JUMP_EQUAL, checked[name], 0, len(body)), *body]
    code.append(_step(_RETURN, unknown))
    return b"".join(code)


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


_PASS, _DENY = _step(_RETURN, _ALLOW), _step(_RETURN, _ERRNO | errno.EPERM)


def _load(argument: int) -> bytes:
    return _step(_LOAD, _ARGUMENT + 8 * argument)


def _without_bits(bits: int) -> list[bytes]:
    return [_load(0), _step(_JUMP_ANY, bits, 0, 1), _DENY, _PASS]


def _demand(argument: int, values: tuple[int, ...], bits: int = 0) -> list[bytes]:
    """Refuse the call unless an argument, or these bits of it, is one of the values; else go on with the next step."""
    jumps = [_step(_JUMP_EQUAL, value, left) for left, value in zip(range(len(values), 0, -1), values, strict=True)]
    return [_load(argument), *([_step(_AND, bits)] if bits else []), *jumps, _DENY]


def _refuse(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Refuse the call if an argument is one of the values; else go on with the next step."""
    return [_load(argument), *(step for value in values for step in (_step(_JUMP_EQUAL, value, 0, 1), _DENY))]


def _if_equal(argument: int, value: int, body: list[bytes]) -> list[bytes]:
    """Do these steps if an argument is the value."""
    return [_load(argument), _step(_JUMP_EQUAL, value, 0, len(body)), *body]


def _with_owner(argument: int) -> list[bytes]:
    """Refuse a change of owner without an owner or a group; they are this argument and the next."""
    is_given = [_step(_JUMP_EQUAL, _NO_OWNER, 1, 0), _PASS]
    return [_load(argument), *is_given, _load(argument + 1), *is_given, _DENY]


def _of_unix() -> list[bytes]:
    return [*_demand(1, _UNIX_TYPES, _TYPE_BITS), *_demand(2, (0,)), _PASS]


def _of_internet() -> list[bytes]:
    return [*_demand(1, _INTERNET_TYPES, _TYPE_BITS), *_demand(2, _PROTOCOLS), _PASS]


def _socket_option() -> list[bytes]:
    return [
        *_demand(1, _LEVELS),
        *_if_equal(1, _OF_ANY_SOCKET, _refuse(2, _SOCKET_PROGRAMS)),
        *_if_equal(1, _OF_TCP, _refuse(2, _TCP_UPPER_LAYER)),
        _PASS,
    ]


def _countable_mapping() -> list[bytes]:
    """Refuse MAP_HUGETLB, and MAP_ANONYMOUS together with MAP_SHARED; flags are the fourth argument."""
    return [
        _load(3),
        _step(_JUMP_ANY, _MAP_HUGETLB, 2, 0),
        _step(_JUMP_ANY, _MAP_ANONYMOUS, 0, 2),
        _step(_JUMP_ANY, _MAP_SHARED, 0, 1),
        _DENY,
        _PASS,
    ]
