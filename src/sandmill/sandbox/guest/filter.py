"""Build the seccomp program: an allow-list in classic BPF. A refused call returns an error and never kills."""

import errno
import struct
from functools import cache
from pathlib import Path

from sandmill.sandbox.guest import kernel

_TABLE = Path(__file__).with_name("calls.txt").read_text("ascii")
ALLOWED, REFUSED, CHECKED = (part.partition("\n")[2] for part in _TABLE.split("# ")[1:])
"""Calls that are allowed with any argument, refused with EPERM, and allowed with certain arguments."""
_LOAD, _AND, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_ANY, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
"""BPF operations. _JUMP_ABOVE tests for greater or equal, _JUMP_ANY for any common bit."""
_NUMBER, _MACHINE, _ARGUMENT = 0, 4, 16
"""Offsets in struct seccomp_data. An argument has 8 bytes, and both processors store the low half first."""

_AUDIT_ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_X32 = 0x4000_0000
"""Numbers from here on are calls of the x32 interface, which are all refused."""
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000

_NAMESPACES = kernel.RUN_NAMESPACES | kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID
_CLONE_PTRACE, _CLONE_UNTRACED = 0x2000, 0x0080_0000
_UNIX, _INET = 1, (2, 10)
"""Families AF_UNIX, and AF_INET and AF_INET6. They are confined to the run's network namespace; others may not be."""
_UNIX_TYPES, _INET_TYPES = (1, 2, 5), (1, 2)
"""Allowed types: SOCK_STREAM, SOCK_DGRAM, and SOCK_SEQPACKET for AF_UNIX. SOCK_RAW and SOCK_PACKET are refused."""
_TYPE_BITS = 0xF
"""Bits of the argument that hold the socket type. The others are the flags SOCK_NONBLOCK and SOCK_CLOEXEC."""
_PROTOCOLS = (0, 6, 17)
"""Allowed protocols: the default, TCP, UDP. Rarer ones (MPTCP, UDP-Lite, SCTP, SMC) are kernel code that no script
needs."""
_LEVELS = (0, 1, 6, 17, 41)
"""Allowed levels of socket options: IP, SOL_SOCKET, TCP, UDP, IPv6."""
_LEVEL_SOCKET, _LEVEL_TCP = 1, 6
"""Levels of which some options are refused: SOL_SOCKET and IPPROTO_TCP."""
_SOCKET_PROGRAMS = (26, 50, 51, 52)
"""Refused: SO_ATTACH_FILTER, SO_ATTACH_BPF and the same for SO_REUSEPORT groups. The kernel would run a program."""
_TCP_UPPER_LAYER = (31,)
"""Refused: TCP_ULP, which adds another protocol to a socket, such as the TLS of the kernel."""
_FILE_COMMANDS = (*range(12), 15, 16, *range(36, 39), 1027, 1030, 1032, 1033, 1034)
"""Allowed commands of fcntl: duplicates, flags, record locks (of processes and of open files), signals for readiness,
reading the size of a pipe, seals.

Refused: F_SETLEASE and F_NOTIFY, which report and delay other runs' use of a shared file; F_SET_RW_HINT, which stores a
number at a shared file that later runs can read; F_SETPIPE_SZ, which uses kernel memory.
"""
_NO_OWNER = 0xFFFF_FFFF
"""Owner or group -1: chown leaves it as it is. A call with -1 for both still changes the change time of the file, and
needs no right to it. Therefore a call must name an owner or a group."""
_TERMINAL_INPUT_COMMANDS = (0x5412, 0x541C)
"""Refused: TIOCSTI and TIOCLINUX, which insert characters into the input of a terminal."""
_PERSONALITIES = (0, 0xFFFF_FFFF)
"""Allowed arguments of personality: the default, and -1, which only reads it."""
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_HUGETLB = 1, 0x20, 0x4_0000
"""Flags of mmap. Shared anonymous memory stays allocated after MADV_DONTNEED or a partial munmap, but then no process
is charged for it. Huge pages from the machine's pool are never part of a resident set. `memory_mb` can count neither,
so both are refused. MAP_SHARED_VALIDATE (3) includes the bit of MAP_SHARED."""
_PRCTL = (1, 2, 3, 4, 7, 14, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 41, 42, 64, 0x53564D41)
"""Allowed options of prctl: process names, parent-death signal, dumpability, timer slack, child subreaper, huge pages,
no-new-privs, names of memory areas."""


