"""A description and the shapes of files must not be worth anything; luck on few rows is not held against a task."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandmill.calibrate.appraisal import answers_without_data, best_without_data
from sandmill.calibrate.panel import Panel, fault_of
from sandmill.errors import ItemRejected
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from tests.unit.calibrate.tables import Written, write_table

TEXT = "Predict `outcome` for 1000 rows. Some cells hold -4, 0 or 0.3; grades go from 1 to 5."
ROWS = 1000
RNG = np.random.default_rng(6)
TRUTH = RNG.normal(100, 10, ROWS)
VALUE = TaskFacts(
    id_column="row_id",
    target_column="outcome",
    target=TargetKind.REGRESSION,
    metric=MetricName.RMSE,
    encoding="value",
    classes=(),
    submission_columns=("outcome",),
)


def best(description: str, truth: Any, trivial: float, metric: str = "rmse") -> float:
    """Share of the gap that guesses close on a task with one number as target, whose oracle is never wrong."""
    measure, constant = get_metric(metric), np.full(len(truth), trivial)
    ceiling = measure.score(truth, truth)
    return best_without_data(description, VALUE, truth, constant, ceiling, measure, np.random.default_rng(0))


def best_of(written: Written, description: str = TEXT) -> float:
    """The same for a written task and its trivial entry."""
    metric = get_metric(written.facts.metric)
    (trivial,) = Panel(written.folder, written.facts).run(["prior"])
    ceiling = metric.score(written.truth, written.oracle)
    answer = trivial.prediction
    return best_without_data(
        description, written.facts, written.truth, answer, ceiling, metric, np.random.default_rng(0)
    )


def detail(description: str, truth: Any, trivial: float) -> str:
    """Why a task is refused."""
    with pytest.raises(ItemRejected) as caught:
        best(description, truth, trivial)
    assert (caught.value.stage, caught.value.reason) == ("calibrate", "no_data")
    return caught.value.detail


@pytest.mark.parametrize(
    ("target", "metric", "guesses"), [("multiclass", "map_at_k", 3), ("ordinal", "qwk", 5), ("count", "rmsle", 8)]
)
def test_guesses_are_what_a_submission_may_hold(tmp_path: Path, target: str, metric: str, guesses: int):
    written = write_table(tmp_path, target, metric, train=60, test=100)
    shape = Panel(written.folder, written.facts).run(["prior"])[0].prediction.shape
    found = list(answers_without_data(TEXT, written.facts, 100))
    assert [fault_of(answer, shape, written.facts) for answer in found] == [None] * len(found)
    assert len({answer.tobytes() for answer in found}) == len(found) == guesses


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("from -3 to 7, 0.5 or 5%", [-3, 7, 0.5, 5]),
        ("The mean is 12.5. The rest is 12.", [12.5, 12]),
        ("version 1.2.3, column x5, 4th", []),
        ("7 of 7", [7]),
        (" ".join(map(str, range(50))), [*range(40)]),
    ],
)
def test_numbers_that_stand_by_themselves_are_tried(text: str, numbers: list[float]):
    tried = [answer[0] for answer in answers_without_data(text, VALUE, 9) if not np.ptp(answer)]
    assert tried == numbers


def test_a_number_of_the_description_that_beats_the_trivial_answer_is_refused():
    assert best("Some 40 were seen.", TRUTH, 104.0) == 0
    assert 0 < best("About 100.", TRUTH, 101.0) < 0.02
    assert "closes" in detail("Most have about 100.", TRUTH, 104.0)
    assert "closes" in detail("Most have about 100.", TRUTH[::2], 104.0)


@pytest.mark.parametrize("order", [1, -1])
def test_rows_in_the_order_of_their_answers_are_refused(tmp_path: Path, order: int):
    written = write_table(tmp_path, "binary", "roc_auc", train=60, test=ROWS)
    assert best_of(written) < 0.1
    place = np.argsort(written.truth, kind="stable")[::order]
    ranked = Written(written.folder, written.facts, written.truth[place], written.oracle[place])
    with pytest.raises(ItemRejected) as caught:
        best_of(ranked)
    assert caught.value.reason == "no_data"


@pytest.mark.filterwarnings("error")
def test_guesses_that_would_be_refused_have_no_score(tmp_path: Path):
    written = write_table(tmp_path, "count", "poisson_deviance", train=60, test=ROWS)
    assert best_of(written, "From -4 to 0, or -0.5.") < 0.02
