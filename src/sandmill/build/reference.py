"""Where reference solutions run: as an agent's code does, in its interpreter, with nothing but the public files."""

import atexit
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from sandmill.models.run import RunResult
from sandmill.sandbox import Sandbox
from sandmill.sandbox.backends import missing_for

TIMEOUT_S = 60.0
_TAIL = 2000


def reference_backend() -> Literal["warm", "bwrap", "subprocess"]:
    """The fastest backend that isolates here, else a plain subprocess: we wrote these scripts ourselves."""
    if not missing_for("warm"):
        return "warm"
    return "subprocess" if missing_for("bwrap") else "bwrap"


def run_reference(script: str, public: Mapping[str, bytes]) -> RunResult:
    """Run a script of ours over public files, by relative path.

    Raises:
        SandboxUnavailable: if the agent's interpreter is missing; says how to make it.
    """
    with TemporaryDirectory(prefix="sandmill-reference-") as name:
        for path, content in public.items():
            target = Path(name) / "public" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return _box().run(script, public=Path(name) / "public", timeout=TIMEOUT_S)


def describe_ending(run: RunResult) -> str:
    """Say how a script of ours ended: its code, what we have to say to it, and its last words."""
    return ": ".join(part for part in (str(run.outcome), run.detail, run.stderr.strip()[-_TAIL:]) if part)


@cache
def _box() -> Sandbox:
    """One for this process, so that the interpreter is warmed up once."""
    box = Sandbox(reference_backend())
    atexit.register(box.close)
    return box
