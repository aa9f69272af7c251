"""Gates on a package's files, ids and missing cells. Each yields findings as text."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice

import numpy as np
import polars as pl

from sandmill.check.dependence import Array, Levels, clustering_p_value, correlate_ranks, level
from sandmill.check.note_values import note_values
from sandmill.check.package_tables import ANSWERS, PART, PackageTables
from sandmill.check.page_pairs import mask_findings, pair_findings
from sandmill.check.targets import TargetValues, name_target
from sandmill.errors import count, name_some
from sandmill.kinds.page.channel import FieldsChannel
from sandmill.kinds.page.layout import mask_pixels
from sandmill.mechanism.columns import standardize
from sandmill.models.base import Part
from sandmill.models.calibration import RUNG_FILES
from sandmill.models.columns import Categorical
from sandmill.models.faults import Missing
from sandmill.scoring.answers import UNSCORED

PRIVATE_FILES = frozenset({ANSWERS, "task.json", "leaderboard.csv", *RUNG_FILES.values()})
"""Private files of a package. All but the answers are added by calibration."""

ID_ALPHA = 1e-5
"""p-value below which ids or positions depend on a target. With ten tests it rejects 1 sound task in 10,000. Several
targets share it."""

MISSING_SIGMAS = 5.0
_LAST_NUMBER = re.compile(r"(\d{1,15})$")


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
    kind, channel = tables.spec.kind, tables.spec.channel
    if kind.gate and channel:
        yield from kind.load("gate")(tables.items.train[channel.column], tables.items.test[channel.column])
    if channel and channel.target_shape:
        target, train, test = (
            tables.items.train[tables.facts.target_column],
            tables.items.train[channel.column],
            tables.items.test[channel.column],
        )
        if tables.facts.encoding == "runs":
            yield from mask_findings(train, mask_pixels(target, tables.facts))
        else:
            slips = channel.slips if isinstance(channel, FieldsChannel) else ()
            yield from pair_findings(train, target, test, slips, channel.target_shape[1])


def check_ids(tables: PackageTables) -> Iterator[str]:
    """Check that ids are unique, and that neither ids nor the order of test.csv depend on targets or parts."""
    name, layout = tables.facts.id_column, tables.layout
    train, test = tables.train[name], tables.test[name]
    for path, ids in ((layout.train, train), (layout.test, test)):
        if empty := ids.null_count():
            yield f"{path}: {count(empty, 'row')} without an id"
        if repeated := ids.len() - ids.n_unique():
            yield f"{path}: {count(repeated, 'id')} more than once"
    if shared := len(set(train) & set(test)):
        yield f"{count(shared, 'id')} in both {layout.train} and {layout.test}"
    for path, frame in ((layout.sample, tables.sample), (ANSWERS, tables.answers)):
        if not frame[name].equals(test):
            yield f"{path}: its ids are not those of {layout.test} in the same order"
    if tables.spec.kind.ids != "item":
        yield from _read_targets(layout.train, train, tables.train_targets)
        yield from _read_targets(layout.test, test, tables.test_targets)
    final = (tables.test_parts == str(Part.FINAL)).astype(np.int64)
    yield from read_ids(f"{layout.test}: ids tell the part", id_views(test), final, ID_ALPHA)
    place = np.arange(len(final))
    p = min(correlate_ranks(place, final)[1], clustering_p_value(final > 0))
    if p < ID_ALPHA:
        yield f"{layout.test}: the order of rows tells the part (p = {p:.1e})"


def _read_targets(path: str, ids: pl.Series, targets: tuple[TargetValues, ...]) -> Iterator[str]:
    views = id_views(ids)
    for target in targets:
        shown = {view: numbers[target.is_known] for view, numbers in views.items()}
        what = f"{path}: ids tell {name_target(target, targets)}"
        told = (read_ids(what, shown, order, ID_ALPHA / len(targets)) for order in target.known().orders())
        yield from islice(chain.from_iterable(told), 1)


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
    if isinstance(given.distribution, Categorical):
        codes = {level: float(code) for code, level in enumerate(given.distribution.levels)}
        values = np.array([codes.get(cell, np.nan) for cell in cells])
    else:
        values = cells.fill_null(np.nan).to_numpy().astype(np.float64)
    log_odds = np.log(gap.rate / (1 - gap.rate)) + gap.slope * np.nan_to_num(standardize(given, values))
    chances = 1 / (1 + np.exp(-log_odds))
    expected, spread = float(chances.sum()), float(np.sqrt(np.sum(chances * (1 - chances))))
    return expected - MISSING_SIGMAS * spread - 1, expected + MISSING_SIGMAS * spread + 1
