"""`blind_v2`, a solver that reads no text: it repairs units, takes values out of notes and searches for new features.

A task whose texts state facts must not be won by it: what a search over the files finds need not be read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from sandmill.calibrate.adversary import blind_v1
from sandmill.calibrate.adversary.joins import child_columns
from sandmill.calibrate.adversary.judge import Judge, mean_of_members
from sandmill.calibrate.adversary.notes import note_values
from sandmill.calibrate.solvers.designs import words
from sandmill.calibrate.solvers.table import DATE, Table, is_prose, pattern_of, read_measures
from sandmill.mechanism.rule import great_circle_km
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts

SENTINELS = (-1, -9, -99, -999, 999, 9999, 99999)
MOST_FOUND, STRICTNESS = 5, 1.1
"""Quantities that the search takes at most, and how much of the gain of pure chance each must have."""
CUTS, NORMS = (0.45, 0.57, 0.7), (0.4, 0.5, 0.6)
"""Quantiles at which a quantity is cut, and of which the distance is taken."""
PARTS = (0.25, 0.35, 0.5, 0.65, 0.75)
"""Quantiles at which a part of a condition is cut."""
MOST_POSITIVE, MOST_FLAGS, KEPT = 16, 160, 40
WINDOWS = (0.15, 0.25, 0.35, 0.45, 0.55)
"""Windows of events, as shares of the time that they cover."""
APART = 1.2
"""Distance of two groups of categories, in standard deviations within categories, that another unit explains best."""


class Events(NamedTuple):
    """Rows of a child table: whose each is, its kind, an amount and an age."""

    owner: Any
    kind: Any
    amount: Any
    age: Any


class Family(NamedTuple):
    """Quantities of one form: columns of training rows, a maker of a column of test rows, and their `Judge.sizes`."""

    train: Any
    make: Any
    size: Any

    @classmethod
    def of(cls, judge: Judge, train: Any, make: Any) -> "Family":
        """Measure quantities."""
        return cls(train, make, judge.sizes(train))


@dataclass
class Files:
    """The rows of a task as its files have them, with its child tables."""

    facts: TaskFacts
    frames: tuple[pd.DataFrame, pd.DataFrame]
    """Training and test rows."""
    children: Mapping[str, pl.DataFrame]

    @classmethod
    def read(cls, folder: Path, facts: TaskFacts, children: Mapping[str, pl.DataFrame]) -> "Files":
        """Read a public folder."""
        return cls(facts, tuple(kind_named(facts.kind).load("reader").read(folder, facts)), children)

    @cached_property
    def columns(self) -> list[str]:
        """Names of the feature columns."""
        return [name for name in self.frames[1].columns if name != self.facts.id_column]

    @cached_property
    def values(self) -> dict[str, Any]:
        """Numbers of training and test rows, by column."""
        found = {}
        for name in self.columns:
            cells = [frame[name] for frame in self.frames]
            pattern = pattern_of(*cells)
            if pattern is not DATE and (pattern or pd.api.types.is_numeric_dtype(cells[0])):
                found[name] = np.concatenate([read_measures(part).to_numpy(dtype=float) for part in cells])
        return found

    @cached_property
    def notes(self) -> str | None:
        """Name of the column of free text."""
        return next((name for name in self.columns if is_prose(self.frames[0][name])), None)

    @cached_property
    def levels(self) -> dict[str, int]:
        """Number of levels of the categorical columns."""
        both = pd.concat([frame[self.columns] for frame in self.frames])
        names = [name for name in self.columns if name not in self.values and name != self.notes]
        return {name: both[name].nunique() for name in names}

    @cached_property
    def events(self) -> Events | None:
        """The first child table of four columns: id, kind, amount and age."""
        for _, child in sorted(self.children.items()):
            if child.width == 4 and child.columns[0] == self.facts.id_column:
                key, *names = child.columns
                if child[names[0]].dtype == pl.String and all(child[name].dtype.is_numeric() for name in names[1:]):
                    return Events(child[key].cast(pl.String).to_numpy(), *(child[name].to_numpy() for name in names))
        return None


def blind_v2(table: Table, folder: Path, children: Mapping[str, pl.DataFrame]) -> Callable[[Table], Any]:
    """Search the files of a table, and return a solver: the average of `blind_v1` and of models with what was found."""
    # Where nothing was repaired, or nothing found, the fits are there already.
    found, plain = (
        table if made.train.equals(table.train) and made.test.equals(table.test) else made
        for made in found_tables(Files.read(folder, table.facts, children))
    )
    first = blind_v1(plain, children)

    def blind_v2(part: Table) -> Any:
        """Scores for one column of the target."""
        return np.mean([mean_of_members(found.columns()[part.place]), first(plain.columns()[part.place])], axis=0)

    return blind_v2


def found_tables(files: Files) -> tuple[Table, Table]:
    """Make a table with the quantities that a search over the files finds, and one with repaired cells alone."""
    frames = [frame.copy() for frame in files.frames]
    read_notes(files, frames)
    repair_gaps(files, frames)
    repair_units(files, frames)
    judge = Judge(Table.of(frames[0].copy(), frames[1].copy(), files.facts))
    found = search(files, judge)
    frames[0] = frames[0].iloc[judge.table.kept].reset_index(drop=True)  # The judge's table lacks copied rows.
    for place, (train, test) in enumerate(found):
        frames[0][f"found_{place}"], frames[1][f"found_{place}"] = train, test
    named = [f"found_{place}" for place in range(len(found))]
    for left, right in paired(judge):
        named.append(f"{left}_and_{right}")
        for frame in frames:
            frame[named[-1]] = frame[left].astype(str) + " " + frame[right].astype(str)
    made = Table.of(frames[0], frames[1], files.facts)
    made.stated = tuple(named)
    return made, judge.table


def read_notes(files: Files, frames: Sequence[pd.DataFrame]) -> None:
    """Write the values that notes hold into columns."""
    if files.notes is None:
        return
    texts = [frame[files.notes].fillna("").astype(str) for frame in frames]
    for place, (pattern, levels) in enumerate(note_values([text for part in texts for text in part if text])):
        for frame, part in zip(frames, texts, strict=True):
            cells = part.str.extract(pattern, expand=False)
            frame[f"noted_{place}"] = cells if levels else pd.to_numeric(cells)
    for frame in frames:
        del frame[files.notes]


def repair_gaps(files: Files, frames: Sequence[pd.DataFrame]) -> None:
    """Empty cells that hold a repeated extreme number far from all others."""
    for name, cells in files.values.items():
        known = cells[np.isfinite(cells)]
        for number in SENTINELS:
            rest = known[known != number]
            if (known == number).sum() > 2 and len(rest) and (number < rest.min() or number > rest.max()):
                off = min(abs(number - rest.min()), abs(number - rest.max()))
                if off > 0.1 * np.ptp(rest) or (number < 0 <= rest.min()):
                    for frame in frames:
                        if pd.api.types.is_numeric_dtype(frame[name]):
                            frame[name] = frame[name].mask(frame[name] == number)


def repair_units(files: Files, frames: Sequence[pd.DataFrame]) -> None:
    """Bring the cells of some categories to the scale of the others, where two groups of categories lie far apart."""
    both = pd.concat(frames)
    numbers: Any = both[[name for name in files.values if pd.api.types.is_numeric_dtype(both[name])]].astype(float)
    is_positive = ~(numbers <= 0).any()
    scaled = numbers.copy()
    scaled.loc[:, is_positive] = np.log(numbers.loc[:, is_positive])
    apart: dict[tuple[str, str], set[str]] = {}
    for by in (name for name, count in files.levels.items() if 1 < count <= 8):
        groups = scaled.groupby(both[by].astype(str))
        middles, spread = groups.median(), groups.std().median()
        ordered = np.sort(middles, axis=0)
        steps = np.diff(ordered, axis=0)
        least = np.maximum(APART * spread, 0.6 * np.ptp(ordered, axis=0))
        for place in np.flatnonzero(steps.max(axis=0, initial=-np.inf) > least):
            name, edge = numbers.columns[place], ordered[steps[:, place].argmax() + 1, place] - 1e-9
            apart[name, by] = set(middles.index[middles[name] >= edge])
    for name, by in (pair for pair in product(numbers, files.levels) if pair in apart):
        cells, inside = scaled[name], both[by].astype(str).isin(apart[name, by])
        low, high = cells[~inside], cells[inside]
        slope = 1.0 if is_positive[name] else low.std() / max(float(high.std()), 1e-9)
        moved = cells.mask(inside, (cells - high.median()) * slope + low.median())
        fixed = (np.exp(moved) if is_positive[name] else moved).to_numpy()
        for frame, part in zip(frames, np.split(fixed, [len(frames[0])]), strict=True):
            frame[f"{name}_by_{by}"] = part


def search(files: Files, judge: Judge) -> list[tuple[Any, Any]]:
    """Add quantities one by one while each pays more than chance would. Returns cells of training and test rows."""
    families = [*quotients(judge), *conditions(judge), *distances(judge), *summaries(files, judge)]
    least = STRICTNESS * np.log(sum(len(family.size) for family in families) + 1)
    found: list[tuple[Any, Any]] = []
    while len(found) < MOST_FOUND:
        gains = [judge.gains(family.train, family.size) for family in families]
        tops = [float(each.max(initial=-np.inf)) for each in gains]
        if max(tops, default=-np.inf) < least:
            break
        best = int(np.argmax(tops))
        place, (chosen, make, _) = int(gains[best].argmax()), families[best]
        found.append((chosen[:, place], make(place)))
        step = judge.take(chosen[:, place])
        families = [Family(train, make, size - (step @ train) ** 2) for train, make, size in families]
    return found


def shaped(judge: Judge, log_train: Any, on_test: Any) -> Iterator[Family]:
    """Quantities as they are, cut, and as distances from a norm."""
    yield Family.of(judge, log_train, on_test)
    shapes: Any = [lambda part, at: (part > at) * 1.0] * len(CUTS) + [lambda part, at: np.abs(part - at)] * len(NORMS)
    for at, shape in zip(np.quantile(log_train, CUTS + NORMS, axis=0), shapes, strict=True):
        yield Family.of(judge, shape(log_train, at), lambda place, at=at, shape=shape: shape(on_test(place), at[place]))


def filled(table: Table, names: list[str]) -> list[Any]:
    """Numeric columns of training and test rows, with gaps set to the training median."""
    middles = table.train[names].median()
    return [part[names].fillna(middles).to_numpy(dtype=float) for part in (table.train, table.test)]


def quotients(judge: Judge) -> list[Family]:
    """Quotients of two to four positive columns."""
    names = [name for name, cells in judge.values.items() if np.nanmin(cells) > 0 and len(np.unique(cells)) > 9]
    names = [name for name in names if not any(name != other and name.endswith(f"_{other}") for other in names)]
    train, test = (np.log(np.maximum(part, 1e-9)) for part in filled(judge.table, names))
    if len(names) < 2:
        return []
    alone = np.maximum(judge.gains(train), judge.gains(np.abs(train - np.median(train, axis=0))))
    kept = np.argsort(-alone)[:MOST_POSITIVE]
    signs = ((1, -1), (1, 1, -1), (1, -1, 1), (-1, 1, 1), (1, 1, -1, -1), (1, -1, 1, -1), (1, -1, -1, 1))
    chosen = ((places, each) for each in signs for places in combinations(kept, len(each)))
    mixing = np.array([np.bincount(places, each, len(names)) for places, each in chosen]).T
    return list(shaped(judge, train @ mixing, lambda place: test @ mixing[:, place]))


def conditions(judge: Judge) -> list[Family]:
    """One or two conditions together, by themselves and as the place where a column counts."""
    table, rest = judge.table, judge.rest
    flags: tuple[list[Any], list[Any]] = ([], [])
    numbers = [part[list(judge.values)].to_numpy(dtype=float) for part in (table.train, table.test)]
    for place, cells in enumerate(numbers[0].T):
        cuts = np.unique(np.nanquantile(cells, PARTS))
        for side, part in zip(flags, numbers, strict=True):
            column = part[:, [place]]
            side.append(np.stack([column > cuts, column < cuts], axis=2).reshape(len(column), -1))
    for name in table.kinds.categorical:
        codes, names = pd.factorize(words(table, name)[0], sort=True)
        sizes = np.arange(1, min(len(names), 12))
        for response in rest.T:
            order = np.argsort(np.bincount(codes, response) / np.bincount(codes))
            ranks = np.append(np.argsort(order), len(names))  # A category that training lacks comes last.
            for side, cells in zip(flags, words(table, name), strict=True):
                side.append(ranks[pd.Index(names).get_indexer(cells)][:, None] < sizes)
    known, asked = (np.hstack(side) * 1.0 for side in flags)
    alone = Family.of(judge, known, lambda place: asked[:, place])
    first = np.argsort(-judge.gains(known, alone.size), kind="stable")[:MOST_FLAGS]
    left, right = np.array(list(combinations(first, 2))).T
    middle = np.nanmean(numbers[0], axis=0)
    train, test = (np.nan_to_num(part - middle) for part in numbers)
    width, effects = known.shape[1], (train[:, :, None] * known[:, None, :]).reshape(len(train), -1)
    inside = Family.of(judge, effects, lambda at: asked[:, at % width] * test[:, at // width])
    top = np.argsort(-judge.gains(effects, inside.size))[:KEPT]
    narrow = (known[:, :, None] * effects[:, None, top]).reshape(len(train), -1)
    return [
        alone,
        Family.of(judge, known[:, left] * known[:, right], lambda at: asked[:, left[at]] * asked[:, right[at]]),
        inside,
        Family.of(judge, narrow, lambda at: asked[:, at // len(top)] * inside.make(top[at % len(top)])),
    ]


def distances(judge: Judge) -> list[Family]:
    """Distances between places whose columns are named as latitude and longitude."""
    places = [name[:-4] for name in judge.values if name.endswith("_lat") and f"{name[:-4]}_lon" in judge.values]
    made: list[Family] = []
    for pair in combinations(places, 2):
        names = [f"{place}_{axis}" for place in pair for axis in ("lat", "lon")]
        train, test = (np.log(np.maximum(great_circle_km(*cells.T), 1e-3)) for cells in filled(judge.table, names))
        made += shaped(judge, train[:, None], lambda place, test=test: test)
    return made


def summaries(files: Files, judge: Judge) -> list[Family]:
    """Sums, counts, shares and trends of events of one or two kinds in windows, and what `blind_v1` makes of events."""
    if files.events is None:
        return []
    events, table = files.events, judge.table
    columns: tuple[list[Any], list[Any]] = ([], [])
    plain = child_columns(table, files.children)
    made = [tuple(np.nan_to_num(part) for part in (plain.train, plain.test))] if plain else []
    (owner, owners), (kind, kinds) = pd.factorize(events.owner), pd.factorize(events.kind, sort=True)
    amounts, cell = np.nan_to_num(events.amount.astype(float)), owner * len(kinds) + kind
    ids = (pd.Index(part[files.facts.id_column].astype(str)) for part in (table.train, table.test))
    places = [pd.Index(owners).get_indexer(each) for each in ids]

    def totals(mask: Any, weights: Any) -> Any:
        """Sums by owner and kind, and a last row of zeros for rows without events."""
        some = mask & (owner >= 0) & (kind >= 0)
        return np.bincount(cell[some], weights[some], (len(owners) + 1) * len(kinds)).reshape(-1, len(kinds))

    for size, share in product((1, 2), WINDOWS):
        recent = events.age <= share * (events.age.max() + 1)
        chosen = np.array(list(combinations(range(len(kinds)), size)), dtype=int).reshape(-1, size)
        grids = totals(recent, amounts), totals(recent, np.ones(len(owner))), totals(~recent, amounts)
        for side, place in zip(columns, places, strict=True):
            inside, count, before = (grid[place][:, chosen].sum(axis=2) for grid in grids)
            logs, whole = np.log1p(inside), grids[0][place].sum(axis=1, keepdims=True)
            parts = [logs, count, inside / np.maximum(whole, 1e-9), logs - np.log1p(before)]
            side.append(np.stack(parts, axis=2).reshape(len(place), -1))
    made.append((np.hstack(columns[0]), np.hstack(columns[1])))
    return [Family.of(judge, train, lambda place, test=test: test[:, place]) for train, test in made]


def paired(judge: Judge) -> list[tuple[str, str]]:
    """The pair of categorical columns whose random intercepts foretell unseen rows best, if any does."""
    table, rest = judge.table, judge.rest
    codes = {name: pd.factorize(words(table, name)[0])[0] for name in table.kinds.categorical}
    best: tuple[float, list[tuple[str, str]]] = (0.04, [])
    for left, right in combinations(codes, 2):
        cells, pairs = pd.factorize(codes[left] * len(rest) + codes[right])
        if len(pairs) * 2 > len(cells):
            continue
        sums = np.column_stack([np.bincount(cells, part) for part in rest.T])
        unseen = (sums[cells] - rest) / (np.bincount(cells) + 2.0)[cells, None]
        gain = 1 - float(((rest - unseen) ** 2).sum() / (rest**2).sum())
        best = max(best, (gain, [(left, right)]), key=lambda item: item[0])
    return best[1]
