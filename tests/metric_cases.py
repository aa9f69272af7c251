"""Graded cases of the field's benchmark graders, brought into the form that our own tasks have."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import encoding_for

CASES: tuple[dict[str, Any], ...] = tuple(
    json.loads((Path(__file__).parent / "data" / "metric_cases.json").read_text(encoding="utf-8"))
)

FAMILIES: dict[str, tuple[TargetKind, MetricName]] = {
    "roc_auc": (TargetKind.BINARY, MetricName.ROC_AUC),
    "roc_auc_pairs": (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS),
    "roc_auc_columns": (TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS),
    "log_loss_binary": (TargetKind.BINARY, MetricName.LOG_LOSS),
    "log_loss_multiclass": (TargetKind.MULTICLASS, MetricName.LOG_LOSS),
    "lwlrap": (TargetKind.MULTILABEL, MetricName.LWLRAP),
    "accuracy": (TargetKind.MULTICLASS, MetricName.ACCURACY),
    "accuracy_text": (TargetKind.SEQUENCE, MetricName.ACCURACY_TEXT),
    "top1_error": (TargetKind.MULTICLASS, MetricName.TOP1_ERROR),
    "f1_macro": (TargetKind.MULTICLASS, MetricName.F1_MACRO),
    "f1_micro": (TargetKind.MULTICLASS, MetricName.F1_MICRO),
    "f1_micro_labels": (TargetKind.MULTILABEL, MetricName.F1_MICRO),
    "qwk": (TargetKind.ORDINAL, MetricName.QWK),
    "mcc": (TargetKind.BINARY, MetricName.MCC),
    "rmse": (TargetKind.REGRESSION, MetricName.RMSE),
    "rmse_pixels": (TargetKind.MASK, MetricName.RMSE),
    "dice": (TargetKind.MASK, MetricName.DICE),
    "iou_thresholds": (TargetKind.MASK, MetricName.IOU_THRESHOLDS),
    "rmse_columns": (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS),
    "rmsle_columns": (TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS),
    "mae": (TargetKind.REGRESSION, MetricName.MAE),
    "mae_masked": (TargetKind.REGRESSION, MetricName.MAE),
    "pearson": (TargetKind.REGRESSION, MetricName.PEARSON),
    "spearman_columns": (TargetKind.MULTI_TARGET, MetricName.SPEARMAN_COLUMNS),
    "map_at_k": (TargetKind.MULTICLASS, MetricName.MAP_AT_K),
}
"""Our target and metric for each family of cases."""

STATED_CLASSES = {
    "aptos2019-blindness-detection": "01234",
    "learning-agency-lab-automated-essay-scoring-2": "123456",
    "nfl-player-contact-detection": "01",
}
"""Class lists that the task states; elsewhere the classes are those that answers and submission name."""

STATED_RANGES = {"petfinder-pawpularity-score": (1.0, 100.0)}

_ONE_HOT = frozenset({"log_loss_multiclass"})
_WIDE = frozenset({"roc_auc_columns", "lwlrap", "rmse_columns", "rmsle_columns", "spearman_columns"})
_MANY_ROWS = {"roc_auc_pairs": "pairs", "rmse_pixels": "dense", "accuracy_text": "strings"}
"""Families whose items have several answer rows, with the answer form."""
_MASKS = frozenset({"dice", "iou_thresholds"})
_SIDES = (("height", "height_pixels"), ("width", "width_pixels"))
"""Parameter, or column of the answers, that holds each side of pictures."""
_LABELS = 100
"""Ids of pairs are the item's times this plus the label's."""


@dataclass(frozen=True)
class Prepared:
    """A case as a task of ours."""

    facts: TaskFacts
    answers: bytes
    submission: bytes


def prepare(case: dict[str, Any]) -> Prepared:
    """Write a case's answers as our answers.csv and its submission as the file that an agent would hand in."""
    params, answers, family = case["params"], dict(case["answers"]), case["metric"]
    target, metric = FAMILIES[family]
    if family in _MANY_ROWS:
        return _of_many_rows(case, target, metric)
    if family in _MASKS:
        return _of_masks(case, target, metric)
    id_column = params["id"]
    names = params["targets"]
    targets = [name for name in answers if name != id_column] if isinstance(names, str) else names
    is_wide = family in _WIDE | _ONE_HOT
    rows = len(answers[id_column])
    unscored = _unscored(params, answers, targets, rows)
    columns = {id_column: answers[id_column]}
    if family in _ONE_HOT:
        columns["target"] = [next(name for name in targets if answers[name][row] == 1) for row in range(rows)]
    else:
        columns |= {name: answers[name] for name in targets}
    facts = TaskFacts(
        id_column=id_column,
        target_column="target" if is_wide else targets[0],
        target=target,
        metric=metric,
        encoding=encoding_for(target, metric),
        classes=tuple(targets) if is_wide else _classes(case, targets[0]),
        submission_columns=tuple(targets),
        value_range=STATED_RANGES.get(case["source"]),
        list_length=params.get("k"),
    )
    columns["part"] = ["unscored" if row in unscored else "final" for row in range(rows)]
    surplus = params.get("required_but_unscored", ())
    submission = {name: cells for name, cells in case["submission"].items() if name not in surplus}
    return Prepared(facts, _csv(columns), _csv(submission))


