"""Short scripts that a small language model can imitate: what a task states as code, and one plain model.

All scripts have the same order: imports, files, stated facts as columns of a data frame `df`, model, submission. They
read public tables alone. Every number in them is stated by the task or is a default of the model.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.readers import Stated
from sandmill.calibrate.scripts import BLOCKS
from sandmill.calibrate.scripts.decisions import answered, decision_lines, decisions_of
from sandmill.calibrate.solvers.table import (
    DATE,
    MEASURE,
    facts_of_column,
    is_number,
    is_prose,
    pattern_of,
    scale_of,
)
from sandmill.calibrate.stated_lines import child_block, decoding_lines, form_lines, is_skewed, made_columns
from sandmill.kinds.script_text import imports, listed, quoted
from sandmill.models.hints import InText, SameUnits
from sandmill.models.layout import PUBLIC, SUBMISSION
from sandmill.models.package import TaskFacts

_MOST_LEVELS = 0.5
"""Levels a training row above which a text column is left out, such as names of units."""
_SKEWED = 1
"""Skewness of a positive column from which linear models and kernels use its logarithm."""
_STATED_SCALE = 3
"""Standard deviations of a stated column in linear models and kernels, where others have 1: it is shrunk less."""
_FEW = 12
"""Columns of models of few columns: those that trees split on most."""
_STEEPNESS = 8
"""Power by which a model counts for less than the best one: with a tenth more error, for half as much."""


@dataclass(frozen=True)
class _Model:
    """A model as source, for numbers and for classes."""

    numbers: str
    classes: str
    is_scaled: bool = False
    """Whether it needs columns on one scale."""
    takes_columns: bool = True
    """Whether the source for numbers takes several target columns at once."""
    several: str = ""
    """Source for several target columns, where one model for each would take long."""


_MODELS = {
    name: tuple(_Model(**BLOCKS["models"][model]) for model in models.split(", "))
    for name, models in BLOCKS["styles"].items()
}
"""Models of each style; those of a style with several are averaged."""
READER_STYLE = "reader"
"""Style of the published reader's script: an average in which the models with the least errors count most."""
STYLES = tuple(_MODELS)
"""Names of the ways to model."""


def demonstration(
    facts: TaskFacts, train: pd.DataFrame, stated: Stated, style: str, *, use: Collection[int] | None = None
) -> str:
    """Write a script for a task of tables.

    Args:
        facts: what the task asks for.
        train: cells of train.csv as pandas reads them.
        stated: facts that the texts of the task state.
        style: one of `STYLES`.
        use: places in `stated.facts` of the facts that the script uses. None: all. Without any it is blind.

    Raises:
        KeyError: if the style is unknown.
    """
    chosen = tuple(fact for place, fact in enumerate(stated.facts) if use is None or place in use)
    used = Stated(chosen, stated.levels, stated.child)
    models = _MODELS[style]
    scale = _scale(facts, train)
    body = [
        *_files(facts, used),
        *_facts(facts, train, used),
        *_matrix(facts, train, used, is_scaled=any(model.is_scaled for model in models)),
        *_target(facts, scale),
        *_said(facts, models, is_chosen=style == READER_STYLE),
        *_answer(facts, scale),
    ]
    return "\n".join([*imports("\n".join(body)), "", *body]) + "\n"


