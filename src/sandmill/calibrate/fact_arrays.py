"""What the use of stated facts is measured with: components of a table, and what can be known without the facts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.panel import Panel
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.fact_components import fact_components
from sandmill.models.hints import Form
from sandmill.models.motifs import CodeValue
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.rewards.facts import FactMeter, normal_scores
from sandmill.scoring.base import Array

BLIND = ("linear_tuned", "hist_boosting")
"""Entries of the panel whose predictions are held against every fact."""
MEASURED_FORMS = ("value", "values", "probability", "class_probabilities", "label_probabilities")
"""Answer forms of numbers. Labels and lists show too little of what a model says."""


@dataclass(frozen=True, repr=False)
class FactArrays:
    """Arguments of `rewards.facts.caught` for all test rows, in the order of test.csv."""

    names: tuple[str, ...]
    """Names of the facts, such as `formula:body_mass_index`."""
    components: Floats
    oracle: Array
    covariates: Floats
    left_out: NDArray[np.bool_]
    """Covariates that are not held against a fact, shape (facts, covariates): for a code table the flags of its levels,
    for a unit or a sentinel the transformed cells of its own column."""

    def meter(self, rows: NDArray[np.bool_] | slice = slice(None)) -> FactMeter:
        """Return what measures predictions for some of the rows."""
        return FactMeter(self.components[rows], self.oracle[rows], self.covariates[rows], self.left_out)


@dataclass(frozen=True)
class _Covariate:
    values: Floats
    column: str = ""
    """Column of the files that it is made of."""
    is_raw: bool = False
    """Whether these are numbers as they are written."""


def fact_arrays(
    folder: Path, facts: TaskFacts, spec: TaskSpec, cells: Mapping[str, Floats], oracle: Array
) -> FactArrays | None:
    """Compute the arrays of a task. They are for the trainer alone.

    Args:
        folder: with the public files.
        facts: what the task asks for.
        spec: design of the task.
        cells: visible cells of the test rows, as `Draw.observed` has them.
        oracle: predictions of the oracle for the test rows.

    Returns:
        None if the task states no facts that can be measured, or is no table, or asks for labels.
    """
    if facts.encoding not in MEASURED_FORMS or spec.channel is not None or facts.kind != "table":
        return None
    names, components = fact_components(spec.mechanism, cells, spec.hints)
    if not names:
        return None
    covariates = list(_covariates(folder, facts))
    left_out = np.array([[_is_left_out(one, name, spec) for one in covariates] for name in names])
    values = np.column_stack([one.values for one in covariates])
    return FactArrays(names, components, np.asarray(oracle, dtype=np.float64), values, left_out)


def _covariates(folder: Path, facts: TaskFacts) -> Iterator[_Covariate]:
    from sandmill.calibrate.solvers.designs import filled_numbers, gap_flags, words

    panel = Panel(folder, facts)
    for run in panel.run(BLIND):
        if run.has_run:
            yield from map(_Covariate, normal_scores(run.prediction).T)
    table = panel.table
    for name, numbers in zip(table.kinds.numeric, filled_numbers(table).test.T, strict=True):
        scores = normal_scores(numbers)[:, 0]
        yield _Covariate(numbers, name, is_raw=True)
        yield _Covariate(scores, name)
        yield _Covariate(scores**2, name)
    yield from map(_Covariate, gap_flags(table).test.T)
    for name in table.kinds.categorical:
        train, test = words(table, name)
        yield from (_Covariate((test == level).astype(np.float64), name) for level in sorted(set(train)))


def _is_left_out(covariate: _Covariate, name: str, spec: TaskSpec) -> bool:
    kind, _, fact = name.partition(":")
    if kind in ("units", "sentinel"):
        return covariate.column == fact and not covariate.is_raw
    return kind == "code_value" and covariate.column == _code_column(fact, spec)


def _code_column(name: str, spec: TaskSpec) -> str:
    forms = [hint.fact for hint in spec.hints if isinstance(hint.fact, Form)]
    return next(form.motif.column for form in forms if form.name == name and isinstance(form.motif, CodeValue))
