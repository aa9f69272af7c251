"""A package's files, parsed once, so that every gate reads the same rows and none of them meets a malformed file."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from sandmill.models.mechanism import Categorical
from sandmill.models.package import Brief, TaskPackage
from sandmill.models.spec import TaskSpec
from sandmill.quality.findings import name_some

DESCRIPTION = "description.md"
TRAIN, TEST, SAMPLE = "train.csv", "test.csv", "sample_submission.csv"
ANSWERS = "answers.csv"
PUBLIC_FILES = (DESCRIPTION, TRAIN, TEST, SAMPLE)
PART = "part"


@dataclass(frozen=True)
class PackageTables:
    """The tables of one package: ids, categories and targets as text, numeric features as floats, gaps as nulls."""

    package: TaskPackage
    description: str
    train: pl.DataFrame
    test: pl.DataFrame
    sample: pl.DataFrame
    answers: pl.DataFrame
    faults: tuple[str, ...]
    """What kept a file from being read as the brief says. The frames may be relied on only if there is none."""

    @property
    def task_id(self) -> str:
        """Public name of the task."""
        return self.package.task_id

    @property
    def spec(self) -> TaskSpec:
        """Design of the task."""
        return self.package.spec

    @property
    def brief(self) -> Brief:
        """What a solver is told."""
        return self.package.brief

    @property
    def features(self) -> list[str]:
        """Feature columns in the order of train.csv."""
        return [name for name in self.train.columns if name not in (self.brief.id_column, self.brief.target_column)]

    def train_target(self) -> NDArray[np.float64]:
        """Targets of the training rows: class codes or numbers, NaN where the cell is not valid."""
        return read_targets(self.train[self.brief.target_column], self.brief)

    def test_target(self) -> NDArray[np.float64]:
        """Targets of the test rows in the order of test.csv, matched by id; NaN where there is no valid answer."""
        by_id = dict(zip(self.answers[self.brief.id_column], self.answers[self.brief.target_column], strict=True))
        cells = [by_id.get(row_id) for row_id in self.test[self.brief.id_column]]
        return read_targets(pl.Series(self.brief.target_column, cells, dtype=pl.String), self.brief)


def read_targets(cells: pl.Series, brief: Brief) -> NDArray[np.float64]:
    """Turn target cells into codes of `brief.classes`, or into numbers where there are no classes; NaN if not valid."""
    if brief.classes:
        codes = {name: float(code) for code, name in enumerate(brief.classes)}
        return np.array([codes.get(cell, np.nan) for cell in cells], dtype=np.float64)
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().astype(np.float64)


def read_package(package: TaskPackage) -> PackageTables:
    """Parse every file of a package; what cannot be parsed becomes a fault and an empty table, never an exception."""
    faults: list[str] = []
    brief = package.brief
    features = [column.name for column in package.spec.mechanism.columns]
    id_, target = brief.id_column, brief.target_column
    train = _read_csv(package.public, TRAIN, faults)
    _require(TRAIN, train, [id_, *_in_order_of(train, features), target], faults)
    features = _in_order_of(train, features)
    test = _read_csv(package.public, TEST, faults)
    if test is not None and target in test.columns:
        faults.append(f"{TEST}: holds the target column {target}")
    _require(TEST, test, [id_, *features], faults)
    sample = _read_csv(package.public, SAMPLE, faults)
    _require(SAMPLE, sample, [id_, *brief.submission_columns], faults)
    answers = _read_csv(package.private, ANSWERS, faults)
    _require(ANSWERS, answers, [id_, target, PART], faults)
    return PackageTables(
        package,
        _read_text(package.public, DESCRIPTION, faults),
        _type_features(TRAIN, train, package.spec, faults),
        _type_features(TEST, test, package.spec, faults),
        pl.DataFrame() if sample is None else sample,
        pl.DataFrame() if answers is None else answers,
        tuple(faults),
    )


def numeric_columns(spec: TaskSpec) -> frozenset[str]:
    """Names of the columns whose cells are numbers; the others hold category names."""
    columns = spec.mechanism.columns
    return frozenset(column.name for column in columns if not isinstance(column.distribution, Categorical))


def _read_csv(files: dict[str, bytes], path: str, faults: list[str]) -> pl.DataFrame | None:
    if path not in files:
        faults.append(f"{path}: the file is not there")
        return None
    try:
        return pl.read_csv(files[path], infer_schema=False)
    except PolarsError as error:
        faults.append(f"{path}: not a CSV table ({str(error).splitlines()[0]})")
        return None


def _read_text(files: dict[str, bytes], path: str, faults: list[str]) -> str:
    if path not in files:
        faults.append(f"{path}: the file is not there")
        return ""
    try:
        return files[path].decode()
    except UnicodeDecodeError as error:
        faults.append(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})")
        return ""


def _in_order_of(frame: pl.DataFrame | None, names: list[str]) -> list[str]:
    """Features may stand in any order that train.csv chose, as long as test.csv chooses the same."""
    if frame is None or not set(names) <= set(frame.columns):
        return names
    return [name for name in frame.columns if name in set(names)]


def _require(path: str, frame: pl.DataFrame | None, expected: list[str], faults: list[str]) -> None:
    if frame is not None and frame.columns != expected:
        faults.append(f"{path}: saw columns {', '.join(frame.columns)}; expected {', '.join(expected)}")


def _type_features(path: str, frame: pl.DataFrame | None, spec: TaskSpec, faults: list[str]) -> pl.DataFrame:
    if frame is None:
        return pl.DataFrame()
    numeric = [name for name in frame.columns if name in numeric_columns(spec)]
    typed = frame.with_columns(pl.col(numeric).cast(pl.Float64, strict=False)) if numeric else frame
    broken = [name for name in numeric if not _are_finite(frame[name], typed[name])]
    if broken:
        faults.append(f"{path}: cells that are not finite numbers in {name_some(broken)}")
    return typed


def _are_finite(text: pl.Series, numbers: pl.Series) -> bool:
    return text.null_count() == numbers.null_count() and bool(numbers.drop_nulls().is_finite().all())
