"""What each encoding allows in a submission and in the answers, told cell by cell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.errors import InvalidSubmission
from sandmill.models.base import Part
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission, read_answers
from sandmill.scoring.support import ANSWER_FORMS
from tests.metric_samples import CLASSES, brief_for, classes_of, guess, make_world
from tests.submission_mutants import write

IDS = ("a", "b")
LABELS = brief_for((TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS))
SETS = brief_for((TargetKind.MULTILABEL, MetricName.F1_MICRO))
LISTS = brief_for((TargetKind.MULTICLASS, MetricName.MAP_AT_K))
SEVERAL = brief_for((TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS))
GRADES = brief_for((TargetKind.ORDINAL, MetricName.QWK))


def problems(csv: str, facts: TaskFacts) -> list[str]:
    with pytest.raises(InvalidSubmission) as caught:
        parse_submission(csv.encode(), facts, IDS)
    return [str(problem) for problem in caught.value.problems]


def parse(csv: str, facts: TaskFacts) -> list[object]:
    return parse_submission(csv.encode(), facts, IDS).tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(ANSWER_FORMS)))
def test_a_submission_reads_back_whatever_the_order_of_its_rows_and_columns(seed, pair):
    rng, facts = np.random.default_rng(seed), brief_for(pair)
    prediction = guess(pair, rng, 12)
    ids = [f"r{row}" for row in range(12)]
    table = [line.split(",") for line in write(facts, ids, prediction).decode().splitlines()]
    order = rng.permutation(len(table[0]))
    rows = [table[0], *(table[1 + row] for row in rng.permutation(12))]
    content = "\n".join(",".join(row[place] for place in order) for row in rows) + "\n"
    read = parse_submission(content.encode(), facts, ids)
    metric, truth = get_metric(facts.metric), make_world(pair, rng, 12).truth
    if facts.encoding == "ranked_list":
        assert [[code for code in row if code >= 0] for row in read.tolist()] == [
            [code for code in row if code >= 0] for row in prediction.tolist()
        ]
    else:
        assert np.array_equal(read, prediction)
        assert metric.score(truth, read) == pytest.approx(metric.score(truth, prediction), nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(ANSWER_FORMS)))
def test_answers_read_back_as_the_truth_that_metrics_take(seed, pair):
    rng, facts = np.random.default_rng(seed), brief_for(pair)
    truth = make_world(pair, rng, 9).truth
    if facts.encoding in ("label_list", "ranked_list") and truth.ndim == 2:
        columns = {"y": [" ".join(n for n, x in zip(CLASSES, row, strict=True) if x) for row in truth]}
    elif truth.ndim == 2:
        names = classes_of(pair) or facts.submission_columns
        columns = {name: [repr(cell) for cell in truth[:, at].tolist()] for at, name in enumerate(names)}
    elif facts.classes:
        columns = {"y": [facts.classes[int(code)] for code in truth]}
    else:
        columns = {"y": [repr(cell) for cell in truth.tolist()]}
    parts = ["final", "feedback", "unscored"] * 3
    table = {"id": [f"r{row}" for row in range(9)]} | columns | {"part": parts}
    rows = [",".join(cells) for cells in zip(*table.values(), strict=True)]
    answers = read_answers("\n".join([",".join(table), *rows]).encode(), facts)
    assert np.array_equal(answers.truth, truth)
    assert answers.part(Part.FINAL).tolist() == [True, False, False] * 3
    assert answers.part(Part.FEEDBACK).tolist() == [False, True, False] * 3


def test_label_probabilities_need_not_sum_to_1_but_lie_between_0_and_1():
    assert parse("id,ash,beech,cedar,damson\nb,1,1,0,.5\na,0,0,0,0\n", LABELS) == [[0, 0, 0, 0], [1, 1, 0, 0.5]]
    assert problems("id,ash,beech,cedar,damson\na,0,0,0,0\nb,0,0,1.01,-1\n", LABELS) == [
        'line 3, cedar: saw "1.01"; expected a probability from 0 to 1 (1 more such lines).'
    ]


def test_a_label_set_is_names_separated_by_spaces_and_may_be_empty():
    assert parse("id,y\na,cedar ash  cedar\nb,\n", SETS) == [[1, 0, 1, 0], [0, 0, 0, 0]]
    assert problems("id,y\na,ash;beech\nb,oak ash Ash\n", SETS) == [
        'line 2, y: saw "ash;beech"; expected names separated by spaces, each one of ash, beech, cedar, damson '
        "(1 more such lines)."
    ]


def test_a_ranked_list_keeps_its_order_and_is_cut_at_k():
    assert parse("id,y\na,cedar ash\nb,ash ash beech cedar damson ash\n", LISTS) == [
        [2, 0, -1, -1, -1],
        [0, 0, 1, 2, 3],
    ]
    short = LISTS.model_copy(update={"list_length": 2})
    assert parse("id,y\na,\nb,damson cedar ash\n", short) == [[-1, -1], [3, 2]]


def test_several_numbers_are_finite_and_not_negative_where_the_metric_takes_a_logarithm():
    rows = "id,left,middle,right\na,-1,2,3\nb,1e3,0,-7.5\n"
    assert parse(rows, SEVERAL) == [[-1, 2, 3], [1000, 0, -7.5]]
    logs = SEVERAL.model_copy(update={"metric": MetricName.RMSLE_COLUMNS})
    assert problems(rows, logs) == ['line 2, left: saw "-1"; expected a finite number, 0 or more (1 more such lines).']
    assert "a finite number" in problems("id,left,middle,right\na,nan,2,3\nb,1,inf,1\n", SEVERAL)[0]


@pytest.mark.parametrize("blank", ["\x1c", "\x1f", "\x0b", "\x85", "\xa0", "\u2003", "\u3000"])
def test_names_are_separated_and_surrounded_by_spaces_and_tabs_alone(blank):
    assert parse("id,y\na, 4\t\nb,1.0\n", GRADES) == [3, 0]
    assert parse("id,y\na,cedar\t ash\nb, beech\n", SETS) == [[1, 0, 1, 0], [0, 1, 0, 0]]
    assert problems(f"id,y\na,4{blank}\nb,1\n", GRADES)
    assert problems(f"id,y\na,cedar{blank}ash\nb,beech\n", SETS)
