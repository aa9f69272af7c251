"""Medal hardness: the chance that no script of a group reaches silver."""

import numpy as np
import pytest

from sandmill.calibrate.measure import band_of
from sandmill.calibrate.panel import PanelRun
from sandmill.calibrate.pipelines import GROUP, PIPELINES_VERSION, medal_hardness, reaches_silver
from sandmill.models.calibration import Tier
from sandmill.scoring import get_metric
from tests.factories import CALIBRATION


def measured(*shares: float, scripts: int = 100):
    """Of draws in which a share of the scripts, the same ones, reach silver."""
    reached = [[place < share * scripts for place in range(scripts)] for share in shares]
    return medal_hardness(reached, np.random.default_rng(0))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 1.0])
def test_it_is_the_chance_that_none_of_a_group_reaches_silver(share: float):
    found = measured(share)
    assert found.value == pytest.approx((1 - share) ** GROUP, abs=1e-6)
    assert found.low <= found.value <= found.high
    assert found.band is band_of(found.value)
    assert (found.scripts, found.draws, found.version) == (GROUP, 1, PIPELINES_VERSION)


def test_the_share_is_taken_over_all_draws():
    found = measured(0.0, 0.1, 0.2)
    assert found.share == pytest.approx(0.1)
    assert found.value == measured(0.1).value
    assert found.draws == 3
    assert found.low < found.value < found.high


def run(prediction: list[float]) -> PanelRun:
    return PanelRun("s", Tier.NAIVE, [np.array(prediction)], lambda columns: columns[0], None)


@pytest.mark.parametrize("lower", [False, True])
def test_a_score_equal_to_silver_reaches_it_and_a_failed_run_never_does(lower: bool):
    metric, truth = get_metric("rmse" if lower else "roc_auc"), np.array([0.0, 1.0, 0.0, 1.0])
    answer = run([0.1, 0.9, 0.4, 0.3])
    score = round(metric.score(truth, answer.prediction), 5)
    worse = score + 1e-5 if lower else score - 1e-5
    for silver, reached in ((score, True), (round(2 * score - worse, 5), False), (worse, True)):
        bars = CALIBRATION.thresholds.model_copy(update={"silver": silver})
        task = CALIBRATION.model_copy(update={"is_lower_better": lower, "thresholds": bars})
        assert reaches_silver(answer, truth, slice(0, 4), metric, task) is reached
    failed = PanelRun("s", Tier.NAIVE, None, None, "no")
    assert not reaches_silver(failed, truth, slice(0, 4), metric, CALIBRATION)
