"""Found features as lines of pandas."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandmill.calibrate.solvers.features import SCALED, Recipe
from sandmill.kinds.script_text import comment, number, quoted

IDEAS = {
    "ratio": "Ratios: the logarithm of one column over another.",
    "log": "Logarithms: equal factors become equal steps.",
    "product": "Products of standardised columns: what one column does depends on the other.",
    "least": "The lesser of two standardised columns: the scarcer one is the bottleneck.",
    "wave": "Waves: what repeats has no first and no last value.",
    "step": "Steps: what counts is on which side of a cut a value lies.",
    "slope": "Slopes of one category: a column that counts there alone.",
    "cross": "Two categories together.",
    "level": "Single categories that count.",
}
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
    makers: dict[str, Callable[[str, float, FeatureSource], Feature]] = {
        "ratio": _ratio,
        "log": _log,
        "product": _product,
        "least": _least,
        "wave": _wave,
        "step": _step,
        "slope": _slope,
    }
    if kind == "number":
        return Feature(kind, (source.numbers[place],), ())
    if kind == "level":
        return _flag(kind, (source.levels[place],))
    if kind == "cross":
        return _flag(kind, (source.levels[place], source.levels[int(parameter)]))
    return makers[kind](source.numbers[place], parameter, source)


def feature_block(features: Iterable[Feature], numbers: str) -> list[str]:
    """A function that adds features to a data frame; empty if there are none to add.

    Args:
        features: to add; equal ones once.
        numbers: name of the constant that lists the numeric columns.
    """
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


def _made(kind: str, name: str, expression: str) -> Feature:
    return Feature(kind, (name,), (f"df[{quoted(name)}] = {expression}",))


def _column(name: str) -> str:
    return f"df[{quoted(name)}]"


def _above_zero(name: str, source: FeatureSource) -> str:
    return f"{_column(name)}.clip(lower=1e-9)" if name in source.not_positive else _column(name)


def _ratio(name: str, other: float, source: FeatureSource) -> Feature:
    below = source.numbers[int(other)]
    division = f"{_above_zero(name, source)} / {_above_zero(below, source)}"
    return _made("ratio", f"log_{name}_per_{below}", f"np.log({division})")


def _log(name: str, _: float, source: FeatureSource) -> Feature:
    return _made("log", f"log_{name}", f"np.log({_above_zero(name, source)})")


def _product(name: str, other: float, source: FeatureSource) -> Feature:
    second = source.numbers[int(other)]
    if second == name:
        return _made("product", f"{name}_squared", f"z[{quoted(name)}] ** 2")
    return _made("product", f"{name}_times_{second}", f"z[{quoted(name)}] * z[{quoted(second)}]")


def _least(name: str, other: float, source: FeatureSource) -> Feature:
    second = source.numbers[int(other)]
    return _made("least", f"least_of_{name}_{second}", f"np.minimum(z[{quoted(name)}], z[{quoted(second)}])")


def _wave(name: str, period: float, _: FeatureSource) -> Feature:
    shown = number(period, 6)
    names = tuple(f"{name}_{side}_{shown}" for side in ("sin", "cos"))
    sides = (f"df[{quoted(made)}] = np.{made.rsplit('_', 2)[1]}(turn)" for made in names)
    return Feature("wave", names, (f"turn = 2 * np.pi * {_column(name)} / {shown}", *sides))


def _step(name: str, cut: float, source: FeatureSource) -> Feature:
    is_above = f"1.0 * ({_column(name)} > {number(cut, 6)})"
    if name in source.with_gaps:
        is_above = f"np.where({_column(name)}.isna(), np.nan, {_column(name)} > {number(cut, 6)})"
    return _made("step", f"{name}_above_{number(cut)}", is_above)


def _slope(name: str, level: float, source: FeatureSource) -> Feature:
    column, category = source.levels[int(level)]
    return _made("slope", f"{name}_where_{column}_{category}", f"z[{quoted(name)}] * {_is(column, category)}")


def _flag(kind: str, levels: tuple[tuple[str, str], ...]) -> Feature:
    name = "_and_".join(f"{column}_{category}" for column, category in levels)
    return _made(kind, name, f"1.0 * {' * '.join(_is(*level) for level in levels)}")


def _is(column: str, category: str) -> str:
    return f"({_column(column)} == {quoted(category)})" if category else f"{_column(column)}.isna()"
