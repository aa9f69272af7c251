"""Trials of one skill: the tuned linear model with it and the same without it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sandmill.calibrate.true_features import (
    Block,
    centred,
    is_in_levels,
    level_flags_of,
    motif_features,
    no_features,
    weighed_scores,
)
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.sampling import Draw
from sandmill.models.columns import Categorical, Date, Unit
from sandmill.models.faults import MixedTypes
from sandmill.models.links import MultilabelLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Motif
from sandmill.models.package import TaskFacts
from sandmill.models.skills import Skill, rule_columns, skill_of_fault, skill_of_motif
from sandmill.scoring.base import Array

FACTORS = (1.0, 3.0)
"""How much less a skill's features are shrunk than the columns they come from."""
LEVEL_FACTORS = (0.5, 1.0, 3.0)
"""The same for effects of levels, which may need more shrinkage than columns do."""


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """What a tuned linear model is given."""

    train: Mapping[str, Floats]
    """Cells of the training rows."""
    test: Mapping[str, Floats]
    target: Floats
    columns: tuple[str, ...]
    """Names of the columns that are used."""
    motifs: tuple[Motif, ...] = ()
    """Features that are added in their true form."""
    goal: str | None = None
    """Metric that scale and decision are chosen for; None: the task's own."""

    @classmethod
    def usual(cls, mechanism: Mechanism, draw: Draw, test: Draw) -> "ModelInputs":
        """The plain features: all columns as files show them, but for names of units."""
        shown = (column for column in mechanism.columns if not column.in_text)
        names = (column.name for column in shown if not isinstance(column.distribution, Unit))
        return cls(draw.observed, test.observed, draw.target, tuple(names))


def ablation_of(
    skill: Skill, usual: ModelInputs, mechanism: Mechanism, draw: Draw, clean: Floats, test: Draw
) -> tuple[ModelInputs, ModelInputs]:
    """Make the pair whose difference is the skill: with it, without it. One of them is the usual trial.

    Args:
        skill: one that the design declares.
        usual: trial of the plain features.
        mechanism: of the design.
        draw: training rows.
        clean: their targets without label noise.
        test: rows to predict.
    """
    motifs = tuple(term.motif for term in mechanism.terms if skill_of_motif(term.motif, mechanism) is skill)
    if motifs:
        return replace(usual, motifs=motifs), usual
    match skill:
        case Skill.IMPUTATION | Skill.UNIT_REPAIR | Skill.OUTLIER_HANDLING:
            faulty = [fault.column for fault in mechanism.cell_faults() if skill_of_fault(fault) is skill]
            cells = [{**part.observed, **{name: part.complete[name] for name in faulty}} for part in (draw, test)]
            return replace(usual, train=cells[0], test=cells[1]), usual
        case Skill.UNIT_PARSING:
            mixed = {fault.column for fault in mechanism.pathologies if isinstance(fault, MixedTypes)}
            return usual, replace(usual, columns=tuple(name for name in usual.columns if name not in mixed))
        case Skill.DUPLICATE_REMOVAL:
            _, first = np.unique(draw.numbers, return_index=True)
            return replace(usual, train=_rows(draw.observed, first), target=draw.target[first]), usual
        case Skill.NOISE_ROBUSTNESS:
            return replace(usual, target=clean), usual
        case Skill.FEATURE_SELECTION:
            read = rule_columns(mechanism)
            return replace(usual, columns=tuple(name for name in usual.columns if name in read)), usual
        case Skill.THRESHOLD_TUNING | Skill.GRADE_CUTOFFS:
            is_of_sets = isinstance(mechanism.link, MultilabelLink)
            return usual, replace(usual, goal="hamming_loss" if is_of_sets else "accuracy")
        case Skill.TARGET_SCALE:
            return usual, replace(usual, goal="rmse")
        case _:
            raise ValueError(f"the design does not declare {skill}")


def predict_from(trial: ModelInputs, mechanism: Mechanism, facts: TaskFacts) -> Array:
    """Fit the tuned linear model of a trial and answer as the metric asks."""
    from sandmill.calibrate.solvers.columns import settle, solve
    from sandmill.calibrate.solvers.decisions import decide

    base, extra = _plain(trial, mechanism), _added(trial, mechanism)
    factors = LEVEL_FACTORS if any(is_in_levels(motif) for motif in trial.motifs) else FACTORS

    def tuned(table: Any) -> Any:
        return weighed_scores(base, extra, factors, table)

    table = _table(trial, facts)
    answer = np.asarray(settle(solve(tuned, table), table, decide))
    return np.maximum(answer, 0) if trial.goal == "rmse" else answer


def _rows(cells: Mapping[str, Floats], rows: Any) -> dict[str, Floats]:
    return {name: values[rows] for name, values in cells.items()}


def _plain(trial: ModelInputs, mechanism: Mechanism) -> Block:
    """Numbers scaled, days kept within training, categories as 0/1 columns; a gap is the mean."""
    columns = [mechanism.column_by_name[name] for name in trial.columns]
    parts = []
    for cells in (trial.train, trial.test):
        rows = len(next(iter(cells.values())))
        numbers, flags = [np.zeros((rows, 0))], [np.zeros((rows, 0))]
        for column in columns:
            values = cells[column.name]
            if isinstance(column.distribution, Categorical):
                flags.append(level_flags_of(column, values))
            elif isinstance(column.distribution, Date):
                known = trial.train[column.name]
                numbers.append(np.clip(values, known.min(), known.max())[:, None])
            else:
                numbers.append(values[:, None])
        parts.append((np.hstack(numbers), np.hstack(flags)))
    (train, train_flags), (test, test_flags) = parts
    return centred(train, test, scale=True).beside(centred(train_flags, test_flags, scale=False))


def _added(trial: ModelInputs, mechanism: Mechanism) -> Block:
    """Features of the trial's motifs in their true form."""
    block = _empty(trial)
    for motif in trial.motifs:
        made = [motif_features(motif, mechanism, cells) for cells in (trial.train, trial.test)]
        block = block.beside(centred(*made, scale=not is_in_levels(motif)))
    return block


def _empty(trial: ModelInputs) -> Block:
    return no_features(len(trial.target), len(next(iter(trial.test.values()))))


def _table(trial: ModelInputs, facts: TaskFacts) -> Any:
    """A table that knows the target and nothing else, which is all that linear models and decisions look at."""
    import pandas as pd

    from sandmill.calibrate.solvers.cells import Kinds
    from sandmill.calibrate.solvers.table import Table
    from sandmill.calibrate.solvers.targets import onto_scale, scale_of

    frame, rows = pd.DataFrame(), len(next(iter(trial.test.values())))
    known = facts if trial.goal is None else facts.model_copy(update={"metric": trial.goal})
    target = trial.target.astype(np.int64) if facts.classes else trial.target
    scale = "raw" if facts.classes or facts.is_wide else scale_of(target, known)
    return Table(known, [""] * rows, frame, frame, Kinds([], [], [], []), onto_scale(target, scale), scale)
