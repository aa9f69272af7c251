"""`blind_v3`: no text. It averages models over all forms that a text may state, with the chances of the generator."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.adversaries.texts import Doc
from sandmill.calibrate.adversary.bank import Bank, bank_of, scores_of
from sandmill.calibrate.adversary.ensemble import PRIOR_WEIGHTS, Material, fit_members, fit_weights
from sandmill.calibrate.adversary.joins import child_columns
from sandmill.calibrate.adversary.links import rescaled, responses_of, scores_from
from sandmill.calibrate.adversary.members import SparseModel
from sandmill.calibrate.adversary.notes import note_values
from sandmill.calibrate.adversary.sparse import LEVEL, average_models
from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.solvers.columns import settle
from sandmill.calibrate.solvers.decisions import cut_best
from sandmill.calibrate.solvers.designs import Design, level_flags, plain_scaled, standardised, words
from sandmill.calibrate.solvers.greedy import base_remover
from sandmill.calibrate.solvers.linear import responses
from sandmill.calibrate.solvers.table import Table
from sandmill.mechanism.rule import great_circle_km
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

KINDS = {"quotient": (0.1, 4, 800), "condition": (0.1, 9, 1000), "norm": (0.06, 1, 500), "ready": (0.12, 1, 700)}
"""Stated forms: the chance that a term of the rule is of a kind, how many variants a feature of the first search stands
for, and how many features join the sparse model."""
ABOVE, AT_MOST = (0.375, 0.27, 0.32, 0.43, 0.5, 0.6, 0.68), (0.625, 0.5, 0.57, 0.68, 0.73, 0.4, 0.32)
LIMITS, NORMS = (0.57, 0.47, 0.52, 0.62, 0.68), (0.5, 0.42, 0.46, 0.54, 0.58)
"""Quantiles at which parts and quantities are cut, and of norms; a first search tries the first of each."""
FEWEST_VALUES, MOST_LEVELS, MOST_SUBSETS, MOST_ORDERS, MOST_OF_A_KIND = 10, 12, 14, 150, 60_000
MOST_POSITIVE = 14
"""Positive columns that quotients are made of: those whose logarithms lie nearest to the target."""
REACH, WINDOWS = 1.2, (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
"""Standard score of the largest norm; windows of events, as shares of the time that they cover."""
EFFECT, BACKGROUND = 0.3, 0.2
"""Variances of the weights of a feature and of the plain columns in the first search, in units of the noise."""
FACTORS = (0.621371, 2.20462, 0.393701, 0.54, 14.5038, 3.28084, 1.09361, 0.264172, 3.6, 10.0, 60.0, 1000.0)
UNIT_LUCK, PAIR_LUCK = 12.0, 2.0
"""Factors between units, and gains that another unit and levels of pairs of categories must have."""
BEST, CHUNK, MOST_QUICK = 400, 16_384, 3000
LENGTHS = {True: (60, 30, 5), False: (26, 16, 3)}
"""Passes of the sparse model over all rows and in folds, and folds, of tables with few plain features and with many."""


class Cells(NamedTuple):
    """What features are made from: parts of conditions, the first of which always holds, codes of levels, and so on."""

    logs: Any
    scores: Any
    flags: Any
    codes: Any
    ready: Any


def cook(kind: str, given: Any, cells: Cells) -> Any:
    """Make features of a kind from their parameters, shape (rows, features)."""
    if kind == "ready":
        return cells.ready[:, given[:, 0].astype(int)]
    if kind == "condition":
        one, two, column = given.astype(int).T
        return cells.flags[:, one] * cells.flags[:, two] * cells.scores[:, column]
    if kind == "norm":
        column, by = given[:, :2].astype(int).T
        made = np.empty((len(cells.codes), len(given)))
        for place in np.unique(by):
            mine = by == place
            made[:, mine] = np.abs(cells.scores[:, column[mine]] - given[mine, 2:].T[cells.codes[:, place]])
        return made
    logs, use, at = cells.logs @ given[:, 2:].T, given[:, 0], given[:, 1]
    return np.where(use == 0, logs, np.where(use == 1, logs > at, np.abs(logs - at)))


def quotients(cells: Cells) -> Any:
    """Quotients of up to four positive columns and of sums of two."""
    count = cells.logs.shape[1]
    alone = range(round((2 * count + 0.25) ** 0.5 - 0.5))
    pairs = list(combinations(alone, 2))
    members = [*((one,) for one in alone), *pairs]
    sides: list[Any] = [((one,), (two,)) for one, two in combinations(range(count), 2)] + list(combinations(pairs, 2))
    sides += [(top, (part,)) for top in pairs for part in range(count)]
    sides += [((part, top), (bottom,)) for part in range(count) for top, bottom in permutations(alone, 2)]
    mixing = np.zeros((len(sides), count))
    for row, (top, bottom) in enumerate(sides):
        named = [name for part in (*top, *bottom) for name in members[part]]
        if len(named) == len(set(named)) <= 4:
            mixing[row, list(top)], mixing[row, list(bottom)] = 1.0, -1.0
    return np.unique(mixing[mixing.any(axis=1)], axis=0)


def uses_of(mixing: Any, cells: Cells, limits: Sequence[float], norms: Sequence[float]) -> Any:
    """Take quotients as they are, with limits and with norms."""
    logs, empty = cells.logs @ mixing.T, np.zeros(len(mixing))
    ends = [(use, at) for use, shares in ((1.0, limits), (2.0, norms)) for at in np.quantile(logs, shares, axis=0)]
    return np.vstack([np.column_stack([empty + use, at, mixing]) for use, at in [(0.0, empty), *ends]])


def conditions(cells: Cells, groups: Sequence[Sequence[int]], owner: Sequence[int]) -> Any:
    """Columns that count, or something that holds, where one or two conditions hold."""
    pairs = [pair for pair in combinations([0, *(group[0] for group in groups)], 2) if owner[pair[0]] != owner[pair[1]]]
    held = [float(cells.flags[:, pair].prod(axis=1).mean()) for pair in pairs]
    rows = [
        (one, two, column)
        for (one, two), share in zip(pairs, held, strict=True)
        for column in range(cells.scores.shape[1])
        if 0.15 < share < 0.65 and (column not in (owner[one], owner[two]) if column else one > 0)
    ]
    return np.array(rows, dtype=float).reshape(len(rows), 3)


def norms(columns: int, sizes: Sequence[int]) -> Any:
    """Distances of a column from a norm of each level: evenly spread norms in every order."""
    rng, widest, rows = np.random.default_rng(2), max(sizes), list[Any]()
    for by, size in enumerate(sizes):
        if 2 < size <= MOST_LEVELS:
            orders: Any = permutations(range(size)) if size < 6 else map(rng.permutation, [size] * MOST_ORDERS)
            padded = [np.pad(np.linspace(-REACH, REACH, size)[list(order)], (0, widest - size)) for order in orders]
            rows += [[column, by, *order] for column in range(1, columns) for order in padded]
    return np.array(rows, dtype=float).reshape(len(rows), 2 + widest)


def cells_of(table: Table, doc: Doc) -> tuple[Cells, list[Sequence[int]], list[int], list[int]]:
    """Read a table: cells of training and test rows, groups of flags, columns that flags read, and counts of levels.

    Columns with faults, or with few values, are part of no stated form. Flags of a group differ in the cut alone.
    """
    known, frame = len(table.train), pd.concat([table.train, table.test], ignore_index=True)
    plain = [name for name in table.kinds.numeric if name not in (*table.kinds.dates, *table.kinds.measures)]
    names = [name for name in plain if table.train[name].notna().all() and table.train[name].nunique() >= FEWEST_VALUES]
    raw = frame[names].fillna(table.train[names].median()).to_numpy(dtype=float)
    positive = raw[:known].min(axis=0, initial=np.inf) > 0
    scores = scores_of(Design(raw[:known], raw), positive, np.zeros(len(names), dtype=bool)).test
    above = raw[:, nearest(raw[:known], positive, table)].T
    logs = np.log(np.maximum(np.array([*above, *(one + two for one, two in combinations(above, 2))]), 1e-9)).T
    flags, groups, owner = list[Any]([np.ones(len(raw))]), list[Sequence[int]](), [0]
    for place, (sign, shares) in product(range(len(names)), ((1, ABOVE), (-1, AT_MOST))):
        groups.append(range(len(flags), len(flags) + len(shares)))
        flags += [(sign * raw[:, place] > sign * cut) * 1.0 for cut in np.quantile(raw[:known, place], shares)]
        owner += [place + 1] * len(shares)
    codes, sizes = [np.zeros(len(raw), dtype=int)], [0]
    for name in table.kinds.categorical:
        both = np.concatenate(words(table, name))
        levels = sorted(set(both[:known]))
        codes.append(np.maximum(pd.Index(levels, dtype=object).get_indexer(list(both)), 0))
        sizes.append(len(levels))
        sizes_of_parts = range(1, len(levels) if len(levels) <= MOST_LEVELS else 0)
        some = [part for size in sizes_of_parts for part in combinations(levels, size)]
        some = [part for part in some if 0.3 <= np.isin(both[:known], part).mean() <= 0.85]
        for pick in np.random.default_rng(3).permutation(len(some))[:MOST_SUBSETS]:
            groups.append([len(flags)])
            flags.append(np.isin(both, some[pick]) * 1.0)
            owner.append(-len(sizes))
    ready: list[Any] = [np.zeros((len(raw), 0)), *distances(frame, names, known), *summaries(table, doc)]
    columns = np.column_stack([np.ones(len(raw)), scores])
    cells = Cells(logs.reshape(len(raw), -1), columns, *map(np.column_stack, (flags, codes, ready)))
    return cells, groups, owner, sizes


def nearest(raw: Any, positive: Any, table: Table) -> Any:
    """Return places of the positive columns, at most `MOST_POSITIVE`, whose logarithms follow the target most."""
    places = np.flatnonzero(positive)
    logs = np.log(np.maximum(raw[:, places], 1e-9))
    wanted = np.hstack([responses(part) for part in table.columns()])
    centred = [part - part.mean(axis=0) for part in (logs, wanted)]
    sizes = [np.maximum(np.linalg.norm(part, axis=0), 1e-9) for part in centred]
    alike = np.abs((centred[0] / sizes[0]).T @ (centred[1] / sizes[1])).max(axis=1, initial=0.0)
    return np.sort(places[np.argsort(-alike, kind="stable")[:MOST_POSITIVE]])


def distances(frame: pd.DataFrame, names: Sequence[str], known: int) -> Iterator[Any]:
    """Distances between places, as they are, with limits and with norms."""
    places = [name[:-4] for name in names if name.endswith("_lat") and f"{name[:-4]}_lon" in names]
    for one, other in combinations(places, 2):
        ends = [f"{one}_lat", f"{one}_lon", f"{other}_lat", f"{other}_lon"]
        far = np.log(np.maximum(great_circle_km(*frame[ends].to_numpy(dtype=float).T), 1e-3))
        yield from (far, *(far > at for at in np.nanquantile(far[:known], LIMITS)))
        yield from (np.abs(far - at) for at in np.nanquantile(far[:known], NORMS))


def summaries(table: Table, doc: Doc) -> Iterator[Any]:
    """Sums, counts, shares and trends of events of one or two kinds in windows."""
    child, events = doc.child, doc.events
    if child is None or events is None:
        return
    ids = [*map(str, table.train[table.facts.id_column]), *map(str, table.ids)]
    rows = pd.Series(range(len(ids)), ids).reindex(events[events.columns[0]].astype(str)).fillna(-1).to_numpy(dtype=int)
    amounts, ages = (events[name].to_numpy(dtype=float) for name in (child.amount, child.age))

    def total(chosen: Any, weights: Any) -> Any:
        return np.bincount(rows[chosen & (rows >= 0)], weights[chosen & (rows >= 0)], minlength=len(ids))

    for share, size in product(WINDOWS, (1, 2)):
        recent = ages <= share * child.horizon
        whole = np.maximum(total(recent, amounts), 1e-9)
        for kinds in combinations(child.kinds, size):
            mine = events[child.kind].isin(kinds).to_numpy()
            inside, before = (total(mine & some, amounts) for some in (recent, ~recent))
            yield from (np.log1p(inside), inside / whole, np.log1p(inside) - np.log1p(before))
            yield total(mine & recent, np.ones(len(rows)))


@dataclass(frozen=True)
class Told:
    """Features that texts may state, beside those that `blind_v1` has."""

    base: Bank
    cells: tuple[Cells, Cells]
    first: Mapping[str, Any]
    groups: Mapping[int, Sequence[int]]
    """Cells of training and test rows; by kind, features that are tried first; flags that differ in the cut alone."""

    @classmethod
    def of(cls, table: Table, doc: Doc) -> "Told":
        """List the features of a table."""
        whole, groups, owner, sizes = cells_of(table, doc)
        sides = [np.split(part, [len(table.train)]) for part in whole]
        train, test = (Cells(*parts) for parts in zip(*sides, strict=True))
        mixing, rng = quotients(train), np.random.default_rng(0)
        first = {"condition": conditions(train, groups, owner), "norm": norms(train.scores.shape[1], sizes)}
        first["ready"] = np.arange(train.ready.shape[1])[:, None] * 1.0
        if len(mixing):
            first["quotient"] = uses_of(rng.permutation(mixing)[: MOST_OF_A_KIND // 3], train, LIMITS[:1], NORMS[:1])
        first = {kind: rng.permutation(found)[:MOST_OF_A_KIND] for kind, found in first.items() if len(found)}
        alike = {flag: group for group in [(0,), *groups] for flag in group}
        return cls(bank_of(table, child_columns(table, doc.child_frames)), (train, test), first, alike)

    def varied(self, kind: str, best: Any) -> Any:
        """Vary the numbers of the best features of a kind."""
        if kind == "quotient":
            best = uses_of(np.unique(best[:, 2:], axis=0), self.cells[0], LIMITS, NORMS)
        if kind == "condition":
            some = [(self.groups[one], self.groups[two], (column,)) for one, two, column in best.astype(int)]
            made = [row for parts in some for row in product(*parts)]
            best = np.array(made, dtype=float)
        if kind == "norm":
            for one, two in combinations(range(best.shape[1] - 2), 2):
                order = [0, 1, *(2 + {one: two, two: one}.get(place, place) for place in range(best.shape[1] - 2))]
                best = np.vstack([best, best[:BEST, order]])
        return np.unique(best, axis=0)

    def chosen(self, wanted: Any, blocks: Sequence[Any], rows: Any) -> "ToldBank":
        """Choose the features that fit some rows best beside blocks of columns."""
        root = np.hstack([np.full((len(rows), 1), LEVEL**0.5), *(block * BACKGROUND**0.5 for block in blocks)])
        inverse = np.linalg.inv(np.eye(len(rows)) + root @ root.T).astype(np.float32)
        target = (wanted - wanted.mean(axis=0)).astype(np.float32)
        rest = np.maximum(np.einsum("ir,ij,jr->r", target, inverse, target), 1e-9)

        def ranked(kind: str, given: Any) -> Any:
            odds = []
            for start in range(0, len(given), CHUNK):
                made = cook(kind, given[start : start + CHUNK], self.cells[0])
                made = ((made - made.mean(axis=0)) / np.maximum(made.std(axis=0), 1e-9))[rows].astype(np.float32)
                along = inverse @ made
                power, match = np.einsum("ij,ij->j", along, made), along.T @ target
                left = 1 - np.minimum((EFFECT / (1 + EFFECT * power))[:, None] * match**2 / rest, 1 - 1e-6)
                odds.append(-len(rest) * np.log1p(EFFECT * power) - len(rows) * np.log(left).sum(axis=1))
            return given[np.argsort(-np.concatenate(odds), kind="stable")]

        picked = {}
        for kind, first in self.first.items():
            best = first if kind == "ready" else self.varied(kind, ranked(kind, first)[:BEST])
            picked[kind] = ranked(kind, best)[: KINDS[kind][2]]
        return ToldBank.over(self, picked)


@dataclass(frozen=True)
class ToldBank(Bank):
    """The features of `blind_v1`, then some of those that texts may state."""

    told: Told
    picked: Mapping[str, Any]

    @classmethod
    def over(cls, told: Told, picked: Mapping[str, Any]) -> "ToldBank":
        """Add chosen features to those of `blind_v1`."""
        base = told.base
        cells = np.hstack([base.train.T, *(cook(kind, given, told.cells[0]) for kind, given in picked.items())])
        center, spread = cells.mean(axis=0), np.maximum(cells.std(axis=0), 1e-9)
        prior = [base.log_prior + np.log(1 - sum(KINDS[kind][0] for kind in picked))]
        prior += [
            np.full(len(given), np.log(KINDS[kind][0] / KINDS[kind][1] / len(told.first[kind])))
            for kind, given in picked.items()
        ]
        train = np.vstack([base.train, standardised(cells, center, spread).T[len(base.train) :]])
        return cls((), train, center, spread, np.concatenate(prior), base.known, base.test, told, picked)

    def on_test(self, picks: Any) -> Any:
        """Make the picked features for all test rows; picks are ascending."""
        start = len(self.told.base.train)
        made = [self.told.base.on_test(picks[picks < start])]
        for kind, given in self.picked.items():
            own = picks[(picks >= start) & (picks < start + len(given))]
            if len(own):
                cells = cook(kind, given[own - start], self.told.cells[1])
                made.append(standardised(cells, self.center[own], self.spread[own]))
            start += len(given)
        return np.hstack(made)


def fit(material: Material, told: Told, rows: Any, sweeps: int) -> tuple[Material, Any]:
    """Choose features and fit the models to some training rows."""
    blocks, wanted = material.blocks(material.known(rows)), material.wanted[rows]
    made = replace(material, bank=told.chosen(wanted, blocks, rows))
    features = np.ascontiguousarray(made.bank.train[:, rows])
    sparse = SparseModel.of(average_models(features, made.bank.log_prior, wanted, blocks, sweeps))
    return made, fit_members(made, rows, sparse)


def scores_by(table: Table, told: Told) -> list[Any]:
    """Scores of each target column by the models together, weighed by what they predict of unseen rows."""
    material, prior = Material.of(table, told.base), list(PRIOR_WEIGHTS.values())
    rows, unseen = np.arange(len(material.wanted)), np.zeros((len(prior), *material.wanted.shape))
    sweeps, sweeps_in_folds, folds = LENGTHS[len(told.base.train) < MOST_QUICK]
    fold = np.random.default_rng(0).permutation(len(rows)) % folds
    for number in range(folds):
        mine, predict = fit(material, told, rows[fold != number], sweeps_in_folds)
        unseen[:, fold == number] = list(predict(mine, mine.known(rows[fold == number])).values())
    weights = fit_weights(list(unseen), material.wanted, prior)
    mine, predict = fit(material, told, rows, sweeps)
    guesses = (unseen, np.array(list(predict(mine, mine.asked()).values())))
    sides = [np.split(np.tensordot(weights, guess, 1), np.cumsum(material.widths)[:-1], axis=1) for guess in guesses]
    parts = zip(*sides, table.columns(), strict=True)
    return [scores_from(known, rescaled(asked, part, part), part) for known, asked, part in parts]


def repaired(values: Any, levels: Any) -> Any:
    """Bring the cells of some levels to the unit of the others, if a known factor makes the column far likelier."""
    known, best, least = np.isfinite(values), values, UNIT_LUCK / np.isfinite(values).sum()
    order = pd.Series(values).groupby(levels).median().sort_values().index
    factors = (*FACTORS, *(1 / by for by in FACTORS)) if values[known].min() > 0 else ()
    tries = [(values, -32 / 1.8, 1.8), *((np.log(values), -np.log(by), 1.0) for by in factors)]
    for first, (cells, shift, slope) in product(range(1, len(order)), tries):
        for some in (order[first:], order[:first]):
            is_other = np.isin(levels, some)
            moved = np.where(is_other, cells / slope + shift, cells)
            gain = np.log(cells[known].std() / moved[known].std()) - np.log(slope) * is_other[known].mean()
            if gain > least:
                best, least = moved if cells is values else np.exp(moved), gain
    return best


def read_files(doc: Doc) -> Table:
    """Make a table of the files, with the values that notes hold as columns and with units repaired."""
    frames = [doc.train.copy(), doc.test.copy()]
    if doc.notes is not None:
        texts = [frame[doc.notes].fillna("").astype(str) for frame in frames]
        for place, (pattern, levels) in enumerate(note_values([text for part in texts for text in part if text])):
            for frame, part in zip(frames, texts, strict=True):
                cells = part.str.extract(pattern, expand=False)
                frame[f"noted_{place}"] = cells if levels else pd.to_numeric(cells)
        frames = [frame.drop(columns=doc.notes) for frame in frames]
    both = pd.concat(frames, ignore_index=True)
    for name, by in product(doc.values, doc.own_levels):
        if len(doc.own_levels[by]) <= MOST_LEVELS and pd.api.types.is_float_dtype(both[name]):
            both[name] = repaired(both[name].to_numpy(dtype=float), both[by].astype(str).to_numpy(dtype=str))
            frames[0][name], frames[1][name] = np.split(both[name].to_numpy(), [len(frames[0])])
    return with_pair(Table.of(frames[0], frames[1], doc.facts))


def with_pair(table: Table) -> Table:
    """Add the pair of categories of which every combination may have a level of its own, if one makes sense."""
    wanted = np.hstack([responses_of(part) for part in table.columns()])
    remover, best, names = base_remover(plain_scaled(table).train, wanted), PAIR_LUCK, table.kinds.categorical
    rest = (wanted * (remover @ wanted)).sum(axis=0)
    found: list[Any] = []
    for left, right in combinations(names, 2):
        known, asked = (one + " " + two for one, two in zip(words(table, left), words(table, right), strict=True))
        flags = level_flags(known, known)
        if 2 * flags.shape[1] > len(flags):
            continue
        values, vectors = np.linalg.eigh(flags.T @ remover @ flags)
        along = (vectors.T @ (flags.T @ (remover @ wanted))) ** 2
        shrunk = EFFECT / (1 + EFFECT * np.maximum(values, 0))
        over = 1 - np.minimum(shrunk @ along / rest, 0.99)
        gain = np.log1p(EFFECT * np.maximum(values, 0)).sum() * -len(rest) / 2 - len(flags) / 2 * np.log(over).sum()
        if gain > best:
            best, found = gain, [known, asked]
    if not found:
        return table
    name, kinds = "pair of categories", table.kinds
    train, test = (part.assign(**{name: cells}) for part, cells in zip((table.train, table.test), found, strict=True))
    kinds = replace(kinds, categorical=[*kinds.categorical, name])
    return replace(table, train=train, test=test, kinds=kinds, made={}, seen={}, learned={})


def blind_v3(public: Path, facts: TaskFacts) -> Array:
    """Answer a task from its files alone."""
    doc = Doc.read(public, facts)
    doc.meanings = {}  # The description is not read.
    with solver_conditions():
        table = read_files(doc)
        return np.asarray(settle(scores_by(table, Told.of(table, doc)), table, cut_best))
