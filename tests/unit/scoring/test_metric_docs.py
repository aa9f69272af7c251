"""docs/metrics.md says what the registry says. After a change of targets run this file with SANDMILL_WRITE_GOLDEN=1."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from sandmill.models.package import LIST_LENGTH
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.catalogue import METRICS
from sandmill.scoring.forms import FORMS
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, possible_forms
from tests.metric_samples import guess, make_world
from tests.unit.scoring.test_parity import CASES, DEVIATIONS

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


USUAL = {
    "roc_auc": ("roc_auc_score", {}),
    "roc_auc_columns": ("roc_auc_score", {}),
    "average_precision": ("average_precision_score", {}),
    "log_loss": ("log_loss", {}),
    "brier": ("brier_score_loss", {}),
    "accuracy": ("accuracy_score", {}),
    "balanced_accuracy": ("balanced_accuracy_score", {}),
    "f1": ("f1_score", {}),
    "f1_macro": ("f1_score", {"average": "macro"}),
    "f1_samples": ("f1_score", {"average": "samples"}),
    "mcc": ("matthews_corrcoef", {}),
    "cohen_kappa": ("cohen_kappa_score", {}),
    "qwk": ("cohen_kappa_score", {"weights": "quadratic"}),
    "lwlrap": ("label_ranking_average_precision_score", {}),
    "r2": ("r2_score", {}),
}
"""Functions of scikit-learn with the settings that a grader usually gives them, by metric."""


def target_table():
    rows = ["| target | submission holds | metrics |", "|---|---|---|"]
    for kind in TargetKind:
        for encoding in FORMS:
            known = ANSWER_FORMS | RENDERED_FORMS
            pairs = [pair for pair in known if pair[0] is kind and encoding in possible_forms(*pair)]
            rows += [f"| `{kind}` | `{encoding}` | {', '.join(f'`{name}`' for _, name in pairs)} |"] * bool(pairs)
    return "\n".join(rows)


def test_the_table_of_targets_is_that_of_the_registry():
    page, table = PAGE.read_text(encoding="utf-8"), target_table()
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        page = re.sub(
            r"(<!-- targets -->\n).*?(<!-- /targets -->)", lambda m: f"{m[1]}{table}\n{m[2]}", page, flags=re.S
        )
        PAGE.write_text(page, encoding="utf-8")
    assert f"<!-- targets -->\n{table}\n<!-- /targets -->" in page


def rows_of(table):
    page = PAGE.read_text(encoding="utf-8")
    lines = page.split(f"<!-- {table} -->\n")[1].split(f"\n<!-- /{table} -->")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_metric_has_a_row_with_its_title_direction_and_kind_of_decision():
    wanted = []
    for name in (name for name in MetricName if name in METRICS):
        metric = METRICS[name]
        exact = {"exact": "yes", "tuned": "tuned", "plug-in": "no"}[metric.decision]
        wanted.append([f"`{name}`", metric.title, "lower" if metric.is_lower_better else "higher", exact])
    rows = rows_of("metrics")
    assert [[name, title, better, exact] for name, title, better, _, exact in rows] == wanted
    assert all(decision for *_, decision, _ in rows)


def test_differences_are_of_metrics_that_exist():
    assert {name.strip("`") for name, _ in rows_of("differences")} <= set(METRICS)


def usual_score(name, truth, prediction):
    function, settings = USUAL[name]
    try:
        return float(getattr(sklearn_metrics, function)(truth, prediction, **settings))
    except ValueError:
        return "refused"


@pytest.mark.parametrize("pair", [pair for pair in sorted(ANSWER_FORMS) if pair[1] in USUAL])
def test_every_difference_on_a_truth_of_one_class_is_on_the_page(pair):
    rng, named = np.random.default_rng(0), {name.strip("`") for name, _ in rows_of("differences")}
    drawn, prediction = make_world(pair, rng, 20).truth, guess(pair, rng, 20)
    for truth in (np.repeat(drawn[:1], 20, axis=0), np.zeros_like(drawn)):
        for answer in (prediction, np.repeat(prediction[:1], 20, axis=0)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours, usual = get_metric(pair[1]).score(truth, answer), usual_score(pair[1], truth, answer)
            is_same = usual != "refused" and np.isclose(ours, usual, rtol=0, atol=1e-9, equal_nan=True)
            assert is_same or pair[1] in named, (ours, usual)


def test_the_page_explains_every_encoding_and_states_the_numbers_in_the_code():
    page = PAGE.read_text(encoding="utf-8")
    assert [encoding for encoding in FORMS if f"| `{encoding}` |" not in page.split("<!--")[0]] == []
    assert f"the first {LIST_LENGTH} places" in page
    assert f"{len(CASES)} graded cases" in page
    assert f"{len(DEVIATIONS)} of them" in page


def test_every_metric_is_on_the_page_or_named_as_unsupported():
    unsupported = PAGE.read_text(encoding="utf-8").split("## Unsupported metrics")[1]
    assert [name for name in MetricName if name not in METRICS and f"`{name}`" not in unsupported] == []
