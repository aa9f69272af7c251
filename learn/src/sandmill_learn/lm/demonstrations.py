"""Short scripts that a small model can imitate: the stated facts as columns, in the words and numbers of the text.

Scripts are shorter than those of releases, and repeat the numbers as the text writes them: a text that says "above
1100" of whole numbers stands for a cut at 1100.5 in the design.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sandmill.calibrate.readers import Stated
from sandmill.kinds.script_text import listed, number, quoted
from sandmill.models.hints import Fact, Form, Sentinel, Units
from sandmill.models.motifs import Aggregate, CodeValue, Condition, Conditional, Distance, Formula, NormDistance
from sandmill.models.package import TaskFacts
from sandmill.scoring import get_metric

STYLES = ("linear", "boosting", "forest", "extra", "kernel", "blend")
_MODELS = {
    "linear": ("sklearn.linear_model", "RidgeCV(np.logspace(-1, 4, 12))", "LogisticRegression(C=0.1, max_iter=500)"),
    "boosting": (
        "sklearn.ensemble",
        "GradientBoostingRegressor(n_estimators=100, learning_rate=0.07, subsample=0.7)",
        "GradientBoostingClassifier(n_estimators=60, max_depth=2, subsample=0.7)",
    ),
    "forest": (
        "sklearn.ensemble",
        "RandomForestRegressor(100, min_samples_leaf=3)",
        "RandomForestClassifier(100, min_samples_leaf=3)",
    ),
    "extra": (
        "sklearn.ensemble",
        "ExtraTreesRegressor(100, min_samples_leaf=2)",
        "ExtraTreesClassifier(100, min_samples_leaf=2)",
    ),
    "kernel": ("sklearn.svm", "SVR(C=10, gamma=0.01)", "SVC(C=3, gamma=0.01, probability=True)"),
}
_LOGGED = ("rmsle", "poisson_deviance", "mape", "smape")
_SKEWED = 1.0
_EARTH_KM = 6371
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Texted:
    """Stated facts with the texts that state them."""

    stated: Stated
    texts: Sequence[str]


def demonstration(
    facts: TaskFacts, train: pd.DataFrame, told: Texted, style: str, *, use: Collection[int] | None = None
) -> str:
    """Return a script in a style.

    Args:
        facts: of the task.
        train: training rows, by which a measure is taken as skewed or not.
        told: the stated facts.
        style: one of `STYLES`.
        use: places of the facts that the script uses; None: all that have lines.
    """
    chosen = range(len(told.texts)) if use is None else sorted(use)
    lines: list[str] = []
    for place in chosen:
        made = sum(line.startswith('df["fact') for line in lines if 'b"] = df["fact' not in line)
        lines += fact_lines(told, place, train, made + 1)
    return "\n".join(_lines(facts, lines, style)) + "\n"


def fact_lines(told: Texted, place: int, train: pd.DataFrame, count: int = 1) -> list[str]:
    """Return the lines of one fact, whose column is `fact` and a count; none for facts that are not written here."""
    fact = told.stated.facts[place]
    return list(_fact_lines(fact, f"fact{count}", told.stated, _Numbers(told.texts[place]), train))


class _Numbers:
    """Writes numbers as a text does."""

    def __init__(self, text: str) -> None:
        self._found = [(float(cell), cell) for cell in _NUMBER.findall(text)]

    def __call__(self, value: float) -> str:
        """Return the number of the text that is nearest, if it is near; otherwise the number itself."""
        near = min(self._found, key=lambda pair: abs(pair[0] - value), default=None)
        if near is None or abs(near[0] - value) > max(0.5, 0.002 * abs(value)):
            return number(value, 6)
        return number(near[0], 12)


def _fact_lines(fact: Fact, name: str, stated: Stated, written: _Numbers, train: pd.DataFrame) -> Iterator[str]:
    made = _cell(name)
    match fact:
        case Sentinel(column=column, value=value):
            yield f"{_cell(column)} = {_cell(column)}.mask({_cell(column)} == {written(value)})"
        case Units():
            yield from _units(fact, stated, written)
        case Form(motif=Formula() as formula):
            below = f" / {_product(formula.bottom, nested=True)}" if formula.bottom else ""
            ratio = f"{_product(formula.top)}{below}"
            if formula.above is not None:
                yield f"{made} = ({ratio} > {written(formula.above)}).astype(float)"
            elif formula.norm is not None:
                yield f"{made} = np.log({ratio} / {written(formula.norm)}).abs()"
            else:
                yield f"{made} = np.log({ratio})"
        case Form(motif=NormDistance(column=column, by=by, norms=norms)):
            table = _mapping(zip(stated.levels[by], norms, strict=True), written)
            if _is_skewed(train[column]):
                yield f"{made} = np.log({_cell(column)} / {_cell(by)}.map({table})).abs()"
            else:
                yield f"{made} = ({_cell(column)} - {_cell(by)}.map({table})).abs()"
        case Form(motif=CodeValue(column=column, values=values)):
            pairs = sorted(zip(stated.levels[column], values, strict=True))
            yield f"{made} = {_cell(column)}.map({_mapping(pairs, written)})"
        case Form(motif=Conditional(column=column, when=when)):
            holds = [_condition(part, stated, written) for part in when]
            joined = " & ".join(f"({part})" for part in holds) if len(holds) > 1 else holds[0]
            yield f"{made} = ({joined}).astype(float)"
            if column:
                yield f"{_cell(name + 'b')} = {made} * ({_cell(column)} - {_cell(column)}.mean())"
        case Form(motif=Distance() as distance):
            yield from _distance(made, distance, written)
        case Form(motif=Aggregate() as motif) if stated.child:
            yield from _aggregate(made, motif, stated.child)


def _units(fact: Units, stated: Stated, written: _Numbers) -> Iterator[str]:
    levels, cell, by = stated.levels[fact.by], _cell(fact.column), _cell(fact.by)
    pairs = list(zip(fact.factors, fact.offsets, strict=True))
    for factor, offset in dict.fromkeys(pair for pair in pairs if pair != (1, 0)):
        there = [level for level, pair in zip(levels, pairs, strict=True) if pair == (factor, offset)]
        less = f"({cell} - {written(offset)})" if offset else cell
        yield f"{cell} = {cell}.mask({by}.isin({listed(there)}), {less} / {written(factor)})"


def _distance(made: str, motif: Distance, written: _Numbers) -> Iterator[str]:
    (latitude, longitude), (other_latitude, other_longitude) = motif.start, motif.end
    yield f"a, b = np.radians({_cell(latitude)}), np.radians({_cell(other_latitude)})"
    yield f"c = np.radians({_cell(other_longitude)} - {_cell(longitude)})"
    yield "h = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(c / 2) ** 2"
    yield f"km = {2 * _EARTH_KM} * np.arcsin(np.sqrt(h))"
    if motif.above is not None:
        yield f"{made} = (km > {written(motif.above)}).astype(float)"
    elif motif.norm is not None:
        yield f"{made} = np.log(km.clip(lower=0.01) / {written(motif.norm)}).abs()"
    else:
        yield f"{made} = np.log1p(km)"


def _aggregate(made: str, motif: Aggregate, child: Any) -> Iterator[str]:
    amount, age, key = quoted(child.amount), quoted(child.age), 'e.groupby("id")'
    yield f'e = pd.read_csv("public/{child.path}")'
    recent = f"e[{age}] <= {motif.days}"
    chosen = f"e[{quoted(child.kind)}].isin({listed(child.kinds[code] for code in motif.kinds)})" if motif.kinds else ""
    if motif.how == "share":
        if motif.days:
            yield f"e = e[{recent}]"
        part = f'e[{chosen}].groupby("id")[{amount}].sum()'
        yield f'{made} = (df["id"].map({part}) / df["id"].map({key}[{amount}].sum())).fillna(0)'
        return
    if chosen:
        yield f"e = e[{chosen}]"
    if motif.how == "trend":
        for name, sign in (("r", "<="), ("o", ">")):
            part = f'e[e[{age}] {sign} {motif.days}].groupby("id")[{amount}].sum()'
            yield f'{name} = np.log1p(df["id"].map({part}).fillna(0))'
        yield f"{made} = r - o"
        return
    if motif.days:
        yield f"e = e[{recent}]"
    match motif.how:
        case "sum" | "mean":
            yield f'{made} = np.log1p(df["id"].map({key}[{amount}].{motif.how}()).fillna(0))'
        case "count":
            yield f'{made} = df["id"].map({key}.size()).fillna(0)'
        case "recency":
            yield f'{made} = df["id"].map({key}[{age}].min()).fillna({child.horizon})'


def _condition(part: Condition, stated: Stated, written: _Numbers) -> str:
    if part.levels:
        return f"{_cell(part.column)}.isin({listed(stated.levels[part.column][code] for code in part.levels)})"
    if part.above is not None:
        return f"{_cell(part.column)} > {written(part.above)}"
    return f"{_cell(part.column)} <= {written(part.at_most or 0.0)}"


def _product(factors: Sequence[tuple[str, ...]], *, nested: bool = False) -> str:
    parts = [" + ".join(map(_cell, names)) for names in factors]
    text = " * ".join(f"({part})" if " + " in part and len(parts) > 1 else part for part in parts)
    is_simple = len(parts) == 1 and " + " not in parts[0]
    return f"({text})" if (nested and not is_simple) or (len(parts) == 1 and not is_simple) else text


def _is_skewed(column: "pd.Series[Any]") -> bool:
    values = pd.to_numeric(column, errors="coerce").dropna().to_numpy(dtype=float)
    return bool((values > 0).all() and ((values - values.mean()) ** 3).mean() > _SKEWED * values.std() ** 3)


def _mapping(pairs: Any, written: _Numbers) -> str:
    return "{" + ", ".join(f"{quoted(level)}: {written(value)}" for level, value in pairs) + "}"


def _cell(name: str) -> str:
    return f"df[{quoted(name)}]"


def _lines(facts: TaskFacts, used: Sequence[str], style: str) -> Iterator[str]:
    parts = ("linear", "extra") if style == "blend" else (style,)
    is_classes, key, target = bool(facts.classes), quoted(facts.id_column), quoted(facts.target_column)
    models = [_MODELS[part][2 if is_classes else 1] for part in parts]
    yield "import numpy as np"
    yield "import pandas as pd"
    for part, model in zip(parts, models, strict=True):
        yield f"from {_MODELS[part][0]} import {model.partition('(')[0]}"
    yield ""
    yield 'train = pd.read_csv("public/train.csv")'
    yield 'test = pd.read_csv("public/test.csv")'
    yield "df = pd.concat([train, test], ignore_index=True)"
    yield from used
    yield f"X = df.drop(columns=[{key}, {target}])"
    yield 'words = X.select_dtypes(exclude="number")'
    yield "X = X.drop(columns=[c for c in words if X[c].nunique() > 30])"
    yield "X = pd.get_dummies(X).astype(float).replace([np.inf, -np.inf], np.nan)"
    yield "X = ((X - X.mean()) / X.std()).clip(-4, 4).fillna(0)"
    yield "n = len(train)"
    is_logged = str(facts.metric) in _LOGGED and not is_classes
    cell = f"train[{target}]"
    yield f"y = np.log1p({cell})" if is_logged else f"y = {cell}.astype(str)" if is_classes else f"y = {cell}"
    is_scaled = style == "kernel" and not is_classes
    fitted = "(y - y.mean()) / y.std()" if is_scaled else "y"
    names = ["model", "other"][: len(models)]
    for name, model in zip(names, models, strict=True):
        yield f"{name} = {model}.fit(X[:n], {fitted})"
    call = "predict_proba" if is_classes else "predict"
    sums = " + ".join(f"{name}.{call}(X[n:])" for name in names)
    yield f"p = ({sums}) / 2" if len(names) > 1 else f"p = {sums}"
    if is_scaled:
        yield "p = p * y.std() + y.mean()"
    if is_logged:
        yield "p = np.expm1(p.clip(0, 20))"
    elif not is_classes and get_metric(facts.metric).is_nonnegative:
        yield "p = p.clip(0)"
    if facts.encoding == "class_probabilities":
        yield "out = pd.DataFrame(p, columns=model.classes_)"
        yield f"out.insert(0, {key}, test[{key}])"
        yield 'out.to_csv("submission.csv", index=False)'
        return
    said = {"probability": "p[:, 1]", "label": "model.classes_[p.argmax(1)]"}.get(facts.encoding, "p")
    yield f"test[{target}] = {said}"
    yield f'test[[{key}, {target}]].to_csv("submission.csv", index=False)'
