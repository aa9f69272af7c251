"""What the agent's code can see and change, tested from inside a run."""

import ast
import ctypes
import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sandmill.models.reports import Outcome
from sandmill.sandbox.agent_env import GUEST
from tests.releases import REPOSITORY


def seen(box, public, code, **settings):
    """Run code that prints one literal, and return the literal."""
    result = box.run(code, public=public, **settings)
    assert result.outcome is Outcome.NO_SUBMISSION, result
    return ast.literal_eval(result.stdout)


def test_the_code_has_no_rights_and_no_descriptors(box, public):
    code = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
descriptors = {os.readlink(f"/proc/self/fd/{d}") for d in range(100) if os.path.lexists(f"/proc/self/fd/{d}")}
print(([status[n].split()[0] for n in ("CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd", "NoNewPrivs", "Seccomp")],
       os.getuid() != 0, sorted(d.split(":")[0] for d in descriptors), os.getgroups()))
"""
    rights, is_nobody, descriptors, groups = seen(box, public, code)
    assert rights == ["0" * 16] * 5 + ["1", "2"]
    assert is_nobody
    assert descriptors == ["/dev/null", "pipe", "pipe"]
    assert len([group for group in groups if group != 65534]) == 0


def test_runs_as_root_have_uids_of_their_own(warm, public):
    if os.geteuid():
        pytest.skip("only root can give uids")
    uids = [seen(warm, public, "import os; print(os.getuid())") for _ in range(2)]
    assert len(set(uids)) == 2
    assert min(uids) >= 1 << 30


def test_the_environment_is_fixed(box, public, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    names = set(seen(box, public, "import os; print(sorted(os.environ))"))
    assert {"OMP_NUM_THREADS", "HOME", "PYTHONHASHSEED"} <= names
    assert {name for name in names if "AWS" in name or "SANDMILL" in name or "PREFECT" in name} == set()


def test_neither_sandmill_nor_the_repository_is_there(box, public):
    code = f"""
import importlib.util, os, sys
from pathlib import Path
print([importlib.util.find_spec("sandmill"), [m for m in sys.modules if m.startswith("sandmill")],
       [p for p in sys.path if os.path.exists(os.path.join(p, "sandmill"))], os.path.exists({str(REPOSITORY)!r}),
       os.path.exists({str(GUEST)!r}),
       [n for p in ("/.guest", "/.public") if os.path.exists(p) for n in os.listdir(p)]])
"""
    assert seen(box, public, code) == [None, [], [], False, False, []]


def test_sandmill_cannot_be_imported_without_isolation_either(open_box, public):
    code = "import importlib.util; print(importlib.util.find_spec('sandmill'))"
    assert seen(open_box("subprocess"), public, code) is None


def test_nothing_but_the_own_folders_can_be_written(box, public):
    code = """
import os, sys
def can_write(folder):
    path = os.path.join(folder, "new")
    try:
        open(path, "w").close(); os.remove(path); return True
    except OSError:
        return False
folders = ["/", "/etc", "/usr", "/usr/bin", "/dev", "/proc", "public", sys.prefix, os.path.dirname(os.__file__)]
own = [".", "/tmp", "/dev/shm", os.environ["HOME"]]
print(([f for f in folders if can_write(f)], [f for f in own if not can_write(f)]))
"""
    assert seen(box, public, code) == ([], [])


def test_files_of_the_host_are_not_there(box, public, tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "answers.csv").write_text("answers")
    home = str(Path.home() / ".ssh")
    places = [str(tmp_path), str(public.parent), home, "/etc/shadow", "/etc/hostname", "/sys", "/run", "/home", "/mnt"]
    assert seen(box, public, f"import os; print([p for p in {places} if os.path.exists(p)])") == []


def test_public_files_that_only_we_can_read_are_read_all_the_same(box, tmp_path):
    folder = tmp_path / "public"
    folder.mkdir(mode=0o700)
    (folder / "train.csv").write_text("x")
    (folder / "train.csv").chmod(0o600)
    assert seen(box, folder, "print(repr(open('public/train.csv').read()))") == "x"


def test_other_processes_are_not_there(box, public):
    code = """
import os
pids = [int(p) for p in os.listdir("/proc") if p.isdigit()]
def opens(path):
    try: open(path, "rb").read(1); return True
    except OSError: return False
others = [p for p in pids if p != os.getpid()]
print((len(pids), [f"{p}/{n}" for p in others for n in ("environ", "mem") if opens(f"/proc/{p}/{n}")]))
"""
    count, opened = seen(box, public, code)
    assert count <= 2
    assert [path for path in opened if not path.startswith("1/")] == []


def test_the_warm_interpreter_cannot_be_read(warm, public):
    assert seen(warm, public, "import os; print((os.access('/proc/1/mem', os.R_OK), os.getppid()))") == (False, 0)


def test_memory_has_nothing_of_earlier_runs(warm, public):
    secret = secrets.token_hex(16)
    warm.run(f"secret = {secret!r}; open('submission.csv', 'w').write(secret)", public=public)
    halves = secret[:16], secret[16:]
    code = f"""
