"""All exceptions of Sandmill. The type tells the caller who caused the failure and what can be done about it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copyreg import __newobj__  # type: ignore[attr-defined]
from dataclasses import dataclass
from traceback import format_exception
from typing import Any


def visible(text: str, keep: str = "") -> str:
    """Escape all characters that are not printable, so that untrusted text can be shown on a terminal.

    These include control characters, such as ESC, and marks that change the direction of writing. The characters in
    `keep`, such as a line feed, are not escaped.
    """
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode("ascii") for char in text
    )


def shorten(text: str, limit: int = 80) -> str:
    """Cut untrusted text to a length that fits into a message, and escape its control characters."""
    return visible(text if len(text) <= limit else f"{text[:limit]}...")


def count(number: int, noun: str) -> str:
    """Write a number with its noun, which gets an s unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def name_some(names: Iterable[str], shown: int = 3) -> str:
    """List the first names, and the number of the others."""
    listed = list(names)
    more = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return ", ".join(listed[:shown]) + more


@dataclass(frozen=True)
class Problem:
    """One error in an input: where it is, what was found, what was expected, and what to do."""

    where: str
    saw: str
    expected: str
    hint: str = ""

    def __str__(self) -> str:
        line = f"{self.where}: saw {self.saw}; expected {self.expected}"
        return visible(f"{line}. {self.hint}" if self.hint else f"{line}.")


class SandmillError(Exception):
    """Base class of all exceptions that Sandmill raises on purpose. Users see the message, without a traceback.

    A message may quote untrusted names from a release or a submission. `str` escapes their control characters.
    """

    exit_code = 1

    def __str__(self) -> str:
        return visible(super().__str__(), keep="\n\t")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message and the fields. Errors of worker processes reach the parent in this way."""
        return __newobj__, (type(self), *self.args), self.__dict__


class InputError(SandmillError):
    """An argument or an input file is wrong. The message lists all problems at once. Exit code 2."""

    exit_code = 2

    def __init__(self, source: str, problems: Sequence[Problem], footer: str = "Nothing was written.") -> None:
        self.source, self.problems = source, tuple(problems)
        lines = [f"{source}: {count(len(self.problems), 'problem')}", *(f"  {problem}" for problem in self.problems)]
        super().__init__("\n".join([*lines, footer] if footer else lines))


@contextmanager
def require_extra(extra: str, source: str) -> Iterator[None]:
    """Import packages that the base install does not have, and name the extra if one is missing.

    Raises:
        InputError: a package cannot be found.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        hint = f"Install it with: pip install 'sandmill[{extra}]'"
        problem = Problem(f"package {error.name}", "not installed", "an installed package", hint)
        raise InputError(source, [problem], "") from error


class RequestError(InputError):
    """The build request or the run settings cannot be fulfilled."""


class SeedError(InputError):
    """A seed source cannot be read, or its content is invalid."""


class InvalidSubmission(InputError):
    """A submission does not have the rows, columns and values that the task requires."""

    def __init__(self, source: str, problems: Sequence[Problem], footer: str = "No score.", passed: int = 1) -> None:
        super().__init__(source, problems, footer)
        self.passed = passed
        """Number of checks, in the order of `models.reports.Check`, that the submission passed."""


class StoreError(SandmillError):
    """The store holds an unexpected object, or lacks a required one."""


class ReleaseNotFound(InputError):
    """A release reference names a root, dataset or version that does not exist."""


class IntegrityError(SandmillError):
    """Stored bytes differ from their recorded hash, or a recorded fact could not be reproduced."""


class SandboxUnavailable(SandmillError):
    """This machine cannot run code with the requested backend. The message says what is missing and what to do."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source, self.problems = source, tuple(problems)
        lines = [f"{source} is not available on this machine:", *(f"  {problem}" for problem in problems)]
        super().__init__("\n".join(lines))


class DegenerateTask(SandmillError):
    """The trivial solver and the oracle have the same score, so scores cannot be put on the scale between them."""

    def __init__(self, trivial: float, oracle: float) -> None:
        super().__init__(
            f"the trivial solver scores {trivial:.5f} and the oracle {oracle:.5f}; expected the oracle to be better"
        )


class BudgetExceeded(SandmillError):
    """Too many slots stayed empty, or too many attempts failed in our own code, for a release to be published."""


class MixMissed(SandmillError):
    """A difficulty band got fewer tasks than requested, and the settings require the exact mix."""


class NoAnswer(SandmillError):
    """All models of the chain failed on one request. The message lists the error of each."""


class ReplayMiss(SandmillError):
    """No recorded reply matches a request, and replay mode calls no model."""


class SpendLimit(SandmillError):
    """The next request could cost more than the rest of the budget."""


class LeakyRelease(SandmillError):
    """Column names and texts of a release predict the role of columns, so agents could memorise it."""


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
