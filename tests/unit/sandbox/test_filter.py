"""The seccomp program, executed by a BPF interpreter of the test for both processors."""

import errno
import fcntl
import socket
import struct
from functools import cache
from itertools import product

import pytest

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.filter import ALLOWED, CHECKED, REFUSED, build_filter, numbers

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS


@cache
def _steps(machine):
    program = build_filter(machine)
    return [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]


def answer(machine, number, arguments=(), arch=None):
    data = struct.pack("=IIQ6Q", number, arch or ARCH[machine], 0, *arguments, *[0] * (6 - len(arguments)))
    steps = _steps(machine)
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", data, operand)
        elif code == 0x54:
            loaded &= operand
        else:
            holds = {0x15: loaded == operand, 0x35: loaded >= operand, 0x45: bool(loaded & operand)}[code]
            at += if_true if holds else if_false


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_each_list_gets_its_answer(machine):
    assert {answer(machine, n) for n in numbers(ALLOWED, machine).values()} == {ALLOW}
    assert {answer(machine, n) for n in numbers(REFUSED, machine).values()} == {EPERM}
    assert {answer(machine, n) for n in (435, 462, 500, 1000)} == {ENOSYS}
    assert answer(machine, numbers(ALLOWED, machine)["read"], arch=0x40000003) == ENOSYS
    assert len(build_filter(machine)) // 8 < 4096


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_arguments_are_checked(machine):
    call = numbers(CHECKED, machine)
    assert answer(machine, call["clone"], (0x3D0F00,)) == ALLOW
    for flag in (kernel.CLONE_NEWUSER, kernel.CLONE_NEWNS, kernel.CLONE_NEWNET, kernel.CLONE_NEWPID, 0x2000):
        assert answer(machine, call["clone"], (0x3D0F00 | flag,)) == EPERM
    assert answer(machine, call["ioctl"], (0, 0x5412)) == EPERM
    assert answer(machine, call["ioctl"], (0, 0x541C)) == EPERM
    assert answer(machine, call["ioctl"], (0, 0x5401)) == ALLOW
    assert answer(machine, call["prctl"], (22, 0)) == EPERM
    assert answer(machine, call["prctl"], (15, 0)) == ALLOW


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_sockets_are_of_common_families_types_and_protocols_only(machine):
    def may(name, *arguments):
        return {ALLOW: True, EPERM: False}[answer(machine, numbers(CHECKED, machine)[name], arguments)]

    flags = socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    for family in (socket.AF_INET, socket.AF_INET6):
        assert may("socket", family, 1 | flags, 0)
        assert may("socket", family, 2 | flags, 0)
        assert may("socket", family, 1, socket.IPPROTO_TCP)
        assert may("socket", family, 2, socket.IPPROTO_UDP)
        assert not may("socketpair", family, 1, 0)
    for kind in (1, 2, 5):
        assert may("socket", socket.AF_UNIX, kind | flags, 0)
        assert may("socketpair", socket.AF_UNIX, kind | flags, 0)
    common = {(family, kind, protocol) for family in (2, 10) for kind in (1, 2) for protocol in (0, 6, 17)}
    common |= {(1, kind, 0) for kind in (1, 2, 5)}
    families, kinds = (0, 1, 2, 3, 10, 16, 17, 31, 38, 40, 43, 44), (0, 1, 2, 3, 4, 5, 6, 10, 15)
    protocols = (0, 1, 2, 6, 17, 33, 58, 115, 132, 136, 255, 256, 262, 1 << 31)
    assert {asked for asked in product(families, kinds, protocols) if may("socket", *asked)} == common


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_socket_options_load_no_program_and_no_other_protocol(machine):
    def may(*arguments):
        return {ALLOW: True, EPERM: False}[answer(machine, numbers(CHECKED, machine)["setsockopt"], (0, *arguments))]

    for level, name in ((1, 2), (1, 7), (1, 15), (6, 1), (41, 26), (0, 26), (0, 31)):
        assert may(level, name)
    for level, name in ((1, 26), (1, 50), (1, 51), (1, 52), (6, 31), (270, 11), (282, 1), (284, 1), (263, 1)):
        assert not may(level, name)


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_files_that_runs_share_can_be_neither_watched_nor_leased_nor_marked(machine):
    def may(command):
        return {ALLOW: True, EPERM: False}[answer(machine, numbers(CHECKED, machine)["fcntl"], (0, command))]

    used = ("DUPFD", "GETFD", "SETFD", "GETFL", "SETFL", "GETLK", "SETLK", "SETLKW", "DUPFD_CLOEXEC", "OFD_SETLK")
    for name in used:
        assert may(getattr(fcntl, f"F_{name}")), name
    set_hints = (1036, 1038)
    for command in (fcntl.F_SETLEASE, fcntl.F_GETLEASE, fcntl.F_NOTIFY, *set_hints, 1031, 9999):
        assert not may(command), command
    watches = {"x86_64": (253, 254, 255, 294), "aarch64": (26, 27, 28)}[machine]
    assert {answer(machine, number) for number in watches} == {ENOSYS}


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_a_change_of_owner_names_one(machine):
    calls, nobody = numbers(CHECKED, machine), 0xFFFF_FFFF
    for name in {"chown", "lchown", "fchown", "fchownat"} & set(calls):
        before = (0, 0) if name == "fchownat" else (0,)
        owners = ((1000, 1000), (nobody, 1000), (1000, nobody), (nobody, nobody))
        answers = [answer(machine, calls[name], (*before, *pair)) for pair in owners]
        assert answers == [ALLOW, ALLOW, ALLOW, EPERM], name
    assert {"fchown", "fchownat"} <= set(calls)


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_memory_that_no_process_is_charged_for_cannot_be_mapped(machine):
    call = numbers(CHECKED, machine)["mmap"]
    shared, private, validated, anonymous, huge = 1, 2, 3, 0x20, 0x4_0000
    for flags in (private | anonymous, private, shared, validated, private | anonymous | 0x4000):
        assert answer(machine, call, (0, 4096, 3, flags)) == ALLOW
    for flags in (shared | anonymous, validated | anonymous, private | anonymous | huge, shared | huge):
        assert answer(machine, call, (0, 4096, 3, flags)) == EPERM


def test_lists_do_not_overlap():
    lists = [set(numbers(table, "x86_64")) for table in (ALLOWED, CHECKED, REFUSED)]
    assert sum(map(len, lists)) == len(set.union(*lists))
    dangerous = "sched_setaffinity ptrace mount bpf keyctl unshare setns perf_event_open io_uring_setup"
    assert set(dangerous.split()) <= lists[2]
    assert {"clone3", "memfd_create", "shmget"} & set.union(*lists) == set()
