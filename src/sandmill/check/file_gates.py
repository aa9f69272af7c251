"""Gates on files, ids, missing cells and pairs of pages, and on targets that names, sizes or places of files reveal.

Each yields findings as text.
"""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import chain, islice, product
from zipfile import ZipFile

import numpy as np
import polars as pl

from sandmill.check.dependence import Array, Levels, clustering_p_value, correlate_ranks, level
from sandmill.check.package_tables import (
    ANSWERS,
    PART,
    PackageTables,
    TargetValues,
    as_numbers,
    name_target,
    note_values,
)
from sandmill.errors import count, name_some
from sandmill.fingerprint import digest
from sandmill.mechanism.columns import standardize
from sandmill.models.base import Part
from sandmill.models.calibration import RUNG_FILES
from sandmill.models.faults import Missing
from sandmill.scoring.submission import UNSCORED

PRIVATE_FILES = frozenset({ANSWERS, "task.json", "leaderboard.csv", *RUNG_FILES.values()})
"""Private files of a package. All but the answers are added by calibration."""

ID_ALPHA = 1e-5
"""p-value below which ids or positions depend on a target. With ten tests it rejects 1 sound task in 10,000. Several
targets share it."""

MISSING_SIGMAS = 5.0
_LAST_NUMBER = re.compile(r"(\d{1,15})$")
TRACE_ALPHA = 1e-5
"""p-value below which a trace depends on a target, shared by all traces, targets and classes of a file."""


def check_files(tables: PackageTables) -> Iterator[str]:
    """Check that both sides have exactly the expected files, with the numbers of rows that the design declares."""
    yield from tables.faults
    yield from tables.layout.path_faults(tables.spec, tables.package.public)
    if unknown := sorted(set(tables.package.private) - PRIVATE_FILES):
        yield f"private side holds unknown files: {name_some(unknown)}"
    if tables.faults:
        return
    sizes, test_rows = tables.spec.sizes, tables.spec.test_items
    for path, frame, expected in (
        (tables.layout.train, tables.train, sizes.train),
        (tables.layout.test, tables.test, test_rows),
        (tables.layout.sample, tables.sample, test_rows),
        (ANSWERS, tables.answers, test_rows),
    ):
        if frame.height != expected:
            yield f"{path}: saw {frame.height} rows; expected {expected}"
    parts = ((Part.FEEDBACK, sizes.feedback), (Part.FINAL, sizes.final), (UNSCORED, tables.spec.unscored_items))
    for part, expected in parts:
        saw = int((tables.answers[PART] == part).sum())
        if saw != expected:
            yield f"{ANSWERS}: saw {saw} rows of part {part}; expected {expected}"


def check_items(tables: PackageTables) -> Iterator[str]:
    """Check items that are no rows of a table, as their kind does."""
    kind, channel, items = tables.spec.kind, tables.spec.channel, tables.items
    if channel is None:
        return
    train, test = items.train[channel.column], items.test[channel.column]
    if kind.gate:
        yield from kind.load("gate")(train, test)
    target = items.train[tables.facts.target_column] if channel.target_shape else train
    if target.dtype == pl.Binary and channel.target_shape:
        yield from clean_findings(target, test)