wanted = bytes([*reversed({halves[0][::-1]!r}.encode())]) + bytes([*reversed({halves[1][::-1]!r}.encode())])
found = 0
with open("/proc/self/mem", "rb", 0) as memory:
    for line in open("/proc/self/maps"):
        span, rights = line.split()[:2]
        if "rw" in rights:
            start, end = (int(x, 16) for x in span.split("-"))
            if end - start < 1 << 28:
                memory.seek(start)
                try: text = memory.read(end - start)
                except OSError: continue
                found += text.count(wanted)
                del text
print(found)
"""
    # What we look for is in memory itself once at least; an earlier run's code or submission would be found more often.
    own = seen(warm, public, code)
    other = code.replace(repr(halves[0][::-1]), repr(secrets.token_hex(8)))
    assert own <= seen(warm, public, other) + 3


def test_there_is_no_network_but_an_own_loopback(box, public):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"""
import socket
def can(call):
    try: call(); return "yes"
    except OSError as error: return error.__class__.__name__
udp = lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))
print([can(lambda: socket.create_connection(("127.0.0.1", {port}), 1)), can(udp),
       *[can(lambda: socket.socket(family, kind)) for family, kind in ((16, 3), (17, 3), (38, 5), (40, 1))],
       sorted(line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line)])
"""
        refused = ["ConnectionRefusedError", "OSError", *["PermissionError"] * 4, ["lo"]]
        assert seen(box, public, code) == refused


def test_abstract_sockets_of_the_host_are_out_of_reach(box, public):
    name = "\0sandmill-" + secrets.token_hex(4)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        code = f"""
import socket
try: socket.socket(socket.AF_UNIX).connect({name!r}); print(True)
except OSError: print(False)
"""
        assert seen(box, public, code) is False


CALLS = {
    "unshare user": (272, 0x10000000),
    "clone user": (56, 0x10000000 | 17),
    "clone mounts": (56, 0x20000 | 17),
    "clone network": (56, 0x40000000 | 17),
    "clone processes": (56, 0x20000000 | 17),
    "ptrace": (101, 16, 1),
    "keyctl": (250, 0),
    "add_key": (248, 0),
    "mount": (165, 0),
    "umount": (166, 0),
    "pivot_root": (155, 0),
    "open_tree": (428, 0),
    "move_mount": (429, 0),
    "bpf": (321, 0),
    "perf_event_open": (298, 0),
    "io_uring_setup": (425, 1),
    "process_vm_readv": (310, 1),
    "process_vm_writev": (311, 1),
    "process_madvise": (440, 0),
    "pidfd_getfd": (438, 0),
    "setns": (308, 0),
    "chroot": (161, 0),
    "userfaultfd": (323, 0),
    "kexec_load": (246, 0),
    "init_module": (175, 0),
    "personality": (135, 0x40000),
    "seccomp": (317, 0),
    "setns of nothing": (308, 99),
}
ABSENT = {
    "clone3": (435, 0),
    "memfd_create": (319, 0),
    "shmget": (29, 0),
    "x32": (0x40000000 | 39, 0),
    "newest": (999, 0),
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64; test_filter.py reads both programmes")
def test_dangerous_calls_are_refused_and_never_kill(box, public):
    code = f"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    padded = (*arguments, *[0] * (5 - len(arguments)))
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(a) for a in padded])
    if result == 0 and number == 56: import os; os._exit(0)
    return errno.errorcode.get(ctypes.get_errno(), result)
print({{name: call(*a) for name, a in {CALLS | ABSENT!r}.items()}})
"""
    answers = seen(box, public, code)
    assert {name: answer for name, answer in answers.items() if name in CALLS and answer != "EPERM"} == {}
    assert {name: answer for name, answer in answers.items() if name in ABSENT and answer != "ENOSYS"} == {}


def test_the_host_is_not_named(box, public):
    name, mounts = seen(box, public, "import os; print((os.uname().nodename, open('/proc/self/mounts').read()))")
    assert name == "sandbox"
    assert not [
        line for line in mounts.splitlines() if line.split()[1] not in ("/box", "/dev/null") and _is_writable(line)
    ]


def _is_writable(line):
    _, place, _, options, *_ = line.split()
    return options.split(",")[0] == "rw" and not place.startswith(("/dev/", "/proc"))


def test_guest_code_needs_the_standard_library_only():
    for path in GUEST.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names or name.startswith("sandmill.sandbox.guest"), (
                    path
                )


def test_guest_code_leaves_nothing_in_the_modules(agent_env):
    code = f"""
import runpy, sys
for name in ("serve", "bare", "probe"):
    runpy.run_path({str(GUEST / "start.py")!r})["_load"](name)
print([m for m in sys.modules if "sandmill" in m])
"""
    ran = subprocess.run([agent_env.python, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_the_parent_keeps_its_own_rights(warm, public):
    warm.run("x = 1", public=public)
    assert ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0  # no-new-privs is not ours
