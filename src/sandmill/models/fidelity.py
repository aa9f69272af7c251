"""Traits that a task takes over from its seed: what they are, and how near is near enough.

A vector has the traits of one table. Seed and task have one each, by the same code, from structure and profile alone.
"""

import math
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from statistics import median
from typing import Any, Literal

import numpy as np
import yaml
from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.profile import SMALL_ROWS, ColumnProfile, ColumnRole, TableProfile
from sandmill.models.structure import PathologyKind, Structure, TargetKind

Rule = Literal["equal", "within", "relative", "factor"]
TraitValue = float | str

_NUMBERS = frozenset({ColumnRole.REAL, ColumnRole.WHOLE})
_CLASSES = frozenset({TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL})

_WORD = re.compile(r"[a-z]{4,}")
_COMMON = frozenset(
    {"from", "have", "into", "that", "their", "they", "this", "tell", "than", "what", "when", "which", "with"}
)
"""Words that say nothing about a topic."""


class Trait(Frozen):
    """One entry of a vector, and when two values of it count as equal."""

    name: str
    words: str
    """For people, in lists and in the documentation."""
    tier: Literal["hard", "soft"]
    rule: Rule = "equal"
    """`equal`; `within` a distance, or a distance `relative` to the seed; or by at most a `factor` off."""
    tolerance: float = 0.0

    def agrees(self, seed: TraitValue, task: TraitValue) -> bool:
        """Whether a task has the trait of its seed."""
        if isinstance(seed, str) or isinstance(task, str) or self.rule == "equal":
            return seed == task
        if self.rule == "within":
            return abs(seed - task) <= self.tolerance + 1e-9
        if self.rule == "relative":
            return abs(seed - task) <= self.tolerance * abs(seed) + 1e-9
        low, high = sorted((seed, task))
        return high <= low * self.tolerance + 1e-9

    @property
    def nearness(self) -> str:
        """The tolerance in words."""
        if self.rule == "equal":
            return "equal"
        words = {"within": f"within {self.tolerance:g}", "relative": f"within {self.tolerance:.0%}"}
        return words.get(self.rule, f"at most {self.tolerance:g} times")


def _trait(name: str, words: str, rule: Rule = "equal", tolerance: float = 0.0) -> Trait:
    return Trait(name=name, words=words, tier="hard" if rule == "equal" else "soft", rule=rule, tolerance=tolerance)


_TABLE: dict[str, list[Any]] = yaml.safe_load(files("sandmill.models").joinpath("traits.yaml").read_text("utf-8"))
TRAITS = tuple(_trait(name, *facts) for name, facts in _TABLE.items())
"""All traits. Tolerances were set before any task was measured with them."""
TRAIT_BY_NAME: Mapping[str, Trait] = {trait.name: trait for trait in TRAITS}
MIX = tuple(f"share_{role}" for role in ColumnRole)
"""Values that the trait `mix` compares."""


class FidelityVector(Frozen):
    """Traits of one table. What is not known is left out."""

    values: dict[str, TraitValue] = Field(default={})
    """By name of the trait; in place of `mix` the shares of the kinds of columns, such as `share_real`."""


class Fidelity(Frozen):
    """Traits of a task and of its seed. Private: a seed may be somebody's data."""

    seed: FidelityVector
    task: FidelityVector

    @property
    def agreement(self) -> dict[str, bool]:
        """Whether the task has each trait that is known of both, in the order of `TRAITS`."""
        return compare(self.seed, self.task)


def of_tier(agreement: Mapping[str, bool], tier: str) -> list[bool]:
    """Return whether the task has each trait of a tier, `hard` or `soft`."""
    return [holds for name, holds in agreement.items() if TRAIT_BY_NAME[name].tier == tier]


def compare(seed: FidelityVector, task: FidelityVector) -> dict[str, bool]:
    """Return whether a task has each trait that is known of both."""
    found = {}
    for trait in TRAITS:
        if trait.name == "mix" and seed.values.keys() >= set(MIX) and task.values.keys() >= set(MIX):
            # Total variation between two mixes of columns
            apart = sum(abs(float(seed.values[name]) - float(task.values[name])) for name in MIX) / 2
            found["mix"] = trait.agrees(0.0, apart)
        elif trait.name in seed.values and trait.name in task.values:
            found[trait.name] = trait.agrees(seed.values[trait.name], task.values[trait.name])
    return found


def vector_of(structure: Structure, profile: TableProfile | None = None) -> FidelityVector:
    """Return the traits of a seed or a task.

    Args:
        structure: target, metric and split. Without a profile, also what a card declares of columns and classes.
        profile: of the table; the one of the structure if None.
    """
    profile = profile or structure.profile
    found: dict[str, TraitValue | None] = {
        "target": structure.target.value,
        "outputs": _outputs(structure),
        "metric": structure.metric.value,
        "split": structure.split.value if structure.split else None,
    }
    found |= _of_table(structure.target, profile) if profile else _declared(structure)
    return FidelityVector(values={name: _rounded(value) for name, value in found.items() if value is not None})