def with_id(line: str, column: str) -> str:
    """Write the name of the id column for the name `ID`. Strings, such as the level "ID-055", stay as they are."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|\bID\b', lambda found: quoted(column) if found[0] == "ID" else found[0], line)


def _files(facts: TaskFacts, used: Stated) -> Iterator[str]:
    ids = f", dtype={{{quoted(facts.id_column)}: str}}" if child_block(used) else ""
    yield from (f'{name} = pd.read_csv("{PUBLIC}/{name}.csv"{ids})' for name in ("train", "test"))
    yield f'sample = pd.read_csv("{PUBLIC}/sample_submission.csv", dtype=str)'
    yield "df = pd.concat([train[test.columns], test], ignore_index=True)"


def _facts(facts: TaskFacts, train: pd.DataFrame, stated: Stated) -> Iterator[str]:
    """Write the stated facts as columns."""
    lines = decoding_lines(stated, train)
    decoded = _decoded(train, lines, facts)
    lines += form_lines(stated, decoded)
    if child := child_block(stated):
        lines = [*child, *lines]
    if lines:
        yield "# What the texts of the task state"
    for line in lines:
        plain = line.replace('f"{public}/', f'"{PUBLIC}/').replace('train["', 'df["')
        yield with_id(plain, facts.id_column)


def _decoded(train: pd.DataFrame, lines: list[str], facts: TaskFacts) -> pd.DataFrame:
    """Run decoding lines on the training rows: which column is skewed decides how forms are written."""
    from sandmill.calibrate.conditions import run_source

    names: dict[str, Any] = {"df": train.copy(), "pd": pd, "np": np, "re": re, "ID": facts.id_column}
    run_source("\n".join(lines), names)
    decoded: pd.DataFrame = names["df"]
    return decoded


def _matrix(facts: TaskFacts, train: pd.DataFrame, stated: Stated, *, is_scaled: bool) -> Iterator[str]:
    """Write the columns as numbers: `A` for training rows and `B` for test rows."""
    left_out = [facts.id_column]
    read = {fact.notes for fact in stated.facts if isinstance(fact, InText)}
    features = [name for name in train.columns if name not in (facts.id_column, *facts.target_columns, *read)]
    for name in features:
        cells, cell = train[name], f"df[{quoted(name)}]"
        pattern = pattern_of(cells, cells)
        if pattern is DATE:
            yield f"{cell} = (pd.to_datetime({cell}) - pd.Timestamp(0)).dt.days"
        elif pattern is MEASURE:
            yield f"{cell} = pd.to_numeric({cell}.astype(str).str.extract({_NUMBER}, expand=False))"
        elif not is_number(cells) and (is_prose(cells) or cells.nunique() > _MOST_LEVELS * len(cells)):
            left_out.append(name)
    if is_scaled and any(is_skewed(train[name]) for name in features if is_number(train[name])):
        yield 'raw = test.select_dtypes("number")'
        yield f"skewed = raw.columns[(raw.min() > 0) & (raw.skew() > {_SKEWED})]"
        yield "df[skewed] = np.log(df[skewed].clip(lower=1e-9))"
    yield f"X = pd.get_dummies(df.drop(columns={listed(left_out)})).astype(float)"
    if stated.facts:
        yield "X = X.replace([np.inf, -np.inf], np.nan)"
    yield "X = X.fillna(X.median())"
    if is_scaled:
        yield "X = (X - X.mean()) / (X.std() + 1e-9)"
        units = [fact.name for fact in stated.facts if isinstance(fact, SameUnits)]
        if made := [name for name in made_columns(stated) if name not in units]:
            yield f"X[{listed(made)}] *= {_STATED_SCALE}  # stated quantities are shrunk less"
    yield "A, B = X[: len(train)], X[len(train) :]"


_NUMBER = 'r"([-+.\\deE]+)"'


def _scale(facts: TaskFacts, train: pd.DataFrame) -> str:
    """Name the scale on which models of numbers are fitted."""
    if facts.classes:
        return "raw"
    one = facts_of_column(facts, 0) if facts.is_wide else facts
    return scale_of(train[list(facts.target_columns)].to_numpy(dtype=float), one)


def _target(facts: TaskFacts, scale: str) -> Iterator[str]:
    """Write the target as models are fitted to it, `y`: numbers, codes of classes, or a column for each label."""
    target = quoted(facts.target_column)
    if facts.classes and not facts.is_binary:
        yield f"CLASSES = {listed(facts.classes)}"
    if facts.target == "multilabel" and facts.encoding in ("label_list", "pairs"):
        yield f'y = train[{target}].fillna("").str.get_dummies(" ").reindex(columns=CLASSES, fill_value=0)'
    elif facts.is_wide:
        yield _LOGS.get(scale, "y = {}").format("train[sample.columns[1:]]")
        if scale != "raw":
            yield "low, high = y.min().to_numpy(), y.max().to_numpy()"
    elif facts.classes:
        named = "" if facts.is_binary else ".astype(str).map(CLASSES.index)"
        yield f"y = train[{target}]{named}"
    else:
        yield _LOGS.get(scale, "y = {}").format(f"train[{target}]")


_LOGS = {"log1p": "y = np.log1p({})", "log": "y = np.log({})"}


def _said(facts: TaskFacts, models: Sequence[_Model], *, is_chosen: bool) -> Iterator[str]:
    """Write what makes `said`: numbers, or one column for each class or label."""
    sources = [_source(facts, model) for model in models]
    if len(sources) == 1:
        yield f"model = {sources[0]}"
        yield f"said = {_fitted(facts, 'model')}"
        return
    if is_chosen:
        kind = "Classifier" if _is_of_classes(facts) else "Regressor"
        forest = f"ExtraTrees{kind}(100, min_samples_leaf=3, random_state=0)"
        yield f"few = SelectFromModel({forest}, max_features=min({_FEW}, A.shape[1]), threshold=-np.inf)"
        yield 'bends = FeatureUnion([("straight", "passthrough"), ("bent", SplineTransformer())])'
    yield "models = ["
    yield from (f"    {source}," for source in sources)
    yield "]"
    predictions = f"[{_fitted(facts, 'model')} for model in models]"
    if is_chosen:
        yield from _weights(facts)
        yield f"said = np.average({predictions}, axis=0, weights=weights)"
    else:
        yield f"said = np.mean({predictions}, axis=0)"


def _is_of_classes(facts: TaskFacts) -> bool:
    """Whether models are classifiers. Several labels are numbers: their columns share one model."""
    return bool(facts.classes) and not facts.is_wide


def _source(facts: TaskFacts, model: _Model) -> str:
    if _is_of_classes(facts):
        return model.classes
    if facts.is_wide and model.several:
        return model.several
    return f"MultiOutputRegressor({model.numbers})" if facts.is_wide and not model.takes_columns else model.numbers


def _weights(facts: TaskFacts) -> Iterator[str]:
    """Write the weights of the models: the smaller a cross-validated error, the larger, and 1 if it is not a number."""
    scoring = "neg_log_loss" if _is_of_classes(facts) else "neg_mean_squared_error"
    yield f'errors = [-cross_val_score(model, A, y, cv=3, scoring="{scoring}").mean() for model in models]'
    yield f"weights = np.nan_to_num((min(errors) / np.array(errors)) ** {_STEEPNESS}, nan=1)"


def _fitted(facts: TaskFacts, model: str) -> str:
    if facts.target == "multilabel":
        return f"{model}.fit(A, y).predict(B).clip(0.01, 0.99)"
    return f"{model}.fit(A, y).predict{'_proba' if _is_of_classes(facts) else ''}(B)"


def _answer(facts: TaskFacts, scale: str) -> Iterator[str]:
    """Write the submission."""
    if _is_of_classes(facts) and not facts.is_binary:
        places = f"columns=range({len(facts.classes)}), fill_value=0"
        yield f"said = pd.DataFrame(said, columns=np.unique(y)).reindex({places}).to_numpy()"
    yield from decision_lines(facts, scale, decisions_of(facts)[0])
    several = len(facts.submission_columns) > 1
    column = "sample[sample.columns[1:]]" if several else f"sample[{quoted(facts.submission_columns[0])}]"
    yield f"{column} = {answered(facts)}"
    yield f'sample.to_csv("{SUBMISSION}", index=False)'