def _of_many_rows(case: dict[str, Any], target: TargetKind, metric: MetricName) -> Prepared:
    """Bring the rows of each item together, and give pairs ids of ours."""
    id_column, (name,), form = case["params"]["id"], case["params"]["targets"], _MANY_ROWS[case["metric"]]
    answers, submission = dict(case["answers"]), dict(case["submission"])
    if form == "pairs":
        for table in (answers, submission):
            table[id_column] = [f"{one // _LABELS}_{one % _LABELS}" for one in table[id_column]]
    places = [tuple(map(int, one.split("_"))) for one in answers[id_column]]
    order = sorted(range(len(places)), key=places.__getitem__)
    columns = {column: [cells[row] for row in order] for column, cells in answers.items()}
    facts = TaskFacts(
        id_column=id_column,
        target_column=name,
        target=target,
        metric=metric,
        encoding=form,
        classes=tuple(dict.fromkeys(str(place[1]) for place in sorted(places))) if form == "pairs" else (),
        submission_columns=(name,),
        shape=max(place[1:] for place in places) if form == "dense" else None,
    )
    return Prepared(facts, _csv(columns | {"part": ["final"] * len(places)}), _csv(submission))


def _of_masks(case: dict[str, Any], target: TargetKind, metric: MetricName) -> Prepared:
    """Give all pictures the size of the largest. Pixels are counted, so neither runs nor scores depend on it."""
    params, answers = case["params"], case["answers"]
    id_column, (name,) = params["id"], params["targets"]
    height, width = (max([params.get(one, 0), *answers.get(column, ())]) for one, column in _SIDES)
    (true,) = (cells for column, cells in answers.items() if column not in (id_column, *(side for _, side in _SIDES)))
    facts = TaskFacts(
        id_column=id_column,
        target_column=name,
        target=target,
        metric=metric,
        encoding=encoding_for(target, metric),
        submission_columns=(name,),
        shape=(height, width),
    )
    columns = {id_column: answers[id_column], name: true, "part": ["final"] * len(true)}
    return Prepared(facts, _csv(columns), _csv(case["submission"]))


def _unscored(params: dict[str, Any], answers: dict[str, list[Any]], targets: list[str], rows: int) -> set[int]:
    """Rows that the grader drops: those outside its mask, and those whose answers say so."""
    if "mask" in params:
        return {row for row in range(rows) if answers[params["mask"]][row] != params["scored_where"]}
    if "unscored_value" in params:
        return {row for row in range(rows) if answers[targets[0]][row] == params["unscored_value"]}
    return set()


def _classes(case: dict[str, Any], target: str) -> tuple[str, ...]:
    """Classes in the order in which numbers or words sort; "1.0" is the class 1."""
    if FAMILIES[case["metric"]][0] is TargetKind.REGRESSION:
        return ()
    if case["source"] in STATED_CLASSES:
        return tuple(STATED_CLASSES[case["source"]])
    cells = [*case["answers"][target], *case["submission"].get(target, ())]
    if encoding_for(*FAMILIES[case["metric"]]) in ("label_list", "ranked_list"):
        return tuple(sorted({name for cell in cells for name in str(cell).split()}))
    if encoding_for(*FAMILIES[case["metric"]]) == "probability":
        return ("0", "1")
    if any(isinstance(cell, (str, bool)) for cell in case["answers"][target]):
        return tuple(sorted({str(cell) for cell in case["answers"][target]}))
    return tuple(str(code) for code in sorted({int(cell) for cell in cells if cell != "NaN"}))


def _csv(columns: dict[str, list[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()
