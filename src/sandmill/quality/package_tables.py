"""Parse the files of a package once for all gates."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.spec import TaskSpec
from sandmill.quality.cells import type_features
from sandmill.quality.targets import Target, match_rows, read_targets

DESCRIPTION = "description.md"
TRAIN, TEST, SAMPLE = "train.csv", "test.csv", "sample_submission.csv"
ANSWERS = "answers.csv"
PUBLIC_FILES = (DESCRIPTION, TRAIN, TEST, SAMPLE)
PART = "part"


@dataclass(frozen=True)
class PackageTables:
    """The tables of one package: ids, names and targets as text, numbers and days as floats, missing cells as nulls."""

    package: TaskPackage
    description: str
    train: pl.DataFrame
    test: pl.DataFrame
    sample: pl.DataFrame
    answers: pl.DataFrame
    faults: tuple[str, ...]
    """Reasons why files cannot be read as the facts say. The frames are valid only if there are none."""

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
        """Feature columns in the order of train.csv."""
        others = (self.facts.id_column, *self.facts.target_columns)
        return [name for name in self.train.columns if name not in others]

    @cached_property
    def train_targets(self) -> tuple[Target, ...]:
        """Targets of the training rows, one for each target column or label."""
        return read_targets(self.train, self.facts)

    @cached_property
    def test_targets(self) -> tuple[Target, ...]:
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
    id_, targets = facts.id_column, facts.target_columns
    features = list(spec.feature_columns)
    train = _read_csv(package.public, TRAIN, faults)
    features = _in_order_of(train, features)
    _require(TRAIN, train, [id_, *features, *targets], faults)
    test = _read_csv(package.public, TEST, faults)
    if test is not None and (leaked := [name for name in targets if name in test.columns]):
        faults.append(f"{TEST}: holds the target column {', '.join(leaked)}")
    _require(TEST, test, [id_, *features], faults)
    sample = _read_csv(package.public, SAMPLE, faults)
    _require(SAMPLE, sample, [id_, *facts.submission_columns], faults)
    answers = _read_csv(package.private, ANSWERS, faults)
    _require(ANSWERS, answers, [id_, *targets, PART], faults)
    return PackageTables(
        package,
        _read_text(package.public, DESCRIPTION, faults),
        pl.DataFrame() if train is None else type_features(TRAIN, train, spec, faults),
        pl.DataFrame() if test is None else type_features(TEST, test, spec, faults),
        pl.DataFrame() if sample is None else sample,
        pl.DataFrame() if answers is None else answers,
        tuple(faults),
    )


def _read_csv(files: Mapping[str, bytes], path: str, faults: list[str]) -> pl.DataFrame | None:
    if path not in files:
        faults.append(f"{path}: the file is not there")
        return None
    try:
        return pl.read_csv(files[path], infer_schema=False)
    except PolarsError as error:
        faults.append(f"{path}: not a CSV table ({str(error).splitlines()[0]})")
        return None


def _read_text(files: Mapping[str, bytes], path: str, faults: list[str]) -> str:
    if path not in files:
        faults.append(f"{path}: the file is not there")
        return ""
    try:
        return files[path].decode()
    except UnicodeDecodeError as error:
        faults.append(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})")
        return ""


def _in_order_of(frame: pl.DataFrame | None, names: list[str]) -> list[str]:
    """Return names in the order of a frame. The order of features is free, but the same in train and test."""
    if frame is None or not set(names) <= set(frame.columns):
        return names
    return [name for name in frame.columns if name in set(names)]


def _require(path: str, frame: pl.DataFrame | None, expected: list[str], faults: list[str]) -> None:
    if frame is not None and frame.columns != expected:
        faults.append(f"{path}: saw columns {', '.join(frame.columns)}; expected {', '.join(expected)}")
