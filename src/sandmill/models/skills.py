"""Skills that a design declares to reward, and what each was measured to be worth."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.mechanism import (
    BetweenCuts,
    Bottleneck,
    Categorical,
    CrossedLookup,
    Curve,
    Difference,
    Distractors,
    Drift,
    Duplicates,
    Interaction,
    LabelNoise,
    Linear,
    LocalRule,
    LogNormal,
    Lookup,
    Mechanism,
    Missing,
    MixedTypes,
    Motif,
    Outliers,
    Pathology,
    Periodic,
    Ratio,
    Saturation,
    Threshold,
    UnitEffect,
    UnitMixup,
    VaryingSlope,
)
from sandmill.models.motifs import columns_of
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind

HIGH_CARDINALITY_LEVELS = 8
"""From so many levels on, 0/1 columns shrunk like all others serve a category badly."""


class Skill(StrEnum):
    """What pays on a task beyond a tuned linear model on its columns as they are."""

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
    """What a declared skill is worth on a task: gap closed with it less gap closed without it."""

    skill: Skill
    lift: float
    """Mean over training draws; negative where the skill does harm."""
    error: float = Field(ge=0)
    """Standard error of the mean."""
    draws: int = Field(ge=2)
    """Fresh training draws that it was measured on."""


_CUT = (MetricName.F1, MetricName.F1_MACRO, MetricName.MCC, MetricName.COHEN_KAPPA, MetricName.BALANCED_ACCURACY)
_CUT_SETS = (MetricName.F1_MICRO, MetricName.F1_MACRO, MetricName.F1_SAMPLES)
_RELATIVE = (MetricName.RMSLE, MetricName.RMSLE_COLUMNS, MetricName.MAPE, MetricName.SMAPE)


def skills_of(spec: TaskSpec) -> tuple[Skill, ...]:
    """List what a design rewards as far as that can be measured, each once, in the order of `Skill`.

    A fault counts where the rule reads the faulty column; elsewhere there is nothing to gain.
    """
    found = {*_of_rule(spec.mechanism), *_of_faults(spec.mechanism), *_of_metric(spec)}
    return tuple(skill for skill in Skill if skill in found)


def skill_of_motif(motif: Motif, mechanism: Mechanism) -> Skill | None:
    """Name the skill that finds a motif; None for one that a plain linear model has, or that nobody can see."""
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
    """Name the skill that copes with a fault."""
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
    """Names of the columns that the rule reads, that of a hidden subgroup among them."""
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
