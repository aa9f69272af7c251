"""Parse the files of a package once for all gates, and give every target as numbers.

Feature cells become numbers, days or names, as the design declares them; other cells are faults. Where an item has
several answer rows, or its answer is no cell of a table, gates judge items alone: the target of an item becomes what
gates can judge, which is the names of its labels, the mean of its pixels, the share of its mask, or the number of
characters of its texts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.check.dependence import Array, Levels, level
from sandmill.errors import name_some
from sandmill.fingerprint import digest
from sandmill.kinds.files.base import Items, Layout, layout_of
from sandmill.kinds.files.tables import read_child, read_csv
from sandmill.mechanism.units import decode
from sandmill.models.base import Part
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import TargetKind
from sandmill.models.texts import DESCRIPTION
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import Lengths
from sandmill.scoring.forms.many_rows import CONTROL, LONGEST_STRING

ANSWERS, PART = "answers.csv", "part"
YES_OR_NO = ("0", "1")
"""Class names of one label: absent, present."""
_UNKNOWN = "?"
"""Names no label."""
_NUMBER = re.compile(r"[01](?:\.[0-9]+)?(?:e-[0-9]+)?")


@dataclass(frozen=True)
class TargetValues:
    """One target with its value in every row, independent of its form in the files."""

    name: str
    """Target column, or label of a column that holds sets of labels."""
    values: Array
    """Class codes or numbers, NaN where the cell is not valid."""
    classes: tuple[str, ...] = ()
    """Names of the codes; empty for numbers."""

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Rows with a valid value."""
        return np.isfinite(self.values)

    def only(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> "TargetValues":
        """Select rows, by mask or by index."""
        return TargetValues(self.name, self.values[rows], self.classes)

    def known(self) -> "TargetValues":
        """Select the rows with a valid value."""
        return self.only(self.is_known)

    def marks(self) -> list[NDArray[np.bool_]]:
        """Return valid values as boolean marks: one array for each class, or above the median for numbers."""
        if not self.classes:
            return [self.values > np.median(self.values)]
        codes = np.unique(self.values)
        return [self.values == code for code in (codes[1:] if len(codes) == 2 else codes)]

    def orders(self) -> list[Levels]:
        """Return rankable arrays of valid values: the ranks of numbers, or 0/1 for each class."""
        return [mark.astype(np.int64) for mark in self.marks()] if self.classes else [level(self.values)]


def name_target(target: TargetValues, among: Sequence[TargetValues]) -> str:
    """Name a target in a finding, with its column or label if there are several."""
    return f"the target {target.name}" if len(among) > 1 else "the target"


@dataclass(frozen=True, repr=False)
class PackageTables:
    """The tables of one package: ids, names and targets as text, numbers and days as floats, missing cells as nulls."""

    package: TaskPackage
    spec: TaskSpec
    facts: TaskFacts
    layout: Layout
    description: str
    items: Items
    """Training and test items as they are in the files."""
    train: pl.DataFrame
    test: pl.DataFrame
    sample: pl.DataFrame
    """Its first answer row of each test item."""
    answers: pl.DataFrame
    """By item, see `answers_by_item`."""
    faults: tuple[str, ...]
    """Reasons why files cannot be read as the facts say. The frames are valid only if there are none."""
    events: pl.DataFrame | None = None
    """Rows of the child table, if the design has one."""

    def parts(self) -> tuple[tuple[str, pl.DataFrame], tuple[str, pl.DataFrame]]:
        """Return path and rows of the training items and of the test items."""
        return (self.layout.train, self.train), (self.layout.test, self.test)

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
        return tuple(
            TargetValues(target.name, np.append(target.values, np.nan)[self._answer_places], target.classes)
            for target in read_targets(self.answers, self.facts)
        )

    @cached_property
    def test_parts(self) -> NDArray[np.str_]:
        """Part of each test row in the order of test.csv, matched by id; empty where there is none."""
        parts = self.answers[PART].fill_null("").to_list()
        return np.array([*parts, ""], dtype=np.str_)[self._answer_places]

    @property
    def final(self) -> TargetValues:
        """Part of each test row as something that nothing else may reveal."""
        return TargetValues("the part", (self.test_parts == str(Part.FINAL)).astype(np.float64), YES_OR_NO)

    @cached_property
    def distinct_train(self) -> pl.DataFrame:
        """Training rows without the declared copies, so that rows are independent."""
        if self.spec.mechanism.duplicates() is None:
            return self.train
        return self.train.unique([*self.features, *self.facts.target_columns], keep="first", maintain_order=True)

    @cached_property
    def _answer_places(self) -> NDArray[np.int64]:
        """Row of the answers for each test row; -1 where there is none."""
        place = {row_id: number for number, row_id in enumerate(self.answers[self.facts.id_column])}
        return np.array([place.get(row_id, -1) for row_id in self.test[self.facts.id_column]], dtype=np.int64)


def read_package(package: TaskPackage) -> PackageTables:
    """Parse every file of a package. A file that cannot be parsed becomes a fault and an empty table."""
    facts, spec, layout = package.facts, package.spec, layout_of(package.spec)
    items = layout.read(package.public, facts, spec.feature_columns, spec.only_in_training)
    faults = list(items.faults)
    sample_csv = layout.sample_csv(package.public)
    samples = {layout.sample: sample_csv} if sample_csv else {}
    sample = read_csv(samples, layout.sample, [facts.id_column, *facts.submission_columns], faults)
    answers = read_csv(package.private, ANSWERS, [facts.id_column, *facts.target_columns, PART], faults)
    has_many = facts.encoding in ("pairs", "dense", "strings", "runs")  # several answer rows an item, or masks
    if has_many and sample is not None and answers is not None and not faults:
        if not sample[facts.id_column].equals(answers[facts.id_column]):
            faults.append(f"{layout.sample}: its answer rows are not those of {ANSWERS}, in the same order")
        sample = by_item(layout.sample, sample, facts, faults)
        answers = answers_by_item(ANSWERS, answers, facts, PART, faults)
    child = spec.mechanism.child
    events = read_child(package.public, child, facts.id_column, faults) if child else None
    description = ""
    if DESCRIPTION not in package.public:
        faults.append(f"{DESCRIPTION}: the file is not there")
    else:
        try:
            description = package.public[DESCRIPTION].decode()
        except UnicodeDecodeError as error:
            faults.append(f"{DESCRIPTION}: not UTF-8 text ({error.reason} at byte {error.start})")
    return PackageTables(
        package,
        spec,
        facts,
        layout,
        description,
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
    binary = [name for name, kind in frame.schema.items() if kind == pl.Binary]
    return frame.with_columns(
        pl.Series(name, [digest(cell or b"") for cell in frame[name]], dtype=pl.String) for name in binary
    )


def type_features(path: str, frame: pl.DataFrame, spec: TaskSpec, faults: list[str]) -> pl.DataFrame:
    """Convert the feature columns of a file from text.

    Numbers become floats in the column's own unit, without the unit that the design may add to them. Dates become days
    after the first day of their column. Categories and units stay text. Missing cells stay missing, and numbers that
    stand for missing cells become missing.
    """
    present = [column for column in spec.mechanism.columns if column.name in frame.columns]
    suffixes = {fault.column: f" {fault.suffix}" for fault in spec.mechanism.mixed_types()}
    typed = {
        column.name: _typed(column, suffixes.get(column.name, ""))
        for column in present
        if not isinstance(column.distribution, Categorical | Unit)
    }
    result = frame.with_columns(**typed)
    unread = {
        name
        for name in typed
        if frame[name].null_count() < result[name].null_count() or not result[name].drop_nulls().is_finite().all()
    }
    dates = {column.name for column, _ in date_columns(spec)}
    for kind, faulty in (("ISO dates", unread & dates), ("finite numbers", unread - dates)):
        if broken := [name for name in frame.columns if name in faulty]:
            faults.append(f"{path}: cells that are not {kind} in {name_some(broken)}")
    marks = {gap.column: gap.sentinel for gap in spec.mechanism.missing() if gap.sentinel is not None}
    result = result.with_columns(
        pl.when(pl.col(name) != mark).then(pl.col(name)).alias(name)
        for name, mark in marks.items()
        if name in frame.columns
    )
    for column in present:
        if column.conversion and (by := column.conversion.by) in frame.columns:
            codes = np.nan_to_num(as_numbers(frame[by], spec.mechanism.column_by_name[by]))
            cells = decode(column, result[column.name].fill_null(np.nan).to_numpy(), codes)
            result = result.with_columns(pl.Series(column.name, cells).fill_nan(None))
    return result


def _typed(column: Column, suffix: str) -> pl.Expr:
    cells = pl.col(column.name)
    if isinstance(column.distribution, Date):
        is_iso = cells.str.contains(r"^\d{4}-\d{2}-\d{2}$")
        day = pl.when(is_iso).then(cells.str.to_date("%Y-%m-%d", strict=False)) - pl.lit(column.distribution.first)
        return day.dt.total_days().cast(pl.Float64)
    return (cells.str.strip_suffix(suffix) if suffix else cells).cast(pl.Float64, strict=False)


def as_numbers(cells: pl.Series, column: Column) -> Array:
    """Return cells of a column as numbers: codes of levels, and NaN for cells that are missing or no such value."""
    law = column.distribution
    return _codes(cells, law.levels) if isinstance(law, Categorical) else _numbers(cells)


def _codes(cells: pl.Series, names: Sequence[str]) -> Array:
    places = {name: float(place) for place, name in enumerate(names)}
    return np.array([places.get(cell, np.nan) for cell in cells], dtype=np.float64)


def _numbers(cells: pl.Series) -> Array:
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().astype(np.float64)


def date_columns(spec: TaskSpec) -> list[tuple[Column, Date]]:
    """Return the columns whose cells are dates, with their spans."""
    return [(column, date) for column in spec.mechanism.columns if isinstance(date := column.distribution, Date)]


def by_item(path: str, frame: pl.DataFrame, facts: TaskFacts, faults: list[str]) -> pl.DataFrame:
    """Return a table of answer rows as a table of items: their ids, and the first cell of each other column.

    Rows that are not those of whole items, one after the other, are a fault.
    """
    row_ids = frame[facts.id_column].fill_null("").to_list()
    form = form_of(facts)
    try:
        ids, lengths = form.item_ids(row_ids, facts)
        is_whole = list(form.row_ids(ids, facts, lengths)) == row_ids
    except ValueError:
        is_whole = False
    if not is_whole:
        faults.append(f"{path}: its ids are not those of all answer rows of each item, one after the other")
        return frame.clear()
    starts = _starts(len(ids), len(row_ids), lengths)
    return frame[starts].with_columns(pl.Series(facts.id_column, ids, dtype=pl.String))


def answers_by_item(path: str, frame: pl.DataFrame, facts: TaskFacts, part: str, faults: list[str]) -> pl.DataFrame:
    """Return answers as a table of items, with what gates judge in place of the target.

    Rows of an item that are of several parts are a fault, and so are texts that no submission may hold.
    """
    items = by_item(path, frame, facts, faults)
    if not items.height:
        return items
    ids, lengths = form_of(facts).item_ids(frame[facts.id_column].to_list(), facts)
    starts = _starts(len(ids), frame.height, lengths)
    each = np.diff([*starts, frame.height])
    if not frame[part].equals(items[part].gather(np.repeat(np.arange(len(ids)), each))):
        faults.append(f"{path}: rows of one item are of several parts")
    cells = frame[facts.target_column].to_list()
    if facts.encoding == "strings":
        unfit = sum(not cell or len(cell) > LONGEST_STRING or bool(CONTROL.search(cell)) for cell in cells)
        if unfit:
            faults.append(f"{path}: {unfit} texts are empty, too long or hold control characters")
    judged = [_judged(cells[start : start + rows], facts) for start, rows in zip(starts, each, strict=True)]
    if facts.encoding == "runs" and None in judged:
        faults.append(f"{path}: masks that are no runs of pixels")
    return items.with_columns(pl.Series(facts.target_column, judged, dtype=pl.String))


def _judged(cells: Sequence[str | None], facts: TaskFacts) -> str | None:
    """Return what gates judge of the answer to one item; null, or no known label, where cells are no answer."""
    match facts.encoding:
        case "pairs":
            names = [name for name, mark in zip(facts.classes, cells, strict=True) if mark == "1"]
            return " ".join(names) if set(cells) <= set(YES_OR_NO) else _UNKNOWN
        case "strings":
            return str(sum(len(cell or "") for cell in cells))
        case "runs":
            form = form_of(facts)
            try:
                pixels = form.to_items(form.read_truth({facts.target_column: [cells[0] or ""]}, facts), facts)
            except ValueError:
                return None
        case _:
            if not all(cell and _NUMBER.fullmatch(cell) for cell in cells):
                return None
            pixels = np.array(cells, dtype=np.float64)
    return f"{pixels.mean():.6f}" if pixels.max() <= 1 else None


def train_target_by_item(frame: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
    """Put in place of training targets what `answers_by_item` puts in place of others."""
    name = facts.target_column
    if facts.encoding not in ("dense", "strings", "runs") or name not in frame.columns:
        return frame
    cells = frame[name]
    judged: Sequence[str | None]
    if facts.encoding == "runs":
        judged = [_judged([cell], facts) for cell in cells]
    elif cells.dtype == pl.Binary:
        judged = [f"{np.frombuffer(cell, dtype=np.uint8).mean() / 255:.6f}" for cell in cells]
    elif cells.dtype == pl.List(pl.String):
        judged = [str(sum(map(len, cell))) for cell in cells]
    else:
        return frame
    return frame.with_columns(pl.Series(name, judged, dtype=pl.String))


def _starts(items: int, rows: int, lengths: Lengths) -> list[int]:
    """Return the first answer row of each item."""
    if lengths is None:
        return list(range(0, rows, rows // max(1, items))) if rows else []
    return [int(end) for end in np.cumsum(lengths) - np.asarray(lengths)]


def reads_sets(facts: TaskFacts) -> bool:
    """Whether the target column holds label names separated by spaces; there an empty cell is an empty set."""
    return facts.target is TargetKind.MULTILABEL and len(facts.target_columns) == 1


def read_targets(frame: pl.DataFrame, facts: TaskFacts) -> tuple[TargetValues, ...]:
    """Read the target columns of train.csv or answers.csv, whose cells are text.

    A set of labels becomes one 0/1 target for each label; one with an unknown or repeated label is invalid for all.
    """
    if not reads_sets(facts):
        classes = YES_OR_NO if facts.target is TargetKind.MULTILABEL else facts.classes
        read = {
            name: _codes(frame[name], classes) if classes else _numbers(frame[name]) for name in facts.target_columns
        }
        return tuple(TargetValues(name, values, classes) for name, values in read.items())
    codes_of = {name: code for code, name in enumerate(facts.classes)}
    wide = np.zeros((frame.height, len(codes_of)))
    for row, cell in enumerate(frame[facts.target_column].fill_null("")):
        names = cell.split()
        if set(names) <= codes_of.keys() and len(set(names)) == len(names):
            wide[row, [codes_of[name] for name in names]] = 1
        else:
            wide[row] = np.nan
    return tuple(TargetValues(name, wide[:, code].copy(), YES_OR_NO) for name, code in codes_of.items())


def note_values(spec: TaskSpec, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that the notes hold: numbers as floats, levels as text.

    A cell is null if the pattern finds nothing, more than one value, or something that is no such value.
    """
    if spec.notes is None or spec.notes.name not in frame.columns:
        return pl.DataFrame()
    texts = frame[spec.notes.name].fill_null("").to_list()
    columns = []
    for value in spec.notes.values:
        found = map(value.find, texts)
        single = pl.Series(value.column, [some[0] if len(some) == 1 else None for some in found], dtype=pl.String)
        spread = spec.mechanism.column_by_name[value.column].distribution
        if isinstance(spread, Categorical):
            level_of = {level.replace("_", " "): level for level in spread.levels}
            columns.append(single.replace_strict(level_of, default=None, return_dtype=pl.String))
        else:
            numbers = single.cast(pl.Float64, strict=False)
            columns.append(numbers.set(~numbers.is_finite().fill_null(value=False), None))
    return pl.DataFrame(columns)
