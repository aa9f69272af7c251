"""One vocabulary of failures, by boundary, so that every caller can tell whose fault it was and what to do next."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import format_exception


def visible(text: str, keep: str = "") -> str:
    """Write characters that steer a terminal as escapes, so that text of a stranger can be shown.

    Escaped are all characters that are not printable: control characters, ESC included, and marks that turn the
    direction of writing.

    Args:
        text: what is to be shown.
        keep: characters that stay as they are, such as a line feed.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode("ascii") for char in text
    )


def shorten(text: str, limit: int = 80) -> str:
    """Cut text of a stranger to a length that a message has room for, and make its control characters visible."""
    return visible(text if len(text) <= limit else f"{text[:limit]}...")


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input: where, what was seen, what was expected, what to do next."""

    where: str
    saw: str
    expected: str
    hint: str = ""

    def __str__(self) -> str:
        line = f"{self.where}: saw {self.saw}; expected {self.expected}"
        return visible(f"{line}. {self.hint}" if self.hint else f"{line}.")


class SandmillError(Exception):
    """Anything Sandmill raises on purpose. The message alone is meant for people; no traceback is needed.

    A message may quote names from a release or a submission; shown as text, its control characters are visible.
    """

    exit_code = 1

    def __str__(self) -> str:
        return visible(super().__str__(), keep="\n\t")


class InputError(SandmillError):
    """An argument or file given by a person is wrong. Lists every problem at once; exit code 2."""

    exit_code = 2

    def __init__(self, source: str, problems: Sequence[Problem], footer: str = "Nothing was written.") -> None:
        self.source = source
        self.problems = tuple(problems)
        self.footer = footer
        count = f"{len(self.problems)} problem" + ("s" if len(self.problems) != 1 else "")
        lines = [f"{source}: {count}", *(f"  {problem}" for problem in self.problems)]
        super().__init__("\n".join([*lines, footer] if footer else lines))

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, tuple[Problem, ...], str]]:
        return type(self), (self.source, self.problems, self.footer)


class RequestError(InputError):
    """The build request or run settings cannot be honoured."""


class SeedError(InputError):
    """A seed source cannot be read or says something impossible."""


class InvalidSubmission(InputError):
    """A submission does not have the rows, columns and values that the task asks for."""

    def __init__(self, source: str, problems: Sequence[Problem], footer: str = "No score.") -> None:
        super().__init__(source, problems, footer)


class StoreError(SandmillError):
    """The store holds something unexpected, or lacks something that must be there."""


class ReleaseNotFound(InputError):
    """A release reference names a root, dataset or version that does not exist."""


class IntegrityError(SandmillError):
    """Stored bytes differ from the recorded hash, or a recorded fact does not hold when repeated."""


class SandboxUnavailable(SandmillError):
    """This machine cannot run an agent's code as asked. Lists what is missing and how to get it."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source, self.problems = source, tuple(problems)
        super().__init__(
            "\n".join([f"{source} is not available here:", *(f"  {problem}" for problem in self.problems)])
        )

    def __reduce__(self) -> tuple[type["SandboxUnavailable"], tuple[str, tuple[Problem, ...]]]:
        return type(self), (self.source, self.problems)


class DegenerateTask(SandmillError):
    """Trivial and oracle score alike, so no solver can be told from another."""

    def __init__(self, trivial: float, oracle: float) -> None:
        self.trivial, self.oracle = trivial, oracle
        super().__init__(f"trivial scores {trivial:.5f} and oracle {oracle:.5f}; the oracle must be better")

    def __reduce__(self) -> tuple[type["DegenerateTask"], tuple[float, float]]:
        return type(self), (self.trivial, self.oracle)


class BudgetExceeded(SandmillError):
    """Too many slots stayed empty, or too many attempts failed in our own code, for a release to be published."""


class MixMissed(SandmillError):
    """A band of difficulty got fewer slots than were asked for, and the settings demand the exact mix."""


class LlmError(SandmillError):
    """A language model gave no answer that could be used."""


class NoAnswer(LlmError):
    """Every model of the chain failed on one request, each in its own way."""


class ReplayMiss(LlmError):
    """A request is not among the recorded replies, and replay asks nobody."""


class SpendLimit(LlmError):
    """The next request could cost more than what is left of the money that may be spent."""


class LeakyRelease(SandmillError):
    """Names and texts of a release give away what its columns do, so agents could learn that by heart."""


INTERNAL_ERROR = "internal_error"
"""Reason of a rejection for a failure of our own code: it says nothing about the design."""


class ItemRejected(SandmillError):
    """One design or package failed at a stage. The build turns it into a `Rejection` and goes on.

    Args:
        stage: where it failed.
        reason: one word of a small vocabulary.
        detail: what was found, in a sentence.
        traceback: of a failure of our own code. It may name paths and data, so it is never published.
    """

    def __init__(self, stage: str, reason: str, detail: str, traceback: str = "") -> None:
        self.stage, self.reason, self.detail, self.traceback = stage, reason, detail, traceback
        super().__init__(f"{stage}: {reason}: {detail}")

    def __reduce__(self) -> tuple[type["ItemRejected"], tuple[str, str, str, str]]:
        return type(self), (self.stage, self.reason, self.detail, self.traceback)


def internal_error(stage: str, error: Exception) -> ItemRejected:
    """Describe a failure of our own code, with its traceback."""
    trace = "".join(format_exception(error))
    return ItemRejected(stage, INTERNAL_ERROR, f"{type(error).__name__}: {error}", trace)


@contextmanager
def boundary(stage: str) -> Iterator[None]:
    """Turn every exception inside one item's work into `ItemRejected`, so that one item cannot end the build."""
    try:
        yield
    except ItemRejected:
        raise
    except DegenerateTask as error:
        raise ItemRejected(stage, "no_signal", str(error)) from error
    except Exception as error:
        raise internal_error(stage, error) from error
