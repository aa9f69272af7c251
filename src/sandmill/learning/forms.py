"""What the output form and the metric of a task ask of a script: its target, its decisions and its answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from sandmill.learning.approaches import Approach

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
_BALANCED = frozenset({"balanced_accuracy", "f1_macro"})
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
        return self.metric in _BALANCED

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
