"""Parse the files of a package once for all gates."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.check.answer_items import answers_by_item, by_item, is_judged_by_item, train_target_by_item
from sandmill.check.cells import type_features
from sandmill.check.targets import TargetValues, match_rows, read_targets
from sandmill.fingerprint import digest
from sandmill.kinds.files.base import DESCRIPTION, Items, Layout, layout_of
from sandmill.kinds.files.tables import read_child, read_csv, require_columns
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.spec import TaskSpec

ANSWERS = "answers.csv"
PART = "part"


@dataclass(frozen=True, repr=False)
class PackageTables:
    """The tables of one package: ids, names and targets as text, numbers and days as floats, missing cells as nulls."""

    package: TaskPackage
    layout: Layout
    description: str
    items: Items
    """Training and test items as they are in the files."""
    train: pl.DataFrame
    test: pl.DataFrame
    sample: pl.DataFrame
    """Its first answer row of each test item."""
    answers: pl.DataFrame
    """By item, see `sandmill.check.answer_items`."""
    faults: tuple[str, ...]
    """Reasons why files cannot be read as the facts say. The frames are valid only if there are none."""
    events: pl.DataFrame | None = None
    """Rows of the child table, if the design has one."""

    @property
    def task_id(self) -> str:
        """Public name of the task."""
        return self.package.task_id

    @property
    def spec(self) -> TaskSpec:
        """Design of the task."""
        return self.package.spec

    @property
    def facts(self) -> TaskFacts:
        """Facts that a solver gets."""
        return self.package.facts

    @property
    def features(self) -> list[str]:
        """Feature columns that both parts have, in the order of the training file."""
        others = (self.facts.id_column, *self.facts.target_columns)
        return [name for name in self.train.columns if name not in others and name in self.test.columns]

    @cached_property
    def train_targets(self) -> tuple[TargetValues, ...]:
        """Targets of the training rows, one for each target column or label."""
        return read_targets(self.train, self.facts)

    @cached_property
    def test_targets(self) -> tuple[TargetValues, ...]:
        """Targets of the test rows in the order of test.csv, matched by id; NaN where there is no valid answer."""
        return tuple(match_rows(target, self._answer_places) for target in read_targets(self.answers, self.facts))

    @cached_property
    def test_parts(self) -> NDArray[np.str_]:
        """Part of each test row in the order of test.csv, matched by id; empty where there is none."""
        parts = self.answers[PART].fill_null("").to_list()
        return np.array([*parts, ""], dtype=np.str_)[self._answer_places]

    @cached_property
    def distinct_train(self) -> pl.DataFrame:
        """Training rows without the declared copies, so that rows are independent."""
        if self.spec.mechanism.duplicates() is None:
            return self.train
        return self.train.unique([*self.features, *self.facts.target_columns], keep="first", maintain_order=True)

    @cached_property
    def _answer_places(self) -> NDArray[np.int64]:
        place = {row_id: number for number, row_id in enumerate(self.answers[self.facts.id_column])}
        return np.array([place.get(row_id, -1) for row_id in self.test[self.facts.id_column]], dtype=np.int64)


def read_package(package: TaskPackage) -> PackageTables:
    """Parse every file of a package. A file that cannot be parsed becomes a fault and an empty table."""
    faults: list[str] = []
    facts, spec = package.facts, package.spec
    layout = layout_of(spec)
    items = layout.read(package.public, facts, spec.feature_columns, spec.only_in_training)
    faults += items.faults
    sample_csv = layout.sample_csv(package.public)
    sample = read_csv({layout.sample: sample_csv} if sample_csv else {}, layout.sample, faults)
    require_columns(layout.sample, sample, [facts.id_column, *facts.submission_columns], faults)
    answers = read_csv(package.private, ANSWERS, faults)
    require_columns(ANSWERS, answers, [facts.id_column, *facts.target_columns, PART], faults)
    if sample is not None and answers is not None and not faults and is_judged_by_item(facts):
        if not sample[facts.id_column].equals(answers[facts.id_column]):
            faults.append(f"{layout.sample}: its answer rows are not those of {ANSWERS}, in the same order")
        sample = by_item(layout.sample, sample, facts, faults)
        answers = answers_by_item(ANSWERS, answers, facts, PART, faults)
    child = spec.mechanism.child
    events = read_child(package.public, child, facts.id_column, faults) if child else None
    return PackageTables(
        package,
        layout,
        _read_text(package.public, DESCRIPTION, faults),
        items,
        type_features(layout.train, _as_text(train_target_by_item(items.train, facts)), spec, faults),
        type_features(layout.test, _as_text(items.test), spec, faults),
        pl.DataFrame() if sample is None else sample,
        pl.DataFrame() if answers is None else answers,
        tuple(faults),
        events,
    )


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Put the hash of its bytes in place of each cell that is no text, so that equal cells stay equal."""
    hashed = [
        pl.Series(name, [digest(cell) for cell in frame[name]], dtype=pl.String)
        for name, kind in frame.schema.items()
        if kind == pl.Binary
    ]
    return frame.with_columns(hashed)


def _read_text(files: Mapping[str, bytes], path: str, faults: list[str]) -> str:
    if path not in files:
        faults.append(f"{path}: the file is not there")
        return ""
    try:
        return files[path].decode()
    except UnicodeDecodeError as error:
        faults.append(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})")
        return ""
