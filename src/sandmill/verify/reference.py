"""Where reference solutions run: as an agent's code does, in its interpreter, with nothing but the public files.

A script of our own build may run as a plain process where nothing can confine it. A script of a release may be
anybody's: it is confined, or it does not run.
"""

import atexit
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.kinds.files.base import write_files
from sandmill.models.reports import Outcome
from sandmill.models.run import RunResult
from sandmill.sandbox import Sandbox
from sandmill.sandbox.sandbox import BackendName, missing_for

TIMEOUT_S = 60.0
_LONGEST_LINE = 500  # characters kept of the last line of the errors


def trusting_backend() -> BackendName:
    """Choose the backend for scripts that we wrote ourselves: one that isolates, else a plain subprocess."""
    if not missing_for("warm"):
        return "warm"
    return "subprocess" if missing_for("bwrap") else "bwrap"


def run_reference(script: str, public: Mapping[str, bytes], backend: BackendName) -> RunResult:
    """Run the source of a reference solution with the public files, given by relative path.

    Raises:
        SandboxUnavailable: if the agent's interpreter is missing; says how to make it.
    """
    with TemporaryDirectory(prefix="sandmill-reference-") as name:
        (Path(name) / "public").mkdir()
        write_files(Path(name) / "public", public)
        return _box(backend).run(script, public=Path(name) / "public", timeout=TIMEOUT_S)


def describe_ending(run: RunResult) -> str:
    """Describe how a reference solution ended: outcome, message of the sandbox, and last line of its errors.

    Earlier lines of a traceback are left out: they name paths of this machine, and rejections are published. So are the
    warnings of a script that ran to its end.
    """
    lines = [] if run.outcome is Outcome.OK else run.stderr.strip().splitlines()
    last = "".join(lines[-1:])[:_LONGEST_LINE]
    return ": ".join(part for part in (str(run.outcome), run.detail, last) if part)


@cache
def _box(backend: BackendName) -> Sandbox:
    """One for this process, so that the interpreter is warmed up once."""
    box = Sandbox(backend)
    atexit.register(box.close)
    return box
