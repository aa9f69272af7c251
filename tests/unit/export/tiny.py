"""A published release of tiny tasks, and a sandbox that does what the words of a script say."""

from pathlib import Path

from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunResult
from tests.publishing import published
from tests.unit.play.runner import PreparedRunner

PERFECT, SAMPLE, BROKEN, FAULT = "perfect", "sample", "broken", "fault"
"""Scripts that the sandbox of `obey` knows."""


def publish_tiny(folder: Path) -> str:
    """Publish a release of two train tasks and one for validation."""
    return published(folder / "tiny", {0: "train", 1: "train", 2: "validation"}).store.root


def obey() -> PreparedRunner:
    """Make a sandbox that submits labels, the sample submission, nothing, or fails before the script starts."""

    def run(code: str, public: Path) -> RunResult:
        word = code.strip()
        if word == FAULT:
            raise OSError("no space left on device")
        if not word:
            return RunResult(outcome=Outcome.NO_CODE, isolation=Isolation.NONE)
        if word == BROKEN:
            return RunResult(outcome=Outcome.RUNTIME_ERROR, isolation=Isolation.NONE, duration_s=0.5)
        sample = (public / "sample_submission.csv").read_bytes().splitlines()
        if word == PERFECT:
            # The labels of these tasks alternate.
            sample[1:] = [line.replace(b"0.5", str(place % 2).encode()) for place, line in enumerate(sample[1:])]
        submission = b"\n".join(sample) + b"\n"
        return RunResult(outcome=Outcome.OK, isolation=Isolation.NONE, duration_s=0.5, submission=submission)

    return PreparedRunner(run)


def fenced(script: str) -> str:
    """Write an answer with a script in a Python block."""
    return f"I will try.\n```python\n{script}\n```\nDone."
