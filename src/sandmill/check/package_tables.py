"""Parse the files of a package once for all gates.

Feature cells become numbers, days or names, as the design declares them; other cells are faults. Where an item has
several answer rows, or its answer is no cell of a table, gates judge items alone: the target of an item becomes what
gates can judge, which is the names of its labels, the mean of its pixels, the share of its mask, or the number of
characters of its texts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.check.targets import TargetValues, match_rows, read_targets
from sandmill.errors import name_some
from sandmill.fingerprint import digest
from sandmill.kinds.files.base import DESCRIPTION, Items, Layout, layout_of
from sandmill.kinds.files.tables import read_child, read_csv, require_columns
from sandmill.mechanism.units import decode
from sandmill.models.columns import Categorical, Column, Date, Unit
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.spec import TaskSpec
from sandmill.scoring.forms import form_of
from sandmill.scoring.forms.base import Lengths
from sandmill.scoring.forms.many_rows import CONTROL, LONGEST_STRING

ANSWERS = "answers.csv"
PART = "part"
_ISO = r"^\d{4}-\d{2}-\d{2}$"
_ZERO_OR_ONE = {"0": False, "1": True}
_UNKNOWN = "?"
"""Names no label."""
_NUMBER = re.compile(r"[01](?:\.[0-9]+)?(?:e-[0-9]+)?")


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
    """By item, see `answers_by_item`."""
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


def type_features(path: str, frame: pl.DataFrame, spec: TaskSpec, faults: list[str]) -> pl.DataFrame:
    """Convert the feature columns of a file from text.

    Numbers become floats in the column's own unit, without the unit that the design may add to them. Dates become days
    after the first day of their column. Categories and units stay text. Missing cells stay missing, and numbers that
    stand for missing cells become missing.
    """
    suffixes = {fault.column: f" {fault.suffix}" for fault in spec.mechanism.mixed_types()}
    columns = [column for column in spec.mechanism.columns if not isinstance(column.distribution, Categorical | Unit)]
    typed = [column for column in columns if column.name in frame.columns]
    result = frame.with_columns(_type_column(column, suffixes.get(column.name, "")) for column in typed)
    dates = {column.name for column, _ in date_columns(spec)}
    unread = {column.name for column in typed if not _is_read(frame, result, column.name)}
    for kind, faulty in (("ISO dates", unread & dates), ("finite numbers", unread - dates)):
        if broken := [name for name in frame.columns if name in faulty]:
            faults.append(f"{path}: cells that are not {kind} in {name_some(broken)}")
    return _decoded(result, spec)


def _decoded(frame: pl.DataFrame, spec: TaskSpec) -> pl.DataFrame:
    """Undo sentinels and conversions of units."""
    marks = {gap.column: gap.sentinel for gap in spec.mechanism.missing() if gap.sentinel is not None}
    present = [column for column in spec.mechanism.columns if column.name in frame.columns]
    frame = frame.with_columns(
        pl.when(pl.col(name) != mark).then(pl.col(name)).alias(name)
        for name, mark in marks.items()
        if name in frame.columns
    )
    for column in present:
        if column.conversion and column.conversion.by in frame.columns:
            by = spec.mechanism.column_by_name[column.conversion.by].distribution
            levels = {level: code for code, level in enumerate(by.levels)} if isinstance(by, Categorical) else {}
            codes = np.array([levels.get(cell, 0) for cell in frame[column.conversion.by]], dtype=np.float64)
            cells = decode(column, frame[column.name].fill_null(np.nan).to_numpy(), codes)
            frame = frame.with_columns(pl.Series(column.name, cells).fill_nan(None))
    return frame


def date_columns(spec: TaskSpec) -> list[tuple[Column, Date]]:
    """Return the columns whose cells are dates, with their spans."""
    return [(column, date) for column in spec.mechanism.columns if isinstance(date := column.distribution, Date)]


def _type_column(column: Column, suffix: str) -> pl.Expr:
    cells = pl.col(column.name)
    if isinstance(column.distribution, Date):
        iso = pl.when(cells.str.contains(_ISO)).then(cells.str.to_date("%Y-%m-%d", strict=False))
        return (iso - pl.lit(column.distribution.first)).dt.total_days().cast(pl.Float64).alias(column.name)
    return (cells.str.strip_suffix(suffix) if suffix else cells).cast(pl.Float64, strict=False)


def _is_read(text: pl.DataFrame, typed: pl.DataFrame, name: str) -> bool:
    numbers = typed[name]
    return text[name].null_count() == numbers.null_count() and bool(numbers.drop_nulls().is_finite().all())


def is_judged_by_item(facts: TaskFacts) -> bool:
    """Whether items have several answer rows, or masks."""
    return facts.encoding in ("pairs", "dense", "strings", "runs")


def by_item(path: str, frame: pl.DataFrame, facts: TaskFacts, faults: list[str]) -> pl.DataFrame:
    """Return a table of answer rows as a table of items: their ids, and the first cell of each other column.

    Args:
        path: of the file, for faults.
        frame: its cells as text.
        facts: what the task asks for.
        faults: receives a fault if rows are not those of whole items, one after the other.
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
    cells = frame[facts.target_column]
    told: Sequence[str | None]
    match facts.encoding:
        case "pairs":
            told = _labels(cells.to_list(), facts)
        case "runs":
            told = _shares(cells, facts)
            if None in told:
                faults.append(f"{path}: masks that are no runs of pixels")
        case "strings":
            faults += _text_faults(path, cells)
            told = _sums(cells.fill_null("").str.len_chars().to_list(), starts)
        case _:
            told = _means(cells.to_list(), int(each[0]))
    return items.with_columns(pl.Series(facts.target_column, told, dtype=pl.String))


