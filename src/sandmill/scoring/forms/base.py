"""The interface of an answer form, and what several forms share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import Problem, name_some
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array, Floats
from sandmill.scoring.catalogue import get_metric

Column: TypeAlias = Sequence[str]
Cells: TypeAlias = Mapping[str, Sequence[object]]
"""Cells by the name of their column."""
Lengths: TypeAlias = Sequence[int] | NDArray[np.intp] | None
"""Answer rows of each item; None where the form says how many all items have."""

Wide: TypeAlias = Literal["classes", "columns", "places", "pixels"] | None

BLANKS = " \t"
"""The only characters that may surround a cell's content. `str.strip()` and `str.split()` without an argument remove
more of Unicode than `float` does, and the remainder would then be no number."""
NUMBER_BYTES = 32
"""Bytes of one number with its separator, as generous libraries write it."""
_NAMES_SHOWN = 12


class AnswerForm(ABC):
    """One way to answer: how cells are read and written, what the sample holds, and how a description words it.

    A prediction and the truth are arrays whose first axis is the item. Class codes and single numbers have shape
    (items,); everything with several columns, or several answer rows an item, has shape (items, places). Unless a form
    says more, an item has one answer row, the truth is one class, and a submission has one column, which is named as
    the target. Its texts are those of forms.yaml.
    """

    wide: ClassVar[Wide] = None
    """What the columns of a prediction are. None: its shape is (items,), or items have places of their own."""

    def __init__(self, texts: Mapping[str, str] = MappingProxyType({})) -> None:
        self._texts = texts

    def row_ids(self, ids: Sequence[str], facts: TaskFacts, lengths: Lengths = None) -> Sequence[str]:
        """Return the ids of the answer rows of items, in the order of the files."""
        return ids

    def item_ids(self, row_ids: Sequence[str], facts: TaskFacts) -> tuple[Sequence[str], Lengths]:
        """Return the ids and the lengths of the items that answer rows belong to: the inverse of `row_ids`."""
        return row_ids, None

    def rows_each(self, facts: TaskFacts) -> int:
        """Return the number of answer rows of an item; 1 too where it differs between items."""
        return 1

    def most_rows_each(self, facts: TaskFacts) -> int:
        """Return the largest number of answer rows of an item."""
        return self.rows_each(facts)

    def lengths(self, values: Array) -> NDArray[np.intp] | None:
        """Return the number of answer rows of each item; None if it does not differ between items."""
        return None

    def to_items(self, cells: Array, facts: TaskFacts, lengths: Lengths = None) -> Array:
        """Gather what `read` or `read_truth` returned for answer rows, which are in order, by items."""
        return cells

    def to_rows(self, values: Array) -> Array:
        """Return an array by items as one with an entry for each answer row: the inverse of `to_items`."""
        return values

    def settle(self, truth: Array, facts: TaskFacts) -> Array:
        """Return drawn targets as metrics expect them and as files hold them: class codes as integers."""
        return truth.astype(np.int64) if facts.classes else truth

    @abstractmethod
    def read(self, columns: Sequence[Column], lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> Array:
        """Read the cells of a submission.

        Args:
            columns: in the order of `facts.submission_columns`.
            lines: line number of each row, for messages.
            facts: what the task asks for.
            problems: receives what is wrong; the result means nothing if it grew.
        """

    def read_truth(self, cells: Cells, facts: TaskFacts) -> Array:
        """Read the target columns of answers.csv, which is our own file."""
        codes = codes_by_name(facts)
        return np.array([codes[str(cell)] for cell in cells[facts.target_column]], dtype=np.int64)

    def write_truth(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write targets as the cells of training items, one an item."""
        return {facts.target_column: [facts.classes[int(code)] for code in truth]}

    def write_answers(self, truth: Array, facts: TaskFacts) -> Cells:
        """Write targets as the cells of answers.csv, one an answer row: the inverse of `read_truth`."""
        return self.write_truth(truth, facts)

    def sample(self, facts: TaskFacts, truth: Array) -> list[object]:
        """Choose the one row that a sample submission repeats: right in form, and no better than a guess.

        These are even chances, unless a form says more.
        """
        return [0.5] * len(facts.submission_columns)

    def width(self, facts: TaskFacts) -> int:
        """Return the number of columns of a prediction, or of places of all items; 0 if neither is fixed."""
        match self.wide:
            case "classes":
                return len(facts.classes)
            case "columns":
                return len(facts.submission_columns)
            case "places":
                return facts.places
            case "pixels":
                rows, columns = facts.picture
                return rows * columns
            case None:
                return 0

    def limits(self, facts: TaskFacts) -> tuple[float, float]:
        """Return the least and the largest number that a prediction may hold; 0 and 1 unless a form says more."""
        return 0, 1

    @abstractmethod
    def guesses(self, facts: TaskFacts, rows: int, numbers: Sequence[float]) -> Iterator[Array]:
        """Answer without data: constants, numbers that the description names, and the order of the rows."""

    def submission_columns(self, facts: TaskFacts) -> tuple[str, ...]:
        """Return the columns of a submission after the id, in the sample's order."""
        return (facts.target_column,)

    def cell_bytes(self, facts: TaskFacts) -> int:
        """Return the bytes that one honest cell may take at most: a number, or the longest name."""
        return max([NUMBER_BYTES, *name_bytes(facts)])

    def aim(self, facts: TaskFacts) -> str:
        """Say what is to be predicted, as the end of "For every row, predict ..."."""
        return _worded(self._texts["aim"], facts)

    def cells(self, facts: TaskFacts) -> str:
        """Say in a sentence what the cells of a submission hold."""
        return _worded(self._texts["cells"], facts)

    def target_type(self, facts: TaskFacts) -> str | None:
        """Name the type of the target column where the form decides it; None: the kind of target does."""
        return self._texts.get("target")


def _worded(words: str, facts: TaskFacts) -> str:
    rows, wide = facts.shape or (0, 0)
    is_pair = len(facts.classes) == 2
    return words.format(
        target=f"`{facts.target_column}`",
        id=f"`{facts.id_column}`",
        columns=listed(facts.submission_columns),
        classes=listed(facts.classes),
        one_of=" or ".join(facts.classes) if is_pair else f"one of {', '.join(facts.classes)}",
        floor=", 0 or more" if get_metric(facts.metric).is_nonnegative else "",
        places=facts.list_length,
        rows=rows,
        below=rows + 1,
        wide=wide,
        pixels=rows * wide,
    )


def rising(rows: int) -> Floats:
    """Return numbers between 0 and 1 in the order of the rows."""
    return np.linspace(0.01, 0.99, rows)


def codes_by_name(facts: TaskFacts) -> dict[str, int]:
    """Return the codes of classes or labels by name."""
    return {name: code for code, name in enumerate(facts.classes)}


def listed(names: Sequence[str]) -> str:
    """Quote column names as part of a sentence."""
    *first, last = [f"`{name}`" for name in names] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def known_names(facts: TaskFacts) -> str:
    """List the classes of a task for a message, shortened where there are many."""
    return name_some(facts.classes, _NAMES_SHOWN)


def others(bad: Sequence[object]) -> str:
    """Say that the line which a message names is not the only one."""
    return f" ({len(bad) - 1} more such lines)" if len(bad) > 1 else ""


def read_columns(cells: Cells, names: Sequence[str]) -> Floats:
    """Read several number columns, shape (rows, columns)."""
    return np.column_stack([np.array(cells[name], dtype=np.float64) for name in names])


def by_frequency(facts: TaskFacts, truth: Array) -> list[str]:
    """List classes from the rarest to the commonest among training rows; equals by name."""
    counts = np.bincount(truth.astype(np.int64), minlength=len(facts.classes))
    return sorted(facts.classes, key=lambda name: (counts[facts.classes.index(name)], name))


def name_bytes(facts: TaskFacts) -> list[int]:
    """Return the bytes of each class name with a separator."""
    return [len(name.encode()) + 1 for name in facts.classes]


def texts_of(cells: Sequence[str]) -> Array:
    """Return texts as an array of objects."""
    texts = np.empty(len(cells), dtype=object)
    texts[:] = cells
    return texts
