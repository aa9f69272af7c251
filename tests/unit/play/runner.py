"""A sandbox that returns prepared results, for tests of what happens around a run."""

from collections.abc import Callable, Sequence
from pathlib import Path

from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult

SAMPLE = "sample_submission.csv"


class PreparedRunner:
    """Returns one result after another, or what a function of the code and the public folder returns."""

    limits = RunLimits(memory_mb=777)

    def __init__(self, results: Sequence[RunResult | Exception] | Callable[[str, Path], RunResult]) -> None:
        self._results = results if callable(results) else iter(results)
        self.calls: list[tuple[str, Path, Path | None, float]] = []

    @property
    def box(self) -> "PreparedRunner":
        return self

    async def run(self, code, *, public, scratch=None, timeout=30.0):
        self.calls.append((code, public, scratch, timeout))
        if callable(self._results):
            return self._results(code, public)
        result = next(self._results)
        if isinstance(result, Exception):
            raise result
        return result


def result_of(outcome: Outcome = Outcome.OK, submission: bytes | None = None, **facts) -> RunResult:
    return RunResult(outcome=outcome, isolation=Isolation.NONE, submission=submission, **facts)


def sample_of(task: Path) -> bytes:
    """The sample submission: valid, and no better than the trivial solver."""
    return (task / "public" / SAMPLE).read_bytes()


def truth_of(task: Path) -> bytes:
    """A submission that holds the truth, for a task with probabilities of one class."""
    header = sample_of(task).decode().splitlines()[0]
    answers = [line.split(",") for line in (task / "private" / "answers.csv").read_text().splitlines()[1:]]
    return "\n".join([header, *(f"{row[0]},{row[1]}" for row in answers), ""]).encode()
