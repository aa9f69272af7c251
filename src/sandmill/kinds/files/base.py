"""What every layout of public files can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sandmill.errors import name_some
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.texts import DESCRIPTION as DESCRIPTION

Files = Mapping[str, bytes]
"""Files of a task by path."""
Names = tuple[str, ...]
Parts = tuple[pl.DataFrame, pl.DataFrame]
"""Training and test items."""
SAMPLE = "sample_submission.csv"
"""Usual name of the sample submission; see `Layout.sample`."""


class Fault(Exception):
    """Why public files cannot be read as they should be."""


@dataclass(frozen=True)
class Items:
    """Training and test items as read from public files: ids and cells as text, pictures as bytes."""

    train: pl.DataFrame
    """Id, features and targets."""
    test: pl.DataFrame
    """Id and features."""
    faults: tuple[str, ...] = ()
    """The first reason why files cannot be read as they should be. The frames are valid only if there is none."""


def layout_of(spec: TaskSpec) -> "Layout":
    """Return how the items of a design lie in its public files."""
    layout: Layout = spec.kind.load("layout")
    return layout


class Layout(ABC):
    """Files for training and test items. Subclasses are stateless."""

    item: str = "row"
    """What the files hold one of for each item."""
    cell: str = "text"
    """What the cell of an item that is not a table's row is called."""
    sample: str = SAMPLE
    """Name of the sample submission."""
    train_only_table: str | None = None
    """Table of the columns that test items do not have. None: they are in the table of the training items."""
    sorts_ids: bool = False
    """Whether ids rise with the order of items, since nothing else in the files gives that order."""

    @property
    @abstractmethod
    def train(self) -> str:
        """Path of what a text calls the training items: a table, an archive, or a folder that ends in `/`."""

    @property
    @abstractmethod
    def test(self) -> str:
        """Path of what a text calls the test items."""

    @property
    def files(self) -> frozenset[str]:
        """Paths of the public files that every task of this layout has."""
        return frozenset({DESCRIPTION, self.sample, self.train, self.test})

    @property
    def folders(self) -> frozenset[str]:
        """Folders that hold one file for each item, each with `/` at its end."""
        return frozenset()

    def files_of(self, spec: TaskSpec) -> frozenset[str]:
        """Return the paths of all public files of a task, without those in `folders`."""
        child = {spec.mechanism.child.path} if spec.mechanism.child else set()
        return self.files | child | ({DATA_DICTIONARY} & {one.file for hint in spec.hints for one in hint.passages})

    def is_item_file(self, path: str) -> bool:
        """Whether a path is that of an item in one of the folders."""
        return False

    def path_faults(self, spec: TaskSpec, paths: Iterable[str]) -> Iterator[str]:
        """Say which public files are there and should not be, and which are lacking. Items are not counted."""
        there, expected = set(paths), self.files_of(spec)
        if unknown := sorted(path for path in there - expected if not self.is_item_file(path)):
            yield f"public side holds files that no agent should get: {name_some(unknown)}"
        lacking = sorted(expected - there)
        lacking += sorted(folder for folder in self.folders if not any(path.startswith(folder) for path in there))
        if lacking:
            yield f"public side lacks {name_some(lacking)}"

    @abstractmethod
    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Return the files that hold the items. Equal items give equal bytes.

        Args:
            train: id, features, columns of training items alone, targets.
            test: id and features.
            facts: names of the columns.
        """

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read what `write` wrote: its inverse.

        Args:
            public: files of a task.
            facts: names of the columns.
            features: names of the feature columns. The column of items that are no cells is the last one.
            only_in_training: names of the columns that the test items do not have.
        """
        try:
            return Items(*self.read_parts(public, facts, features, only_in_training))
        except Fault as fault:
            return Items(pl.DataFrame(), pl.DataFrame(), (str(fault),))

    @abstractmethod
    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read training and test items strictly: what another writer would write in another way is a `Fault`."""

    @abstractmethod
    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Say why files of items are larger or more than a micro task's, without parsing them.

        Args:
            public: files of a task, which may be a stranger's.
            sizes: items that it should have.
        """

    @abstractmethod
    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Whether the test items openly come with targets."""

    def pack_sample(self, csv: bytes) -> bytes:
        """Return the file of the sample submission, given as CSV."""
        return csv

    def sample_csv(self, public: Files) -> bytes:
        """Return the sample submission of a task as CSV; nothing if it has none."""
        return public.get(self.sample, b"")

    def told(self, facts: TaskFacts, sizes: Sizes) -> Mapping[str, str]:
        """Return what descriptions say of each file of items, in words.

        Of the training and of the test items, it is what follows the numbers of items and targets: the names of their
        files, if these mean something.
        """
        return {self.train: "", self.test: ""}


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by relative path into an existing folder. Folders of nested paths are made, and hold nothing else."""
    for inner in sorted({path.rpartition("/")[0] for path in files} - {""}):
        (folder / inner).mkdir(parents=True, exist_ok=True)
        for old in (folder / inner).iterdir():
            if old.is_file():
                old.unlink()
    for path, content in files.items():
        (folder / path).write_bytes(content)
