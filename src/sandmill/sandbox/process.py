"""Run a script that we wrote ourselves in a fresh process: cold interpreter, empty environment, a folder of its own.

This bounds time and memory and keeps private files out of the folder. It does not isolate: code that nobody vouches for
must not be run with it.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.models.reports import Outcome

_TAIL = 4000
_MEMORY_BYTES = 4 * 1024**3
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_CPU_KERNELS = ("OPENBLAS_CORETYPE",)
"""Variables that choose numerical kernels: carried over, so that the script computes as the panel did."""


@dataclass(frozen=True)
class ScriptRun:
    """How a script ended and what it left."""

    outcome: Outcome
    seconds: float
    submission: bytes | None
    stderr: str
    """Last 4000 characters."""


def run_script(script: str, public: Mapping[str, bytes], timeout_s: float = 60.0) -> ScriptRun:
    """Run a script alone with the public files and read the submission.csv that it writes.

    Args:
        script: Python source, called as `python solution.py public submission.csv`.
        public: files by relative path, laid out below `public/` of an empty folder.
        timeout_s: wall-clock limit; the whole process group is killed when it passes.
    """
    with TemporaryDirectory(prefix="sandmill-run-") as name:
        folder = Path(name)
        for path, content in public.items():
            target = folder / "public" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (folder / "solution.py").write_text(script)
        started = time.monotonic()
        outcome, stderr = _run(folder, timeout_s)
        seconds = time.monotonic() - started
        written = folder / "submission.csv"
        submission = written.read_bytes() if written.is_file() and not written.is_symlink() else None
    if outcome is Outcome.OK and submission is None:
        outcome = Outcome.NO_SUBMISSION
    return ScriptRun(outcome, seconds, submission, stderr[-_TAIL:])


def _run(folder: Path, timeout_s: float) -> tuple[Outcome, str]:
    kernels = {name: os.environ[name] for name in _CPU_KERNELS if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-I", "solution.py", "public", "submission.csv"],
        cwd=folder,
        env={**_ENVIRONMENT, **kernels, "HOME": str(folder), "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_limiter(timeout_s),
    )
    try:
        _, stderr = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return Outcome.TIMEOUT, ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    if process.returncode == 0:
        return Outcome.OK, stderr.decode(errors="replace")
    out_of_memory = b"MemoryError" in stderr
    return Outcome.OOM if out_of_memory else Outcome.RUNTIME_ERROR, stderr.decode(errors="replace")


def _limiter(timeout_s: float) -> Callable[[], None]:
    seconds = int(timeout_s) + 1

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit
