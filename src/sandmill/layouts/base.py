"""What every layout of public files can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes, TaskSpec

DESCRIPTION, SAMPLE = "description.md", "sample_submission.csv"
"""Public files that every task has."""
MAX_FILE_BYTES = 20 << 20
"""Of one public file. The largest table has 40,000 test rows; a usual one has 1 MB."""


@dataclass(frozen=True)
class Items:
    """Training and test items as read from public files: ids and cells as text, pictures as bytes."""

    train: pl.DataFrame
    """Id, features and targets."""
    test: pl.DataFrame
    """Id and features."""
    faults: tuple[str, ...] = ()
    """Why files cannot be read as they should be. The frames are valid only if there are none."""


def layout_of(spec: TaskSpec) -> "Layout":
    """Return how the items of a design lie in its public files."""
    layout: Layout = spec.kind.load("layout")
    return layout


class Layout(ABC):
    """Files for training and test items. Subclasses are stateless."""

    train: str
    """Name of the file with the training items."""
    test: str
    """Name of the file with the test items."""
    item: str = "row"
    """What the files hold one of for each item."""
    cell: str = "text"
    """What the cell of an item that is not a table's row is called."""

    @property
    def files(self) -> frozenset[str]:
        """Names of the public files that every task of this layout has."""
        return frozenset({DESCRIPTION, SAMPLE, self.train, self.test})

    def files_of(self, spec: TaskSpec) -> frozenset[str]:
        """Return the names of all public files of a task."""
        child = {spec.mechanism.child.path} if spec.mechanism.child else set()
        return self.files | child | {hint.file for hint in spec.hints if hint.file == DATA_DICTIONARY}

    @abstractmethod
    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Return the files that hold the items. Equal items give equal bytes.

        Args:
            train: id, features and targets.
            test: id and features.
            facts: names of the columns.
        """

    @abstractmethod
    def read(self, public: Mapping[str, bytes], facts: TaskFacts, features: tuple[str, ...]) -> Items:
        """Read what `write` wrote: its inverse.

        Args:
            public: files of a task.
            facts: names of the columns.
            features: names of the feature columns, in any order.
        """

    @abstractmethod
    def excess(self, name: str, content: bytes, items: int) -> Iterator[str]:
        """Say why one of the two files is larger than a micro task's, without parsing its items.

        The file may be a stranger's.

        Args:
            name: of the file.
            content: its bytes.
            items: how many it should hold.
        """

    @abstractmethod
    def shows_target(self, public: Mapping[str, bytes], facts: TaskFacts) -> bool:
        """Whether the test file openly holds targets."""

    def contents(self, facts: TaskFacts, sizes: Sizes) -> list[tuple[str, str]]:
        """Return what the files hold, in words: name and content."""
        word = "target" if len(facts.target_columns) == 1 else "targets"
        *most, last = (f"`{name}`" for name in facts.target_columns)
        targets = f"{', '.join(most)} and {last}" if most else last
        return [
            (self.train, f"{sizes.train} {self.item}s with the {word} {targets}"),
            (self.test, f"{sizes.feedback + sizes.final} {self.item}s to predict, without the {word}"),
        ]
