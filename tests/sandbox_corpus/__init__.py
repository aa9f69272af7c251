"""Honest scripts of every habit: each writes submission.csv, or ends as it says, the same with and without isolation.

They find `public/train.csv` (id, a, b, label; 60 rows) and `public/test.csv` (id, a, b; 40 rows).
"""

from pathlib import Path

import yaml

CORPUS = Path(__file__).parent
OK: dict[str, str] = yaml.safe_load((CORPUS / "scripts.yaml").read_text("utf-8"))
"""Scripts that succeed."""

OTHER = {
    "division by zero": ("1/0", "runtime_error"),
    "syntax error": ("def broken(:", "runtime_error"),
    "sys.exit with a message": ("import sys; sys.exit('no data')", "runtime_error"),
    "exit code after a submission": ("open('submission.csv', 'w').write('x'); raise SystemExit(3)", "runtime_error"),
    "nothing written": ("x = 1", "no_submission"),
    "no code": (" \n\t\n", "no_code"),
    "missing module": ("import tensorflow", "runtime_error"),
    "missing file": ("open('public/nothing.csv')", "runtime_error"),
    "killed by itself": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "runtime_error"),
    "aborted": ("import os; os.abort()", "runtime_error"),
    "too much memory": ("x = bytearray(1 << 40)", "oom"),
    "too slow": ("import time; time.sleep(60)", "timeout"),
}
"""Scripts that end otherwise, and how."""


def write_public(folder: Path) -> Path:
    """Lay out the public files that the scripts read."""
    public = folder / "public"
    public.mkdir()
    rows = [(i, ((i * 37) % 100) / 25 - 2, ((i * 61) % 100) / 25 - 2) for i in range(100)]
    train = [f"{i},{a},{b},{int(a + b > 0)}" for i, a, b in rows[:60]]
    test = [f"{i},{a},{b}" for i, a, b in rows[60:]]
    (public / "train.csv").write_text("\n".join(["id,a,b,label", *train, ""]))
    (public / "test.csv").write_text("\n".join(["id,a,b", *test, ""]))
    return public
