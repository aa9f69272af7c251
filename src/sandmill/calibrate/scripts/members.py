"""Models for found columns, as scikit-learn pipelines in source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sandmill.calibrate.scripts.findings import FURTHEST, Feature, PanelFindings
from sandmill.calibrate.solvers import competent, naive, search, strong
from sandmill.calibrate.solvers.readers import reader_linear
from sandmill.calibrate.solvers.table import Table
from sandmill.kinds.script_text import number, quoted

_STRAIGHT = 0.3
"""Share of a straight line in the kernel, as in `solvers.strong.kernel`."""
_LEAST_NOISE = 0.3
"""Least noise of a smooth classifier: with less, its probabilities are too sure."""

TREES = 40
"""Of each forest, as in the panel's `auto_trees`; more of them gain little and cost a script most of its time."""

Solver: TypeAlias = Callable[[Table], Any]


@dataclass(frozen=True)
class ScriptModel:
    """A model that may stand alone in a script or share it with others."""

    name: str
    idea: str
    """What it does, as a clause."""
    columns: str
    """Name of the set of columns in `PanelFindings` that it takes."""
    steps: tuple[str, ...]
    """Estimators after the columns."""
    solver: Solver
    """Solver of the panel that does nearly the same: its answer foretells what this model is worth."""
    is_encoded: bool = False
    """Whether it takes categories as mean targets too."""


def members_of(found: PanelFindings) -> tuple[ScriptModel, ...]:
    """The models that are worth a try on a task."""
    sets, facts = found.columns, found.facts
    found_beside = ("weighed" if "weighed" in sets else "wide") if sets["wide"].features else ""
    plain = (
        ("linear", "all columns", "base", strong.linear_tuned),
        ("linear_found", "a few found features", "sparse", search.sparse_search),
        ("linear_numbers", "the numbers alone", "numbers", naive.SOLVERS["numbers_only"]),
        ("linear_wide", "all columns and found features", found_beside, search.auto_search),
        ("linear_units", "all columns, with a level for each unit", "units", reader_linear),
        ("linear_crossed", "all columns, with slopes and effects of single categories", "crossed", search.auto_crosses),
    )
    members = [
        ScriptModel(name, f"a linear model of {idea}", columns, (linear_model(found, sets[columns].penalty),), solver)
        for name, idea, columns, solver in plain
        if columns in sets
    ]
    members += [_kernel(found, "wide", search.auto_process), _kernel(found, "sparse", search.sparse_process)]
    members += [_trees(found), _forest(found)]
    models = (linear_model(found, sets["wide"].penalty),)
    if found.categories and not facts.is_wide:
        idea = "a linear model with categories also as the mean target of their rows"
        members.append(ScriptModel("linear_encoded", idea, "wide", models, search.auto_encoded, is_encoded=True))
    return tuple(members)


def usual_members(found: PanelFindings) -> tuple[ScriptModel, ...]:
    """What a competent person tries first: sound preparation and default settings."""
    penalty = 1 / found.class_weight if found.facts.classes else 1.0
    models, idea = (linear_model(found, penalty),), "a linear model at its default strength"
    return ScriptModel("usual_linear", idea, "base", models, competent.linear), _forest(found)


def columns_block(found: PanelFindings, members: Sequence[ScriptModel]) -> list[str]:
    """Source that prepares the sets of columns that models take and defines the models."""
    used = {_variable(member): member for member in members}
    sets = [found.columns[member.columns] for member in used.values()]
    lines = []
    if any(one.features for one in sets) or (found.numbers and any(one.constant != "FEW" for one in sets)):
        fill = 'SimpleImputer(strategy="median"), ' if found.has_gaps else ""
        ends = f'{{"a_min": -{FURTHEST:g}, "a_max": {FURTHEST:g}}}'
        clip = f", FunctionTransformer(np.clip, kw_args={ends})" if found.has_far_rows else ""
        lines.append(f"scaled = make_pipeline({fill}StandardScaler(){clip})")
    if found.categories and any(member.columns not in ("sparse", "numbers") for member in used.values()):
        lines.append('levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)')
    for name, member in used.items():
        lines += _transformer(found, name, member)
    lines.append("models = {")
    for member in members:
        steps = ", ".join((_variable(member), *member.steps))
        lines += [f"    # {member.idea[0].upper()}{member.idea[1:]}"]
        lines += [f"    {quoted(member.name)}: make_pipeline({steps}),"]
    return [*lines, "}"]


