"""What the agent's code can see and change, tested from inside a run."""

import ast
import ctypes
import os
import secrets
import subprocess
import sys

import pytest

from sandmill.models.reports import Outcome
from sandmill.sandbox.agent_env import GUEST


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


def test_public_files_that_only_we_can_read_are_read_all_the_same(box, tmp_path):
    folder = tmp_path / "public"
    folder.mkdir(mode=0o700)
    (folder / "train.csv").write_text("x")
    (folder / "train.csv").chmod(0o600)
    assert seen(box, folder, "print(repr(open('public/train.csv').read()))") == "x"


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
