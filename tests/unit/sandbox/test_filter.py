"""The seccomp programme, read by an interpreter of our own for both processors."""

import errno
import struct
from functools import cache

import pytest

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.filter import build_filter
from sandmill.sandbox.guest.syscalls import ALLOWED, CHECKED, REFUSED, numbers

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
    assert [answer(machine, call["socket"], (family,)) for family in (1, 2, 10)] == [ALLOW] * 3
    assert {answer(machine, call["socket"], (family,)) for family in (0, 3, 16, 17, 38, 40, 44)} == {EPERM}
    assert answer(machine, call["ioctl"], (0, 0x5412)) == EPERM
    assert answer(machine, call["ioctl"], (0, 0x5401)) == ALLOW
    assert answer(machine, call["prctl"], (22, 0)) == EPERM


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
    dangerous = {
        "sched_setaffinity",
        "ptrace",
        "mount",
        "bpf",
        "keyctl",
        "unshare",
        "setns",
        "perf_event_open",
        "io_uring_setup",
    }
    assert dangerous <= lists[2]
    assert {"clone3", "memfd_create", "shmget"} & set.union(*lists) == set()
