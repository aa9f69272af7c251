"""The interface of an answer form, and what several forms share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, TypeAlias

import numpy as np

from sandmill.errors import Problem
from sandmill.metrics.base import Array, Floats
from sandmill.models.package import TaskFacts

Column: TypeAlias = Sequence[str]
Cells: TypeAlias = Mapping[str, Sequence[object]]
"""Cells by the name of their column."""

_NAMES_SHOWN = 12


class AnswerForm(ABC):
    """One way to answer: how cells are read and written, what a blind guess is, and how a description words it.

    A prediction and the truth are arrays. Class codes and single numbers have shape (rows,); everything with several
    columns has shape (rows, columns). Which of the two a form uses is said by `shape`.
    """

    needs_every_class: ClassVar[bool] = False
    """Whether grading makes a column for every class, also where a submission has one column."""

    @abstractmethod
    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Read the cells of a submission.

        Args:
            columns: in the order of `facts.submission_columns`.
            lines: line number of each row, for messages.
            facts: what the task asks for.
            problems: receives what is wrong; the result means nothing if it grew.
        """

    @abstractmethod
    def read_truth(self, rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
        """Read the target columns of answers.csv, which is our own file."""

    @abstractmethod
    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write targets as the cells of train.csv and answers.csv: the inverse of `read_truth`."""

    @abstractmethod
    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the one row that a sample submission repeats: right in form, and no better than a guess.

        Args:
            facts: what the task asks for.
            truth: targets of the training rows, which say what is rare.
        """

    @abstractmethod
    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Answer without data: constants, numbers that the description names, and the order of the rows."""

    @abstractmethod
    def shape(self, facts: TaskFacts, rows: int) -> tuple[int, ...]:
        """Shape of a prediction for so many rows."""

    @abstractmethod
    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Least and largest number that a prediction may hold."""

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """Columns of a submission after the id, in the sample's order; the target column unless a form says more."""
        return (facts.target_column,)

    def cell_bytes(self, facts: TaskFacts) -> int:
        """Bytes that one honest cell may take at most."""
        return max((len(name.encode()) + 1 for name in facts.classes), default=0)

    @abstractmethod
    def aim(self, facts: TaskFacts) -> str:
        """Say what is to be predicted, as the end of "For every row, predict ..."."""

    @abstractmethod
    def cells(self, facts: TaskFacts) -> str:
        """Say in a sentence what the cells of a submission hold."""

    def target_type(self, facts: TaskFacts) -> str | None:
        """Name the type of the target column where the form decides it; None: the kind of target does."""
        return None


def listed(names: Sequence[str]) -> str:
    """Quote column names as part of a sentence."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def known_names(facts: TaskFacts) -> str:
    """List the classes of a task for a message, shortened where there are many."""
    shown = ", ".join(facts.classes[:_NAMES_SHOWN])
    rest = len(facts.classes) - _NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def others(bad: Sequence[object]) -> str:
    """Say that the line which a message names is not the only one."""
    return f" ({len(bad) - 1} more such lines)" if len(bad) > 1 else ""


def read_codes(rows: Sequence[Mapping[str, str]], facts: TaskFacts) -> Array:
    """Read the target column as class codes, shape (rows,)."""
    codes = {name: code for code, name in enumerate(facts.classes)}
    return np.array([codes[row[facts.target_column]] for row in rows], dtype=np.int64)


def write_names(truth: Array, facts: TaskFacts) -> Cells:
    """Write class codes as the names of classes."""
    return {facts.target_column: [facts.classes[int(code)] for code in truth]}


def read_columns(rows: Sequence[Mapping[str, str]], names: Sequence[str]) -> Floats:
    """Read several number columns, shape (rows, columns)."""
    return np.array([[float(row[name]) for name in names] for row in rows]).reshape(len(rows), len(names))


def by_frequency(facts: TaskFacts, truth: Array) -> list[str]:
    """Classes from the rarest to the commonest among training rows; equals by name."""
    counts = np.bincount(truth.astype(np.int64), minlength=len(facts.classes))
    return sorted(facts.classes, key=lambda name: (counts[facts.classes.index(name)], name))


def rising(rows: int) -> Floats:
    """Numbers between 0 and 1 that rise with the place of a row."""
    return np.linspace(0.01, 0.99, rows)