def shown_trait(vector: FidelityVector, name: str) -> str:
    """Write one trait of a vector for people; `-` if it is not known."""
    values = vector.values
    if name == "mix" and values.keys() >= set(MIX):
        shares = ((role, float(values[f"share_{role}"])) for role in ColumnRole)
        return ", ".join(f"{role} {share:.0%}" for role, share in shares if share) or "no columns"
    value = values.get(name)
    return "-" if value is None else value if isinstance(value, str) else f"{value:g}"


def _outputs(structure: Structure) -> float | None:
    if structure.target is TargetKind.BINARY:
        return 2.0
    if structure.target in _CLASSES:
        return structure.n_classes
    is_wide = structure.target in (TargetKind.MULTILABEL, TargetKind.MULTI_TARGET)
    return float(structure.n_targets) if not is_wide or structure.n_targets > 1 else None


def _rounded(value: TraitValue) -> TraitValue:
    return value if isinstance(value, str) else round(float(value), 4)


def _declared(structure: Structure) -> dict[str, TraitValue | None]:
    """Return what a card says of columns and classes."""
    mix = structure.columns
    counts = (mix.numeric, mix.categorical, mix.date, mix.text)
    found: dict[str, TraitValue | None] = {
        "missing": structure.missing_share or None,
        "has_date": 1.0 if PathologyKind.TIMESTAMPS in structure.pathologies else None,
    }
    if any(counts):
        found["n_columns"] = sum(counts)
        names = ("has_category", "has_date", "has_text")
        found |= {name: float(count > 0) for name, count in zip(names, counts[1:], strict=True)}
    if structure.positive_share is not None:
        share = structure.positive_share
        found |= _of_classes(structure.target, (max(share, 1 - share), min(share, 1 - share)))
    return found


def _of_table(target: TargetKind, profile: TableProfile) -> dict[str, TraitValue | None]:
    columns = profile.columns
    numbers = [column for column in columns if column.role in _NUMBERS]
    levels = [_small_levels(column) for column in columns if column.role is ColumnRole.CATEGORY]
    shares = {role: sum(one.role is role for one in columns) / len(columns) if columns else 0.0 for role in ColumnRole}
    skews = [abs(math.asinh(column.skew)) for column in numbers if column.skew is not None]
    tails = [math.asinh(column.kurtosis) for column in numbers if column.kurtosis is not None]
    return {
        "extra_files": profile.extra_files,
        "dictionary": float(profile.has_dictionary),
        "child": float(profile.has_child),
        "has_date": float(shares[ColumnRole.DATE] > 0),
        "has_text": float(shares[ColumnRole.TEXT] > 0),
        "has_category": float(shares[ColumnRole.CATEGORY] > 0),
        "n_columns": profile.n_columns,
        **{f"share_{role}": share for role, share in shares.items()},
        "levels_median": median(levels) if levels else None,
        "levels_most": max(levels, default=None),
        **_of_classes(target, profile.class_shares),
        "missing": sum(column.missing for column in columns) / len(columns) if columns else 0.0,
        "missing_worst": max((column.missing for column in columns), default=0.0),
        "missing_columns": sum(column.missing > 0 for column in columns) / len(columns) if columns else 0.0,
        "repeats": median(column.top_share for column in numbers) if numbers else None,
        "distinct": median(column.distinct_share for column in numbers) if numbers else None,
        "skew": median(skews) if skews else None,
        "skew_most": float(np.quantile(skews, 0.9)) if skews else None,
        "tails": median(tails) if tails else None,
        "rho_share": profile.rho_share,
        "rho_mean": profile.rho_mean,
        "target_skew": None if profile.target_skew is None else math.asinh(profile.target_skew),
        "target_repeats": profile.target_top_share,
        "linear": profile.linear_score,
        "boosting": profile.boosting_score,
    }


def _small_levels(column: ColumnProfile) -> float:
    """Return how many levels a sample of `SMALL_ROWS` rows shows."""
    return min(column.levels, column.distinct_share * SMALL_ROWS * (1 - column.missing))


def _of_classes(target: TargetKind, shares: Sequence[float]) -> dict[str, TraitValue | None]:
    if not shares:
        return {}
    parts = [share for share in shares if share > 0]
    is_whole = target is not TargetKind.MULTILABEL
    entropy = -sum(share * math.log2(share) for share in parts) if is_whole else None
    return {"class_entropy": entropy, "top_class": max(shares), "rarest_class": min(shares)}


def nearness(topic: str, told: str) -> float:
    """Return the share of the words of a topic that a text has, such as a domain's or a story's; 0 to 1."""
    words = _words(topic)
    return len(words & _words(told)) / len(words) if words else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in _WORD.findall(text.lower()) if word not in _COMMON)
