"""Correct scripts for every output form, of different approaches: what a policy imitates before it learns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from sandmill.fingerprint import fingerprint
from sandmill_learn.approaches import APPROACHES, Approach, Estimator
from sandmill_learn.language import Language

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
_VARIED_DECISIONS = ("threshold", "out_of_fold", "share", "plain")


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
            "decision": _one_of(_VARIED_DECISIONS, rng),
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


_CLASS_FORMS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "probability": (("target.one",), ("predict.probability",)),
    "label": (("target.one",), ("predict.one",)),
    "class_probabilities": (("target.one",), ("predict.classes",)),
    "label_probabilities": (("target.all",), ("predict.each_probability",)),
    "label_list": (("target.flags",), ("predict.label_list",)),
    "ranked_list": (("target.one",), ("predict.ranked_list",)),
    "pairs": (("target.flags",), ("predict.pairs",)),
}
"""Fragments that take the target, and those that write predictions, by output form."""
_SCORERS: Mapping[str, str] = {
    "roc_auc": "scorer.roc_auc",
    "gini": "scorer.roc_auc",
    "roc_auc_columns": "scorer.roc_auc",
    "average_precision": "scorer.average_precision",
    "brier": "scorer.brier",
    "accuracy": "scorer.accuracy",
    "top1_error": "scorer.accuracy",
    "balanced_accuracy": "scorer.balanced_accuracy",
    "f1": "scorer.f1",
    "f1_macro": "scorer.f1_macro",
    "mcc": "scorer.mcc",
    "cohen_kappa": "scorer.kappa",
    "mae": "scorer.mae",
    "mae_columns": "scorer.mae",
    "medae": "scorer.mae",
    "rmsle": "scorer.rmse",
    "mape": "scorer.mae",
    "smape": "scorer.mae",
    "r2": "scorer.r2",
}
"""Scorers of candidates by metric, where they differ from those of `_USUAL`. Metrics of ratios are those
of differences, since the target is a logarithm."""
_USUAL: Mapping[bool, str] = {True: "scorer.log_loss", False: "scorer.rmse"}
_CUTS: Mapping[str, str] = {"f1": "decide.best_f1", "mcc": "decide.best_mcc", "cohen_kappa": "decide.best_kappa"}
_THRESHOLDS = frozenset(_CUTS)
_DECISIONS = ("out_of_fold", "share")
_BALANCED_METRICS = frozenset({"balanced_accuracy", "f1_macro"})
_LOGARITHMIC = frozenset({"rmsle", "rmsle_columns", "mape", "smape", "log_mae_by_group"})
_POSITIVE = frozenset({"poisson_deviance"})


@dataclass(frozen=True)
class OutputForm:
    """What the facts of a task ask of a script."""

    name: str
    target_kind: str
    metric: str

    @property
    def is_grades(self) -> bool:
        """Whether the answer is a grade whose distance from the true one counts: a rounded number."""
        return self.name == "label" and self.metric == "qwk"

    @property
    def is_class(self) -> bool:
        """Whether a classifier predicts it."""
        return self.name in _CLASS_FORMS and not self.is_grades and self.target_kind != "distribution"

    @property
    def is_balanced(self) -> bool:
        """Whether the metric counts rare classes as much as others."""
        return self.metric in _BALANCED_METRICS

    @property
    def is_wide(self) -> bool:
        """Whether the target has several columns."""
        return self.name == "values" or self.target_kind == "distribution"

    @property
    def target(self) -> tuple[str, ...]:
        """Fragments that take the target."""
        if self.is_class:
            return _CLASS_FORMS[self.name][0]
        return ("target.all",) if self.is_wide else ("target.one",)

    @property
    def scorer(self) -> str:
        """Fragment that scores candidates in cross-validation."""
        if self.metric == "gini" and not self.is_class:
            return _USUAL[False]
        return _SCORERS.get(self.metric, _USUAL[self.is_class])

    @property
    def has_threshold(self) -> bool:
        """Whether the score depends on the threshold from which a row is positive."""
        return self.name == "label" and self.target_kind == "binary" and self.metric in _THRESHOLDS

    def wraps(self, approach: Approach) -> tuple[str, ...]:
        """Return fragments that change the model as the metric asks for."""
        if not approach.is_careful:
            return ()
        if self.has_threshold and approach.decision == "threshold":
            return ("choice.threshold", self.scorer, "call.close")
        return ("wrap.log_target",) if self.metric in _LOGARITHMIC and not self.is_class else ()

    def answer(self, approach: Approach) -> tuple[str, ...]:
        """Return fragments that predict and decide."""
        if self.is_class:
            return self._class_answer(approach)
        if self.target_kind == "distribution":
            return ("predict.each", "finish.careful", "finish.sum_to_one")
        if self.is_grades:
            return ("predict.one", "decide.cut_grades" if approach.is_careful else "decide.rounded")
        positive = ("finish.above_zero",) if self.metric in _POSITIVE else ()
        return ("predict.each" if self.is_wide else "predict.one", "finish.train_range", *positive)

    def _class_answer(self, approach: Approach) -> tuple[str, ...]:
        if not approach.is_careful:
            return _CLASS_FORMS[self.name][1]
        if self.has_threshold and approach.decision in _DECISIONS:
            searched = ("decide.out_of_fold", "decide.cuts", _CUTS[self.metric], "predict.probability", "decide.label")
            return searched if approach.decision == "out_of_fold" else ("predict.probability", "decide.label_share")
        if self.name == "label_list":
            return ("predict.label_list_wide",)
        is_bounded = self.name == "class_probabilities" and self.metric == "log_loss"
        return (*_CLASS_FORMS[self.name][1], *(("finish.careful", "finish.sum_to_one") if is_bounded else ()))


def form_of_facts(known: Mapping[str, str]) -> OutputForm:
    """Return what facts ask for. A form or metric that is not known is treated as one number.

    Args:
        known: values of the facts of a task by name.
    """
    return OutputForm(known.get("form", "value"), known.get("target", "regression"), known.get("metric", "rmse"))


FragmentNames = tuple[str, ...]
"""Names of the fragments of a complete answer."""

VARIATIONS = 1
"""Scripts of each approach with other settings."""
_BALANCED = frozenset(
    {"model.logistic", "model.svc", "model.forest_classifier", "model.extra_classifier", "model.tree_classifier"}
    | {"model.hist_classifier", "model.lgbm_classifier"}
)
"""Classifiers with weights of classes."""
_COMBINE: Mapping[str, str] = {"search": "choice.search", "search_3": "choice.search_3"}


def teacher_scripts(language: Language, facts: Sequence[str]) -> list[FragmentNames]:
    """Return correct scripts for the output form of a task, the most usual first.

    After the script of each approach, as often as the weight of the approach says, there are `VARIATIONS` scripts of
    each approach with other settings and steps, so that a policy knows most fragments at least by sight. They follow
    from the facts.

    Args:
        language: of the scripts.
        facts: words of the task. `form`, `target` and `metric` are needed; others decide which columns are treated.
    """
    scripts = [
        write_script(language, approach, facts) for approach in APPROACHES.values() for _ in range(approach.weight)
    ]
    for name, approach in APPROACHES.items():
        rng = np.random.default_rng(int(fingerprint({"facts": list(facts), "approach": name}), 16))
        scripts += [write_script(language, vary(approach, rng), facts) for _ in range(VARIATIONS)]
    return scripts


def pipelines(language: Language) -> dict[str, Callable[[Sequence[str]], FragmentNames]]:
    """Return the named approaches. Each writes its script for the facts of a task."""
    return {name: partial(write_script, language, approach) for name, approach in APPROACHES.items()}


def write_script(language: Language, approach: Approach, facts: Sequence[str]) -> FragmentNames:
    """Write the script of an approach for the facts of a task."""
    known = dict(word.split("=", 1) for word in facts)
    form = form_of_facts(known)
    body = [
        *_reading(approach, known),
        *form.target,
        *_columns(approach, known),
        *_preparing(approach, form),
        *_modelling(approach, form),
        *form.answer(approach),
        "write.submission",
    ]
    return ("open", *_imports(language, body), *body, "close")


def _reading(approach: Approach, known: Mapping[str, str]) -> list[str]:
    events = ("events.read", *approach.events)
    has_events = approach.is_careful and known.get("child") == "yes"
    return [
        *("read.train", "read.test", "read.sample", "key.sample", "targets.not_in_test"),
        *(events if has_events else ()),
        "features.columns",
    ]


def _columns(approach: Approach, known: Mapping[str, str]) -> list[str]:
    """Choose fragments for the columns that the facts name. Dates are treated where the facts do not say."""
    if not approach.is_careful:
        return list(approach.derived)
    names: list[str] = []
    if known.get("sentinels") == "yes":
        names += ["sentinels.nines"]
    if approach.reads_units and known.get("dictionary") == "yes":
        names += ["read.dictionary", "sites.dictionary"]
    if known.get("units") == "yes":
        names += ["text_numbers.units"]
    if known.get("dates") != "no":
        names += ["dates.find", *approach.dates, "dates.drop"]
    # Columns are derived before texts give dozens of numbers, since pairs of these would take minutes.
    names += approach.derived
    if known.get("text") == "yes":
        names += ["texts.find", *approach.texts, "texts.drop"]
    return names


def _preparing(approach: Approach, form: OutputForm) -> list[str]:
    steps = [name.replace("*", "class" if form.is_class else "value") for name in approach.steps]
    return [
        *("numeric.open", *approach.numeric, "call.close"),
        *("words.open", *approach.words, "call.close"),
        *("prepare.open", "inputs.columns", *steps, "call.close"),
    ]


def _modelling(approach: Approach, form: OutputForm) -> list[str]:
    estimators = approach.classifiers if form.is_class else approach.regressors
    lines = [name for each in estimators for name in _line(each, is_balanced=form.is_balanced and approach.is_careful)]
    wraps = [*(() if form.is_class else approach.wraps), *form.wraps(approach)]
    if approach.combine is None:
        return ["model.open", "inputs.prepare", *lines, "call.close", *wraps]
    kind = "class" if form.is_class else "value"
    how = _COMBINE.get(approach.combine, f"choice.{approach.combine}_{kind}")
    scorer = [form.scorer] if approach.combine in _COMBINE else []
    return ["models.open", *lines, "list.close", how, *scorer, "call.close", *wraps]


def _line(estimator: Estimator, *, is_balanced: bool) -> Iterable[str]:
    weights = ("balanced",) if is_balanced and estimator[0] in _BALANCED and "balanced" not in estimator else ()
    return (*estimator, *weights, "step.end")


def _imports(language: Language, body: Sequence[str]) -> list[str]:
    """Return the imports that a script needs, in the order of the language."""
    needed = set().union(*(language.needs[name] for name in body))
    return [fragment.name for fragment in language.fragments if fragment.name in needed]
