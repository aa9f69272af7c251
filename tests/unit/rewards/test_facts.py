"""Credit for stated facts: what predictions use of them, beside what can be known without them."""

from pathlib import Path

import numpy as np
import pytest

from sandmill.calibrate.fact_arrays import FactArrays, fact_arrays
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.readers import read_table, stated_facts
from sandmill.draw import Rendered
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rewards.facts import Caught, FactMeter, normal_scores
from tests.hinted_designs import small_rendered

ROWS = 800
RNG = np.random.default_rng(4)
A, B, C = RNG.normal(size=(3, ROWS))
FORMULA = np.log(np.exp(A) + np.exp(2 * B))
ORACLE = FORMULA + 0.5 * C
KNOWN = np.column_stack([A, B, C])


def value(predictions: object, components: object = FORMULA[:, None], **more: object) -> float | None:
    found = FactMeter(components, ORACLE, KNOWN, **more).measure(predictions)[0]
    return found.value if found else None


def test_the_true_form_is_caught() -> None:
    assert value(ORACLE) == 1.0
    assert value(FORMULA) == 1.0


def test_a_model_of_the_raw_columns_catches_nothing() -> None:
    weights, *_ = np.linalg.lstsq(KNOWN, ORACLE, rcond=None)

    assert value(KNOWN @ weights) == pytest.approx(0.0, abs=0.15)


@pytest.mark.parametrize(
    "predictions",
    [np.zeros(ROWS), RNG.normal(size=ROWS), 1e6 * RNG.normal(size=ROWS), RNG.permutation(ORACLE), -ORACLE],
    ids=["constant", "noise", "scaled noise", "shuffled", "reversed"],
)
def test_predictions_without_the_fact_catch_nothing(predictions: object) -> None:
    assert value(predictions) == 0.0


def test_rising_functions_of_predictions_change_nothing() -> None:
    noisy = ORACLE + RNG.normal(size=ROWS)

    assert value(np.exp(noisy / 4)) == value(noisy)


def test_labels_and_explained_components_say_nothing() -> None:
    assert value((ORACLE > 0).astype(int)) is None
    assert value(ORACLE, (A + B)[:, None]) is None
    assert value(ORACLE, RNG.normal(size=(ROWS, 1))) is None  # the oracle does not use it


def test_covariates_that_are_left_out_are_not_held_against_a_component() -> None:
    left_out = np.array([[True, False, False]])

    assert value(ORACLE, A[:, None]) is None
    assert value(ORACLE, A[:, None], left_out=left_out) == 1.0


def test_each_fact_is_measured_beside_the_others() -> None:
    other = np.abs(C - 1)
    oracle, known = FORMULA + other, np.column_stack([A, B, C])

    first, second = FactMeter(np.column_stack([FORMULA, other]), oracle, known).measure(FORMULA)

    assert isinstance(first, Caught)
    assert first.value == 1.0
    assert isinstance(second, Caught)
    assert second.value == 0.0


def test_several_outputs_are_measured_together() -> None:
    oracle = np.column_stack([ORACLE, -ORACLE, C])

    found = FactMeter(FORMULA[:, None], oracle, KNOWN).measure(oracle)[0]

    assert found
    assert found.value == 1.0


def test_predictions_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        FactMeter(FORMULA[:, None], ORACLE, KNOWN).measure(ORACLE[:-1])


def test_equal_numbers_have_one_score_and_scores_are_standardised() -> None:
    scores = normal_scores([3.0, 1.0, 1.0, 2.0])[:, 0]

    assert scores[1] == scores[2] < scores[3] < scores[0]
    assert scores.std() == pytest.approx(1.0)


def arrays_of(made: Rendered, folder: Path) -> FactArrays:
    for name, content in made.package.public.items():
        (folder / name).write_bytes(content)
    found = fact_arrays(folder, made.package.facts, made.package.spec, made.test_draw.observed, made.oracle)
    assert found
    return found


@pytest.mark.parametrize("slot", [0, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "task",
    [(TargetKind.BINARY, MetricName.ROC_AUC), (TargetKind.REGRESSION, MetricName.RMSE)],
    ids=["binary", "number"],
)
def test_readers_of_tables_catch_facts_and_blind_models_do_not(
    slot: int, task: tuple[TargetKind, MetricName], tmp_path: Path
) -> None:
    made = small_rendered(slot, task)
    package, meter = made.package, arrays_of(made, tmp_path).meter()
    panel = Panel(tmp_path, package.facts)
    reading = panel.with_table(read_table(panel, tmp_path, stated_facts(package.spec, package.public)))

    def share(runs: Panel, name: str) -> float:
        return float(np.mean([one.value for one in meter.measure(runs.run([name])[0].prediction) if one]))

    blind, reader = share(panel, "linear"), share(reading, "linear_tuned")

    assert blind < 0.3
    assert reader > 0.6
