"""Skills that designs reward, and their measured lift."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.columns import Categorical, LogNormal
from sandmill.models.faults import (
    Distractors,
    Duplicates,
    LabelNoise,
    Missing,
    MixedTypes,
    Outliers,
    Pathology,
    UnitMixup,
)
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import (
    BetweenCuts,
    Bottleneck,
    CrossedLookup,
    Curve,
    Difference,
    Drift,
    Interaction,
    Linear,
    LocalRule,
    Lookup,
    Motif,
    Periodic,
    Ratio,
    Saturation,
    Threshold,
    UnitEffect,
    VaryingSlope,
    columns_of,
)
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind

HIGH_CARDINALITY_LEVELS = 8
"""Levels from which a category counts as one of high cardinality, for which one-hot encoding works badly."""


class Skill(StrEnum):
    """Techniques that improve on a tuned linear model over the raw columns."""

    LOG_SCALE = "log_scale"
    LOG_RATIO = "log_ratio"
    PRODUCT_FEATURES = "product_features"
    BOTTLENECK_FEATURES = "bottleneck_features"
    STEP_FEATURES = "step_features"
    PERIODIC_FEATURES = "periodic_features"
    CURVES = "curves"
    DIFFERENCES = "differences"
    TARGET_ENCODING = "target_encoding"
    CATEGORY_CROSSES = "category_crosses"
    SLOPES_BY_CATEGORY = "slopes_by_category"
    LOCAL_MODELS = "local_models"
    RECENCY = "recency"
    IMPUTATION = "imputation"
    UNIT_REPAIR = "unit_repair"
    OUTLIER_HANDLING = "outlier_handling"
    UNIT_PARSING = "unit_parsing"
    DUPLICATE_REMOVAL = "duplicate_removal"
    NOISE_ROBUSTNESS = "noise_robustness"
    FEATURE_SELECTION = "feature_selection"
    THRESHOLD_TUNING = "threshold_tuning"
    GRADE_CUTOFFS = "grade_cutoffs"
    TARGET_SCALE = "target_scale"


class SkillLift(Frozen):
    """Lift of a skill on a task: gap closed with the skill minus gap closed without it."""

    skill: Skill
    lift: float
    """Mean over training draws. Negative if the skill does harm."""
    error: float = Field(ge=0)
    """Standard error of the mean."""
    draws: int = Field(ge=2)
    """Number of fresh training draws."""


_CUT = (MetricName.F1, MetricName.F1_MACRO, MetricName.MCC, MetricName.COHEN_KAPPA, MetricName.BALANCED_ACCURACY)
_CUT_SETS = (MetricName.F1_MICRO, MetricName.F1_MACRO, MetricName.F1_SAMPLES)
_RELATIVE = (MetricName.RMSLE, MetricName.RMSLE_COLUMNS, MetricName.MAPE, MetricName.SMAPE)


def skills_of(spec: TaskSpec) -> tuple[Skill, ...]:
    """List the measurable skills that a design rewards, in the order of `Skill`.

    A fault of cells counts only if the rule reads the faulty column.
    """
    found = {*_of_rule(spec.mechanism), *_of_faults(spec.mechanism), *_of_metric(spec)}
    return tuple(skill for skill in Skill if skill in found)


def skill_of_motif(motif: Motif, mechanism: Mechanism) -> Skill | None:
    """Return the skill that finds a motif; None if a linear model finds it without a skill, or nobody can."""
    match motif:
        case Linear(column=name):
            is_skewed = isinstance(mechanism.column_by_name[name].distribution, LogNormal)
            return Skill.LOG_SCALE if is_skewed else None
        case Lookup(column=name):
            spread = mechanism.column_by_name[name].distribution
            has_many_levels = isinstance(spread, Categorical) and len(spread.levels) >= HIGH_CARDINALITY_LEVELS
            return Skill.TARGET_ENCODING if has_many_levels else None
        case Curve() | Saturation():
            return Skill.CURVES
        case Threshold() | BetweenCuts():
            return Skill.STEP_FEATURES
        case Periodic():
            return Skill.PERIODIC_FEATURES
        case Ratio():
            return Skill.LOG_RATIO
        case Difference():
            return Skill.DIFFERENCES
        case Interaction():
            return Skill.PRODUCT_FEATURES
        case Bottleneck():
            return Skill.BOTTLENECK_FEATURES
        case CrossedLookup():
            return Skill.CATEGORY_CROSSES
        case VaryingSlope():
            return Skill.SLOPES_BY_CATEGORY
        case LocalRule():
            return Skill.LOCAL_MODELS
        case Drift():
            return Skill.RECENCY
        case UnitEffect():
            return None


def skill_of_fault(fault: Pathology) -> Skill:
    """Return the skill that handles a fault."""
    match fault:
        case Missing():
            return Skill.IMPUTATION
        case UnitMixup():
            return Skill.UNIT_REPAIR
        case Outliers():
            return Skill.OUTLIER_HANDLING
        case MixedTypes():
            return Skill.UNIT_PARSING
        case Duplicates():
            return Skill.DUPLICATE_REMOVAL
        case LabelNoise():
            return Skill.NOISE_ROBUSTNESS
        case Distractors():
            return Skill.FEATURE_SELECTION


def rule_columns(mechanism: Mechanism) -> frozenset[str]:
    """Return the names of the columns that the rule reads, including the column of the hidden subgroup."""
    read = {name for term in mechanism.terms for name in columns_of(term.motif)}
    return frozenset(read | ({mechanism.subgroup.by} if mechanism.subgroup else set()))


def _of_rule(mechanism: Mechanism) -> Iterator[Skill]:
    for term in mechanism.terms:
        skill = skill_of_motif(term.motif, mechanism)
        if skill is not None:
            yield skill


def _of_faults(mechanism: Mechanism) -> Iterator[Skill]:
    read = rule_columns(mechanism)
    for fault in mechanism.pathologies:
        if not isinstance(fault, Missing | UnitMixup | Outliers | MixedTypes) or fault.column in read:
            yield skill_of_fault(fault)


def _of_metric(spec: TaskSpec) -> Iterator[Skill]:
    cut = _CUT_SETS if spec.target is TargetKind.MULTILABEL else _CUT
    if spec.metric in cut:
        yield Skill.THRESHOLD_TUNING
    if spec.metric is MetricName.QWK:
        yield Skill.GRADE_CUTOFFS
    if spec.metric in _RELATIVE:
        yield Skill.TARGET_SCALE
