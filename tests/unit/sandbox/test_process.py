import os
import time
from pathlib import Path

import pytest

from sandmill.models.reports import Outcome
from sandmill.sandbox import run_script

PUBLIC = {"test.csv": b"id\n1\n", "images/a.txt": b"pixels"}


def test_a_script_sees_public_and_nothing_else_and_its_submission_comes_back(tmp_path):
    script = """
import os, sys, pathlib
seen = sorted(str(p.relative_to('.')) for p in pathlib.Path('.').rglob('*') if p.is_file())
names = sorted(os.environ)
pathlib.Path(sys.argv[2]).write_text(repr((sys.argv[1], seen, names)))
"""
    run = run_script(script, PUBLIC)
    assert run.outcome is Outcome.OK
    public, seen, names = eval(run.submission)
    assert public == "public"
    assert seen == ["public/images/a.txt", "public/test.csv", "solution.py"]
    assert not {"AWS_SECRET_ACCESS_KEY", "PREFECT_API_KEY", "PYTHONPATH"} & set(names)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("1/0", Outcome.RUNTIME_ERROR),
        ("pass", Outcome.NO_SUBMISSION),
        ("raise SystemExit(3)", Outcome.RUNTIME_ERROR),
        ("x = bytearray(64 * 1024**3)", Outcome.OOM),
        ("import os; os.symlink('/etc/passwd', 'submission.csv')", Outcome.NO_SUBMISSION),
    ],
)
def test_every_ending_has_its_code(script, outcome):
    run = run_script(script, PUBLIC)
    assert run.outcome is outcome
    assert run.submission is None


def test_the_traceback_is_kept():
    assert "ZeroDivisionError" in run_script("1/0", PUBLIC).stderr


def test_a_script_that_takes_too_long_is_killed_with_its_children():
    marker = f"sandmill-test-{os.getpid()}-{time.monotonic_ns()}"
    script = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {marker!r}])
time.sleep(60)
"""
    assert run_script(script, PUBLIC, timeout_s=2).outcome is Outcome.TIMEOUT
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in read(path)]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    run_script("open('submission.csv', 'w').write('x')", PUBLIC)
    assert list(tmp_path.iterdir()) == []
