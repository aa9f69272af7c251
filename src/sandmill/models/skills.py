"""Skills that designs reward, and their measured lift."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.columns import LogNormal
from sandmill.models.faults import Pathology
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Difference, Linear, Motif, columns_of
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind


class Skill(StrEnum):
    """Techniques that improve on a tuned linear model over the raw columns."""

    LOG_SCALE = "log_scale"
    LOG_RATIO = "log_ratio"
    PRODUCT_FEATURES = "product_features"
    BOTTLENECK_FEATURES = "bottleneck_features"
    STEP_FEATURES = "step_features"
    PERIODIC_FEATURES = "periodic_features"
    CURVES = "curves"
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


FORMER_SKILLS = frozenset({"differences", "target_encoding"})
"""Skills of older releases that showed no lift over a tuned linear model. Their lifts are left out when read."""


class SkillLift(Frozen):
    """Lift of a skill on a task: gap closed with the skill minus gap closed without it."""

    skill: Skill
    lift: float
    """Mean over training draws. Negative if the skill does harm."""
    error: float = Field(ge=0)
    """Standard error of the mean."""
    draws: int = Field(ge=2)
    """Number of fresh training draws."""


_OF_MOTIF: dict[str, Skill] = {
    "curve": Skill.CURVES,
    "saturation": Skill.CURVES,
    "threshold": Skill.STEP_FEATURES,
    "band": Skill.STEP_FEATURES,
    "periodic": Skill.PERIODIC_FEATURES,
    "ratio": Skill.LOG_RATIO,
    "interaction": Skill.PRODUCT_FEATURES,
    "bottleneck": Skill.BOTTLENECK_FEATURES,
    "crossed_lookup": Skill.CATEGORY_CROSSES,
    "varying_slope": Skill.SLOPES_BY_CATEGORY,
    "local_rule": Skill.LOCAL_MODELS,
    "drift": Skill.RECENCY,
}
"""Skill that finds each motif. That of a linear motif and of a difference depends on their columns. A linear model with
one-hot encoding finds a lookup, and nobody finds a unit effect. What texts state has no skill: readers measure its
worth."""
_OF_FAULT: dict[str, Skill] = {
    "missing": Skill.IMPUTATION,
    "unit_mixup": Skill.UNIT_REPAIR,
    "outliers": Skill.OUTLIER_HANDLING,
    "mixed_types": Skill.UNIT_PARSING,
    "duplicates": Skill.DUPLICATE_REMOVAL,
    "label_noise": Skill.NOISE_ROBUSTNESS,
    "distractors": Skill.FEATURE_SELECTION,
}
_CUT = (MetricName.F1, MetricName.F1_MACRO, MetricName.MCC, MetricName.COHEN_KAPPA, MetricName.BALANCED_ACCURACY)
_CUT_SETS = (MetricName.F1_MICRO, MetricName.F1_MACRO, MetricName.F1_SAMPLES)
_RELATIVE = (MetricName.RMSLE, MetricName.RMSLE_COLUMNS, MetricName.MAPE, MetricName.SMAPE)


def skills_of(spec: TaskSpec) -> tuple[Skill, ...]:
    """List the measurable skills that a design rewards, in the order of `Skill`.

    A fault of cells counts only if the rule reads the faulty column.
    """
    mechanism, read = spec.mechanism, rule_columns(spec.mechanism)
    faults = [fault for fault in mechanism.pathologies if getattr(fault, "column", None) in {None, *read}]
    found = {
        *(skill_of_motif(term.motif, mechanism) for term in mechanism.terms),
        *map(skill_of_fault, faults),
        *_of_metric(spec),
    }
    return tuple(skill for skill in Skill if skill in found)


def skill_of_motif(motif: Motif, mechanism: Mechanism) -> Skill | None:
    """Return the skill that finds a motif; None if it needs no skill, the texts state it, or no solver can find it."""
    match motif:
        case Linear() | Difference():
            spreads = [mechanism.column_by_name[name].distribution for name in columns_of(motif)]
            return Skill.LOG_SCALE if any(isinstance(spread, LogNormal) for spread in spreads) else None
        case _:
            return _OF_MOTIF.get(motif.motif)


def skill_of_fault(fault: Pathology) -> Skill:
    """Return the skill that handles a fault."""
    return _OF_FAULT[fault.kind]


def rule_columns(mechanism: Mechanism) -> frozenset[str]:
    """Return the names of the columns that the rule reads, including the column of the hidden subgroup."""
    read = {name for term in mechanism.terms for name in columns_of(term.motif)}
    return frozenset(read | ({mechanism.subgroup.by} if mechanism.subgroup else set()))


def _of_metric(spec: TaskSpec) -> Iterator[Skill]:
    cut = _CUT_SETS if spec.target is TargetKind.MULTILABEL else _CUT
    if spec.metric in cut:
        yield Skill.THRESHOLD_TUNING
    if spec.metric is MetricName.QWK:
        yield Skill.GRADE_CUTOFFS
    if spec.metric in _RELATIVE:
        yield Skill.TARGET_SCALE