def train_target_by_item(frame: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
    """Put in place of training targets what `answers_by_item` puts in place of others."""
    name = facts.target_column
    if facts.encoding not in ("dense", "strings", "runs") or name not in frame.columns:
        return frame
    cells = frame[name]
    told: Sequence[str | None]
    if facts.encoding == "runs":
        told = _shares(cells, facts)
    elif cells.dtype == pl.Binary:
        told = [f"{np.frombuffer(cell, dtype=np.uint8).mean() / 255:.6f}" for cell in cells]
    elif cells.dtype == pl.List(pl.String):
        told = [str(sum(map(len, cell))) for cell in cells]
    else:
        return frame
    return frame.with_columns(pl.Series(name, told, dtype=pl.String))


def _starts(items: int, rows: int, lengths: Lengths) -> list[int]:
    if lengths is None:
        return list(range(0, rows, rows // max(1, items))) if rows else []
    return [int(end) for end in np.cumsum(lengths) - np.asarray(lengths)]


def _labels(cells: Sequence[str | None], facts: TaskFacts) -> list[str]:
    width = len(facts.classes)
    told = []
    for start in range(0, len(cells), width):
        marks = [_ZERO_OR_ONE.get(cell or "") for cell in cells[start : start + width]]
        names = [name for name, mark in zip(facts.classes, marks, strict=True) if mark]
        told.append(_UNKNOWN if None in marks else " ".join(names))
    return told


def _means(cells: Sequence[str | None], width: int) -> list[str | None]:
    """Return the mean of each picture; null where a cell is no number from 0 to 1."""
    if not all(cell and _NUMBER.fullmatch(cell) for cell in cells):
        return [None] * (len(cells) // width)
    values = np.array(cells, dtype=np.float64).reshape(-1, width)
    fits = np.asarray(values.max(axis=1) <= 1)
    return [f"{mean:.6f}" if fit else None for mean, fit in zip(values.mean(axis=1), fits, strict=True)]


def _shares(cells: pl.Series, facts: TaskFacts) -> list[str | None]:
    """Return the share of the picture that each mask covers; null where a cell does not hold runs."""
    form = form_of(facts)
    told: list[str | None] = []
    for cell in cells.fill_null("").to_list():
        try:
            mask = form.to_items(form.read_truth({facts.target_column: [cell]}, facts), facts)
        except ValueError:
            told.append(None)
        else:
            told.append(f"{mask.mean():.6f}")
    return told


def _sums(lengths: Sequence[int], starts: Sequence[int]) -> list[str]:
    return [str(total) for total in np.add.reduceat(np.asarray(lengths), starts)]


def _text_faults(path: str, cells: pl.Series) -> list[str]:
    unfit = sum(not cell or len(cell) > LONGEST_STRING or bool(CONTROL.search(cell)) for cell in cells)
    return [f"{path}: {unfit} texts are empty, too long or hold control characters"] if unfit else []


def note_values(spec: TaskSpec, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that the notes hold: numbers as floats, levels as text.

    A cell is null if the pattern finds nothing, more than one value, or something that is no such value.
    """
    if spec.notes is None or spec.notes.name not in frame.columns:
        return pl.DataFrame()
    texts = frame[spec.notes.name].fill_null("").to_list()
    columns = []
    for value in spec.notes.values:
        found = [value.find(text) for text in texts]
        single = pl.Series(value.column, [some[0] if len(some) == 1 else None for some in found], dtype=pl.String)
        spread = spec.mechanism.column_by_name[value.column].distribution
        if isinstance(spread, Categorical):
            level_of = {level.replace("_", " "): level for level in spread.levels}
            columns.append(single.replace_strict(level_of, default=None, return_dtype=pl.String))
        else:
            numbers = single.cast(pl.Float64, strict=False)
            columns.append(numbers.set(~numbers.is_finite().fill_null(value=False), None))
    return pl.DataFrame(columns)