def feature_lists(found: PanelFindings, members: Sequence[ScriptModel]) -> dict[str, list[str]]:
    """Constants that name the features of each set of columns in use."""
    used = (found.columns[member.columns] for member in members)
    units = {"UNITS": list(found.units)} if any(member.columns == "units" for member in members) else {}
    return units | {
        one.constant: [name for made in one.features for name in made.names] for one in used if one.features
    }


def features_of(found: PanelFindings, members: Sequence[ScriptModel]) -> list[Feature]:
    """Found features that some models use."""
    return [feature for member in members for feature in found.columns[member.columns].features]


def _variable(member: ScriptModel) -> str:
    return "encoded" if member.is_encoded else f"{member.columns}_columns"


def _transformer(found: PanelFindings, name: str, member: ScriptModel) -> list[str]:
    columns, parts = found.columns[member.columns], []
    if found.numbers and member.columns != "sparse":
        parts.append('("numbers", scaled, NUMBERS)')
    if found.categories and member.columns not in ("sparse", "numbers"):
        parts.append('("levels", levels, CATEGORIES)')
    if columns.features:
        parts.append(f'("found", scaled, {columns.constant})')
    note, weights = [], ""
    if member.columns == "units":
        parts.append('("units", levels, UNITS)')
        note = ["# A unit has rows in both files: its level is drawn towards the average of all units"]
        weights = f', transformer_weights={{"units": {columns.weight:g}}}'
    elif columns.weight != 1:
        note = [f"# Found features are shrunk {columns.weight:g} times less than plain columns: they have earned it"]
        weights = f', transformer_weights={{"found": {columns.weight:g}}}'
    if member.is_encoded:
        folds = f"{'Stratified' if found.facts.classes else ''}KFold(5, shuffle=True, random_state=0)"
        parts.append(f'("means", make_pipeline(TargetEncoder(cv={folds}), StandardScaler()), CATEGORIES)')
        note = ["# A category as the mean target of its rows; training rows see the other folds alone"]
    return [*note, f"{name} = ColumnTransformer([{', '.join(parts)}]{weights})"]


def linear_model(found: PanelFindings, penalty: float) -> str:
    """A linear model at the strength of a ridge penalty.

    Logistic regression weighs a row by p (1 - p), Poisson regression by its rate.
    """
    facts = found.facts
    if facts.metric == "poisson_deviance":
        return f"PoissonRegressor(alpha={number(penalty * found.mean_rate / len(found.table.train))}, max_iter=300)"
    if not facts.classes:
        return f"Ridge(alpha={number(penalty)})"
    model = f"LogisticRegression(C={number(1 / (penalty * found.class_weight))}, max_iter=500)"
    return f"OneVsRestClassifier({model})" if facts.is_wide else model


def _kernel(found: PanelFindings, name: str, solver: Solver) -> ScriptModel:
    """Kernel ridge, or logistic regression with a kernel: all training rows are centres of bell curves."""
    columns = found.columns[name]
    assert columns.curve is not None
    count = max(1, columns.count)
    gamma = number(1 / (2 * count * columns.curve.width**2))
    noise = max(columns.curve.noise, _LEAST_NOISE) if found.facts.classes else columns.curve.noise
    curves = f'("curves", Nystroem(gamma={gamma}, n_components=len(train), random_state=0))'
    straight = f'transformer_weights={{"lines": {number(np.sqrt(_STRAIGHT / count))}}}'
    union = f'FeatureUnion([("lines", "passthrough"), {curves}], {straight})'
    idea = {"wide": "all columns and found features", "sparse": "a few found features"}[name]
    return ScriptModel(f"kernel_{name}", f"kernel ridge on {idea}", name, (union, linear_model(found, noise)), solver)


def _trees(found: PanelFindings) -> ScriptModel:
    model = f"ExtraTrees{_tree_kind(found)}({TREES}, min_samples_leaf=3, max_features=0.6, random_state=0)"
    idea = "extremely randomised trees on all columns and found features"
    return ScriptModel("trees", idea, "wide", (model,), search.auto_trees)


def _forest(found: PanelFindings) -> ScriptModel:
    model = f"RandomForest{_tree_kind(found)}({TREES}, random_state=0)"
    return ScriptModel("forest", "a random forest on all columns", "base", (model,), competent.random_forest)


def _tree_kind(found: PanelFindings) -> str:
    """Several labels are fitted as numbers of 0 and 1: one forest serves them all."""
    return "Classifier" if found.facts.classes and not found.facts.is_wide else "Regressor"