def numbers(table: str, machine: str) -> dict[str, int]:
    """Parse one of the tables for a processor. Returns call numbers by name."""
    column = {"x86_64": 1, "aarch64": 2}[machine]
    rows = (entry.split(":") for entry in table.split())
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


@cache
def build_filter(machine: str) -> bytes:
    """Return the program for a processor of `kernel.MACHINES`."""
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
    unix_socket = [*_require_one_of(1, _UNIX_TYPES, _TYPE_BITS), *_require_one_of(2, (0,)), _PASS]
    internet_socket = [*_require_one_of(1, _INET_TYPES, _TYPE_BITS), *_require_one_of(2, _PROTOCOLS), _PASS]
    socket_options = _if_equal(1, _LEVEL_SOCKET, _refuse_any_of(2, _SOCKET_PROGRAMS))
    tcp_options = _if_equal(1, _LEVEL_TCP, _refuse_any_of(2, _TCP_UPPER_LAYER))
    for name, body in (
        ("clone", [_load(0), _step(_JUMP_ANY, _NAMESPACES | _CLONE_PTRACE | _CLONE_UNTRACED, 0, 1), _DENY, _PASS]),
        ("chown", _refuse_owner_change(1)),
        ("lchown", _refuse_owner_change(1)),
        ("fchown", _refuse_owner_change(1)),
        ("fchownat", _refuse_owner_change(2)),
        ("fcntl", [*_require_one_of(1, _FILE_COMMANDS), _PASS]),
        ("socket", [*_if_equal(0, _UNIX, unix_socket), *_require_one_of(0, _INET), *internet_socket]),
        ("socketpair", [*_require_one_of(0, (_UNIX,)), *unix_socket]),
        ("setsockopt", [*_require_one_of(1, _LEVELS), *socket_options, *tcp_options, _PASS]),
        ("ioctl", [*_refuse_any_of(1, _TERMINAL_INPUT_COMMANDS), _PASS]),
        ("mmap", _check_mapping()),
        ("personality", [*_require_one_of(0, _PERSONALITIES), _PASS]),
        ("prctl", [*_require_one_of(0, _PRCTL), _PASS]),
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


def _require_one_of(argument: int, values: tuple[int, ...], bits: int = 0) -> list[bytes]:
    """Refuse the call unless an argument, or these bits of it, is one of the values. Otherwise continue."""
    jumps = [_step(_JUMP_EQUAL, value, left) for left, value in zip(range(len(values), 0, -1), values, strict=True)]
    return [_load(argument), *([_step(_AND, bits)] if bits else []), *jumps, _DENY]


def _refuse_any_of(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Refuse the call if an argument is one of the values. Otherwise continue."""
    return [_load(argument), *(step for value in values for step in (_step(_JUMP_EQUAL, value, 0, 1), _DENY))]


def _if_equal(argument: int, value: int, body: list[bytes]) -> list[bytes]:
    """Execute `body` if an argument is the value. Otherwise skip it."""
    return [_load(argument), _step(_JUMP_EQUAL, value, 0, len(body)), *body]


def _refuse_owner_change(argument: int) -> list[bytes]:
    """Refuse a chown that names neither an owner nor a group. These are this argument and the next."""
    is_given = [_step(_JUMP_EQUAL, _NO_OWNER, 1, 0), _PASS]
    return [_load(argument), *is_given, _load(argument + 1), *is_given, _DENY]


def _check_mapping() -> list[bytes]:
    """Refuse MAP_HUGETLB, and MAP_ANONYMOUS together with MAP_SHARED. The flags are the fourth argument."""
    return [
        _load(3),
        _step(_JUMP_ANY, _MAP_HUGETLB, 2, 0),
        _step(_JUMP_ANY, _MAP_ANONYMOUS, 0, 2),
        _step(_JUMP_ANY, _MAP_SHARED, 0, 1),
        _DENY,
        _PASS,
    ]
