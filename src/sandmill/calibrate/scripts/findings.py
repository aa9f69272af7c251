"""What the searches of the panel find on the training rows of a task: all that a script is written from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sandmill.calibrate.scripts import BLOCKS
from sandmill.calibrate.solvers.decisions import class_shares
from sandmill.calibrate.solvers.designs import (
    Design,
    calendar,
    dated_numbers,
    level_flags,
    levels,
    plain_scaled,
    raw_numbers,
    words,
)
from sandmill.calibrate.solvers.features import SCALED, Recipe, column_recipes
from sandmill.calibrate.solvers.greedy import grow
from sandmill.calibrate.solvers.linear import best_penalty, responses, weighed
from sandmill.calibrate.solvers.search import (
    MOST_SPARSE,
    all_recipes,
    auto_recipes,
    crosses,
    sparse_recipes,
    with_features,
)
from sandmill.calibrate.solvers.strong import tuned_kernel
from sandmill.calibrate.solvers.table import Table
from sandmill.kinds.script_text import comment, number, quoted
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts

IDEAS: Mapping[str, str] = BLOCKS["ideas"]
"""Why a kind of feature helps, in the order in which scripts list them."""


@dataclass(frozen=True)
class FeatureSource:
    """Names of the columns that recipes refer to by place."""

    numbers: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    """Column and category of each 0/1 column."""
    with_gaps: frozenset[str]
    """Numeric columns with missing cells in either file."""
    not_positive: frozenset[str]
    """Numeric columns with a value of 0 or less in test.csv."""


@dataclass(frozen=True)
class Feature:
    """A recipe as source."""

    kind: str
    names: tuple[str, ...]
    """Columns that it adds to the table, or the column that it is."""
    lines: tuple[str, ...]


def write_feature(recipe: Recipe, source: FeatureSource) -> Feature:
    """Write one found feature as assignments to columns of a data frame `df`."""
    kind, place, parameter = recipe
    if kind in ("level", "cross"):
        levels = [source.levels[place], *([source.levels[int(parameter)]] if kind == "cross" else [])]
        name = "_and_".join(f"{column}_{category}" for column, category in levels)
        return _assigned(kind, name, f"1.0 * {' * '.join(_is(*level) for level in levels)}")
    name = source.numbers[place]
    cell, score = _column(name), f"z[{quoted(name)}]"
    match kind:
        case "number":
            return Feature(kind, (name,), ())
        case "log":
            return _assigned(kind, f"log_{name}", f"np.log({_above_zero(name, source)})")
        case "wave":
            shown = number(parameter, 6)
            names = tuple(f"{name}_{side}_{shown}" for side in ("sin", "cos"))
            sides = (f"df[{quoted(made)}] = np.{made.rsplit('_', 2)[1]}(turn)" for made in names)
            return Feature(kind, names, (f"turn = 2 * np.pi * {cell} / {shown}", *sides))
        case "step":
            is_above = f"{cell} > {number(parameter, 6)}"
            made = f"np.where({cell}.isna(), np.nan, {is_above})" if name in source.with_gaps else f"1.0 * ({is_above})"
            return _assigned(kind, f"{name}_above_{number(parameter)}", made)
        case "slope":
            column, category = source.levels[int(parameter)]
            return _assigned(kind, f"{name}_where_{column}_{category}", f"{score} * {_is(column, category)}")
    second = source.numbers[int(parameter)]
    other = f"z[{quoted(second)}]"
    if kind == "ratio":
        division = f"{_above_zero(name, source)} / {_above_zero(second, source)}"
        return _assigned(kind, f"log_{name}_per_{second}", f"np.log({division})")
    if kind == "least":
        return _assigned(kind, f"least_of_{name}_{second}", f"np.minimum({score}, {other})")
    if second == name:
        return _assigned(kind, f"{name}_squared", f"{score} ** 2")
    return _assigned(kind, f"{name}_times_{second}", f"{score} * {other}")


def feature_block(features: Iterable[Feature], numbers: str) -> list[str]:
    """A function that adds features to a data frame; empty if there are none to add."""
    made = {feature.names: feature for feature in features if feature.lines}
    if not made:
        return []
    lines = ["def add_features(df):"]
    lines += ['    """Columns that lowered the leave-one-out error of ridge on the training rows, one by one."""']
    if any(feature.kind in SCALED for feature in made.values()):
        lines += [f"    z = (df[{numbers}] - train[{numbers}].mean()) / train[{numbers}].std()"]
    lines += ["    df = df.copy()"]
    for kind, idea in IDEAS.items():
        of_kind = [line for feature in made.values() if feature.kind == kind for line in feature.lines]
        lines += [*comment(idea, 4), *(f"    {line}" for line in of_kind)] if of_kind else []
    return [*lines, "    return df"]


def _assigned(kind: str, name: str, expression: str) -> Feature:
    return Feature(kind, (name,), (f"df[{quoted(name)}] = {expression}",))


def _column(name: str) -> str:
    return f"df[{quoted(name)}]"


def _above_zero(name: str, source: FeatureSource) -> str:
    return f"{_column(name)}.clip(lower=1e-9)" if name in source.not_positive else _column(name)


def _is(column: str, category: str) -> str:
    return f"({_column(column)} == {quoted(category)})" if category else f"{_column(column)}.isna()"


FURTHEST = 8.0
"""Standard deviations from the mean at which scaled test cells are cut off."""


@dataclass(frozen=True)
class KernelSettings:
    """Settings of kernel ridge."""

    width: float
    """In units of the typical distance of two rows."""
    noise: float
    """Penalty."""


@dataclass(frozen=True)
class ColumnSet:
    """A set of columns for a model, and how strongly models of them must be shrunk."""

    constant: str
    """Name of the constant that lists its features."""
    features: tuple[Feature, ...]
    penalty: float
    """Of ridge regression."""
    count: int
    """Columns after preparation."""
    weight: float = 1.0
    """How much less features are shrunk than other columns."""
    curve: KernelSettings | None = None


@dataclass(frozen=True)
class PanelFindings:
    """What was found in the table of one task."""

    facts: TaskFacts
    table: Table
    numbers: tuple[str, ...]
    """Numeric columns, with what is made of dates."""
    categories: tuple[str, ...]
    has_gaps: bool
    has_far_rows: bool
    """Whether a scaled cell of test.csv lies further from the mean than `FURTHEST`."""
    later_dates: tuple[str, ...]
    """Dates that lie after all of training in some test row."""
    scale: str
    """On which numbers are fitted: raw, log1p or log."""
    class_weight: float
    """Mean p (1 - p) of the classes: turns a ridge penalty into one of logistic regression."""
    mean_rate: float
    """Mean of the target, for rates."""
    absent_classes: bool
    """Whether training lacks a class of the task."""
    cues: tuple[Cue, ...]
    """What the columns measure, if a description says how items show them."""
    units: tuple[str, ...]
    """Categories that texts state: units that training and test rows share."""
    reading: tuple[str, ...]
    """What a reader does to the tables after reading them; nothing for others."""
    columns: Mapping[str, ColumnSet]
    """Sets of columns by name.

    `base`: all columns; `numbers`: without categories; `wide`: all, and features that help beside them; `weighed`: the
    same, features shrunk less; `crossed`: further features of single categories; `units`:
    all, and the levels of stated units once more, shrunk less; `sparse`: nothing but features found
    from an empty model.
    """


def find(table: Table) -> PanelFindings:
    """Search the training rows of a task. A target of several columns is searched as one: all share their features."""
    facts, parts = table.facts, table.columns()
    wanted = np.hstack([responses(part) for part in parts])
    raw, kinds = raw_numbers(table), table.kinds
    source = FeatureSource(
        numbers=tuple(kinds.numeric),
        levels=_level_names(table),
        with_gaps=_named(kinds.numeric, np.isnan(np.vstack([raw.train, raw.test])).any(axis=0)),
        not_positive=_named(kinds.numeric, (raw.test <= 0).any(axis=0)),
    )
    wide, sparse = _recipes(table, wanted)
    base = plain_scaled(table)
    beside = with_features(base, wide, table)
    crossed = list(dict.fromkeys(recipe for part in table.columns() for recipe in crosses(part)))
    around = with_features(beside, crossed, table)
    alone = with_features(Design.empty(table), sparse, table)

    def columns(constant: str, design: Design, recipes: Sequence[Recipe], *, curved: bool = False) -> ColumnSet:
        features = tuple(write_feature(recipe, source) for recipe in recipes)
        _, penalty = best_penalty(design.train, wanted)
        curve = _curve(design, wanted, table) if curved else None
        return ColumnSet(constant, features, penalty, design.train.shape[1], curve=curve)

    sets = {
        "base": columns("", base, ()),
        "wide": columns("FOUND", beside, wide, curved=True),
        "sparse": columns("FEW", alone, sparse, curved=True),
    }
    if kinds.numeric and kinds.categorical:
        sets["numbers"] = columns("", dated_numbers(table).scaled(), ())
    if wide:
        _, weight, penalty = weighed(beside, np.arange(beside.train.shape[1]) >= base.train.shape[1], wanted)
        sets["weighed" if weight != 1 else "wide"] = replace(sets["wide"], penalty=penalty, weight=weight)
    units = tuple(name for name in kinds.categorical if name in table.stated)
    if units:
        sets["units"] = _of_units(table, base, units, wanted)
    if crossed:
        sets["crossed"] = columns("CROSSED", around, [*wide, *crossed])
    places = {name: kinds.numeric.index(name) for name in kinds.dates}
    later = [name for name, at in places.items() if np.nanmax(raw.test[:, at]) > np.nanmax(raw.train[:, at])]
    return PanelFindings(
        facts=facts,
        table=table,
        numbers=(*kinds.numeric, *kinds.calendar),
        categories=tuple(kinds.categorical),
        has_gaps=bool(source.with_gaps) or bool(np.isnan(calendar(table).train).any()),
        has_far_rows=any(np.abs(part.test).max(initial=0) >= FURTHEST for part in (alone, around)),
        later_dates=tuple(later),
        scale=parts[0].scale,
        class_weight=_class_weight(parts),
        mean_rate=float(np.mean(table.target)),
        absent_classes=bool(facts.classes) and any((class_shares(part) == 0).any() for part in parts),
        cues=table.cues,
        units=units,
        reading=table.reading,
        columns=sets,
    )


def _recipes(table: Table, wanted: Any) -> tuple[list[Recipe], list[Recipe]]:
    """Features beside all columns, for any column of the target, and from an empty model, for all of them at once."""
    parts = table.columns()
    wide = dict.fromkeys(recipe for part in parts for recipe in auto_recipes(part))
    if not table.facts.is_wide:
        return list(wide), sparse_recipes(table)
    recipes = [*column_recipes(table), *all_recipes(table)]
    return list(wide), grow(Design.empty(table).train, wanted, recipes, table, 2, MOST_SPARSE)


def _of_units(table: Table, base: Design, units: Sequence[str], wanted: Any) -> ColumnSet:
    """All columns, and the levels of units again with a weight that says how much units differ."""
    flags = np.hstack([level_flags(cells, cells) for cells, _ in (words(table, name) for name in units)])
    design = np.hstack([base.train, flags])
    is_unit = np.arange(design.shape[1]) >= base.train.shape[1]
    _, weight, penalty = weighed(Design(design, design[:0]), is_unit, wanted)
    return ColumnSet("", (), penalty, design.shape[1], weight)


def _curve(design: Design, wanted: Any, table: Table) -> KernelSettings:
    fit = tuned_kernel(design, wanted, table)
    return KernelSettings(fit.width, fit.noise)


def _level_names(table: Table) -> tuple[tuple[str, str], ...]:
    """Column and category of each column of `levels`."""
    names = tuple((name, level) for name in table.kinds.categorical for level in sorted(set(words(table, name)[0])))
    assert len(names) == levels(table).train.shape[1]
    return names


def _named(names: Sequence[str], flags: Any) -> frozenset[str]:
    return frozenset(name for name, flag in zip(names, flags, strict=True) if flag)


def _class_weight(parts: Sequence[Table]) -> float:
    if not parts[0].facts.classes:
        return 1.0
    shares = [class_shares(part) for part in parts]
    return float(np.mean([np.sum(share * (1 - share)) / len(share) for share in shares]))