def clean_findings(cleaned: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that no page of the test part is free of dirt. Pages are PNG files; a clean page is an array of bytes."""
    from PIL import Image

    known = set(cleaned)
    if same := sum(Image.open(BytesIO(page)).tobytes() in known for page in test):
        yield f"{count(same, 'test page')} equal to a clean training page"


def check_ids(tables: PackageTables) -> Iterator[str]:
    """Check that ids are unique, and that neither ids nor the order of test.csv depend on targets or parts."""
    name, layout = tables.facts.id_column, tables.layout
    for path, frame in tables.parts():
        if empty := frame[name].null_count():
            yield f"{path}: {count(empty, 'row')} without an id"
        if repeated := frame.height - frame[name].n_unique():
            yield f"{path}: {count(repeated, 'id')} more than once"
    train, test = tables.train[name], tables.test[name]
    if shared := len(set(train) & set(test)):
        yield f"{count(shared, 'id')} in both {layout.train} and {layout.test}"
    for path, frame in ((layout.sample, tables.sample), (ANSWERS, tables.answers)):
        if not frame[name].equals(test):
            yield f"{path}: its ids are not those of {layout.test} in the same order"
    if tables.spec.kind.ids != "item":
        for path, ids, targets in (
            (layout.train, train, tables.train_targets),
            (layout.test, test, tables.test_targets),
        ):
            views = id_views(ids)
            for target in targets:
                shown = {view: numbers[target.is_known] for view, numbers in views.items()}
                what = f"{path}: ids tell {name_target(target, targets)}"
                found = (read_ids(what, shown, order, ID_ALPHA / len(targets)) for order in target.known().orders())
                yield from islice(chain.from_iterable(found), 1)
    final = tables.final.values
    yield from read_ids(f"{layout.test}: ids tell the part", id_views(test), final, ID_ALPHA)
    p = min(correlate_ranks(np.arange(len(final)), final)[1], clustering_p_value(final > 0))
    if p < ID_ALPHA:
        yield f"{layout.test}: the order of rows tells the part (p = {p:.1e})"


def read_ids(what: str, views: Mapping[str, Levels], values: Array | Levels, alpha: float) -> Iterator[str]:
    """Yield the first way in which names depend on a number."""
    for view, numbers in views.items():
        rho, p = correlate_ranks(numbers, values)
        if p < alpha:
            yield f"{what}: rank correlation {rho:+.3f} with the id {view} (p = {p:.1e})"
            return


def id_views(ids: pl.Series) -> dict[str, Levels]:
    """Return numeric views of names: by alphabet, by the number at the end, by length."""
    texts = ids.fill_null("")
    views = {"as text": level(texts)}
    endings = [_LAST_NUMBER.search(text) for text in texts]
    numbers = [float(found[1]) for found in endings if found]
    if len(numbers) == len(endings):
        views["as a number"] = level(np.array(numbers))
    return views | {"by length": texts.str.len_chars().to_numpy().astype(np.int64)}


def check_missing(tables: PackageTables) -> Iterator[str]:
    """Check that cells are missing where the design declares it, about as often as declared, and nowhere else."""
    declared = {gap.column: gap for gap in tables.spec.mechanism.missing()}
    id_column, features = tables.facts.id_column, tables.features
    for path, frame in ((tables.layout.train, tables.distinct_train), (tables.layout.test, tables.test)):
        for name in (id_column, *features):
            gaps, rows = frame[name].null_count(), frame.height
            if gaps == rows:
                yield f"{path}: column {name} is empty"
            elif name not in declared:
                if gaps:
                    yield f"{path}: column {name} has {count(gaps, 'gap')}; none are declared"
            else:
                low, high = _expected_gaps(tables, declared[name], frame)
                if not low <= gaps <= high:
                    yield f"{path}: column {name} has {gaps} gaps in {rows} rows; {low:.0f} to {high:.0f} are declared"


def _expected_gaps(tables: PackageTables, gap: Missing, frame: pl.DataFrame) -> tuple[float, float]:
    """Return bounds on the number of missing cells: five standard deviations around the declared mean."""
    given = tables.spec.mechanism.column_by_name[gap.given]
    cells = note_values(tables.spec, frame)[gap.given] if given.in_text else frame[gap.given]
    values = as_numbers(cells, given)
    log_odds = np.log(gap.rate / (1 - gap.rate)) + gap.slope * np.nan_to_num(standardize(given, values))
    chances = 1 / (1 + np.exp(-log_odds))
    expected, spread = float(chances.sum()), float(np.sqrt(np.sum(chances * (1 - chances))))
    return expected - MISSING_SIGMAS * spread - 1, expected + MISSING_SIGMAS * spread + 1


def check_traces(tables: PackageTables) -> Iterator[str]:
    """Try to learn targets from sizes, and from places and attributes in archives.

    Names of files hold ids, which have a gate of their own. The checks of a kind require plain headers.
    """
    entries = _archive_entries(tables.package.public)
    for path, items, targets in (
        (tables.layout.train, tables.items.train, tables.train_targets),
        (tables.layout.test, tables.items.test, (*tables.test_targets, tables.final)),
    ):
        views = _traces(entries, items)
        tests = len(views) * sum(len(target.known().orders()) for target in targets)
        for target, (name, view) in product(targets, views.items()):
            if (p := _p_value(view[target.is_known], target.known())) < TRACE_ALPHA / tests:
                yield f"{path}: {name} of the files tells {name_target(target, targets)} (p = {p:.1e})"


def _p_value(view: Levels, target: TargetValues) -> float:
    """Return the smaller p-value of two tests, doubled: a trend, and clusters of equal targets along the trace."""
    if len(view) < 3 or np.ptp(view) == 0:
        return 1.0
    sorting = np.argsort(view, kind="stable")
    trends = [correlate_ranks(view, order)[1] for order in target.orders()]
    return 2 * min([*trends, *(clustering_p_value(marks[sorting]) for marks in target.marks())])


def _traces(entries: Mapping[str, tuple[int, str]], items: pl.DataFrame) -> dict[str, Levels]:
    """Return each trace of the items as ranks, those that do not vary left out."""
    files = [name for name, kind in items.schema.items() if kind == pl.Binary]
    if not files:
        return {}
    contents = [bytes(content or b"") for content in items[files[0]]]
    archived = [entries.get(digest(content), (-1, "")) for content in contents]
    found = {
        "the size": level(pl.Series(map(len, contents), dtype=pl.Int64)),
        "the place in the archive": level(pl.Series([place for place, _ in archived], dtype=pl.Int64)),
        "an attribute in the archive": level(pl.Series([attributes for _, attributes in archived])),
    }
    return {name: view for name, view in found.items() if len(view) and np.ptp(view)}


def _archive_entries(public: Mapping[str, bytes]) -> dict[str, tuple[int, str]]:
    """Return place and attributes of each archived file, by the hash of its content."""
    entries = {}
    for path in sorted(path for path in public if path.endswith(".zip")):
        with ZipFile(BytesIO(public[path])) as archive:
            for place, info in enumerate(archive.infolist()):
                kept = (info.date_time, info.compress_type, info.external_attr, info.flag_bits, info.create_version)
                more = (info.compress_size - info.file_size, info.extra, info.comment)
                entries[digest(archive.read(info))] = place, repr((kept, more))
    return entries
