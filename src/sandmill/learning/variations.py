"""Variations of approaches: the same idea with other settings, columns and decisions, as different people write it."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from sandmill.learning.approaches import Approach, Estimator

Choice = TypeVar("Choice")

_SETTINGS = (
    ("c.0_03", "c.0_1", "c.0_3", "c.1", "c.3"),
    ("alpha.0_1", "alpha.0_3", "alpha.1", "alpha.10", "alpha.30", "alpha.100"),
    ("gamma.0_003", "gamma.0_01", "gamma.0_03", "gamma.0_1"),
    ("neighbours.3", "neighbours.7", "neighbours.15", "neighbours.30"),
    ("trees.50", "trees.100", "trees.200"),
    ("iterations.40", "iterations.80", "iterations.150"),
    ("rate.0_03", "rate.0_05", "rate.0_1", "rate.0_2"),
    ("depth.1", "depth.2", "depth.3", "depth.5"),
    ("leaf.3", "leaf.5", "leaf.10"),
    ("split.third", "split.half", "split.all"),
    ("subsample.0_5", "subsample.0_8"),
)
"""Settings that can stand for each other."""
_FURTHER: Mapping[str, tuple[str, ...]] = {
    "model.forest_classifier": ("split.third", "depth.5", "depth.8"),
    "model.forest_regressor": ("split.third", "split.half", "depth.8"),
    "model.extra_classifier": ("split.half", "depth.8"),
    "model.extra_regressor": ("depth.8",),
    "model.hist_classifier": ("l2.1", "l2.10"),
    "model.hist_regressor": ("l2.1", "l2.10", "loss.absolute"),
    "model.boost_regressor": ("split.half", "leaf.5", "loss.absolute"),
    "model.boost_classifier": ("split.half", "leaf.5"),
    "model.lgbm_classifier": ("leaves.4", "leaves.8", "rate.0_05", "leaf_rows.5"),
    "model.lgbm_regressor": ("leaves.4", "leaves.8", "rate.0_05", "leaf_rows.10", "objective.absolute"),
    "model.knn_classifier": ("neighbours.by_distance", "neighbours.manhattan"),
    "model.knn_regressor": ("neighbours.by_distance", "neighbours.manhattan"),
    "model.logistic": ("balanced",),
}
"""Settings that an estimator may have besides."""
_IMPUTE = ("impute.median", "impute.mean", "impute.indicator", "impute.zero", "impute.neighbours")
_SCALE = ("scale.standard", "scale.robust", "scale.normal_ranks", "scale.ranks", "scale.min_max")
_WORDS = ("encode.one_hot_common", "encode.one_hot", "encode.ordinal", "encode.target", "encode.target_smooth")
_SINGLE = (
    "log",
    "square",
    "root",
    "distance",
    "above_median",
    "missing",
    "missing_count",
    "wave_7",
    "wave_12",
    "wave_24",
)
_PAIRS = ("pairs.product", "pairs.ratio", "pairs.inverse_ratio", "pairs.difference", "pairs.greater")
_DERIVED = (
    *(("numbers.find", f"numbers.{name}") for name in (*_SINGLE, "wave_range")),
    *(("numbers.find", "pairs.find", name) for name in _PAIRS),
    *((f"categories.{name}",) for name in ("frequency", "rare", "small_numbers", "suffix_number")),
    *((f"features.{name}",) for name in ("drop_wide", "new_groups")),
    ("sites.find", "sites.center"),
    ("sites.find", "sites.scale"),
    ("sentinels.outliers",),
    ("sentinels.repeated_end",),
)
_STEPS = (
    *("select.varying", "select.f_*_5", "select.f_*_10", "select.f_*_20", "select.mutual_*_5", "select.mutual_*_10"),
    *("select.trees_*", "expand.components_most"),
)
_DATES = ("dates.days", "dates.year", "dates.month", "dates.weekday", "dates.season")
_TEXTS = ("texts.tfidf", "texts.keywords", "texts.length", "texts.first_number", "texts.number_units")
_EVENTS = (
    *("events.count", "events.mean", "events.sum", "events.last", "events.spread", "events.recent"),
    *("events.count_by_kind", "events.sum_by_kind"),
)
_DECISIONS = ("threshold", "out_of_fold", "share", "plain")


def vary(approach: Approach, rng: np.random.Generator) -> Approach:
    """Return an approach with the same estimators and some other settings and steps."""
    return approach.model_copy(
        update={
            "classifiers": tuple(_other_settings(each, rng) for each in approach.classifiers),
            "regressors": tuple(_other_settings(each, rng) for each in approach.regressors),
            "numeric": tuple(_other_step(name, rng) for name in approach.numeric),
            "words": (_one_of(_WORDS, rng), *approach.words[1:]) if rng.random() < 0.3 else approach.words,
            "derived": approach.derived or (_one_of(_DERIVED, rng) if rng.random() < 0.6 else ()),
            "steps": approach.steps or ((_one_of(_STEPS, rng),) if rng.random() < 0.25 else ()),
            "dates": _some(_DATES, rng),
            "texts": _some(_TEXTS, rng),
            "events": _some(_EVENTS, rng),
            "reads_units": bool(rng.random() < 0.5),
            "decision": _one_of(_DECISIONS, rng),
        }
    )


def _other_settings(estimator: Estimator, rng: np.random.Generator) -> Estimator:
    settings = [_alike(name, _SETTINGS, rng) if rng.random() < 0.5 else name for name in estimator[1:]]
    further = _FURTHER.get(estimator[0], ())
    if further and rng.random() < 0.3:
        chosen = _one_of(further, rng)
        # A setting that is given twice is an error of Python.
        if chosen.split(".")[0] not in {name.split(".")[0] for name in settings} or chosen.startswith("neighbours.by"):
            settings = [name for name in settings if name != chosen] + [chosen]
    return (estimator[0], *settings)


def _other_step(name: str, rng: np.random.Generator) -> str:
    return _alike(name, (_IMPUTE, _SCALE), rng) if rng.random() < 0.4 else name


def _alike(name: str, families: Sequence[tuple[str, ...]], rng: np.random.Generator) -> str:
    return next((_one_of(family, rng) for family in families if name in family), name)


def _one_of(choices: Sequence[Choice], rng: np.random.Generator) -> Choice:
    return choices[int(rng.integers(len(choices)))]


def _some(choices: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Return one to three different choices, in their order."""
    count = int(rng.integers(1, 4))
    return tuple(choices[place] for place in sorted(rng.permutation(len(choices))[:count]))
