"""The posterior is what happens: frequencies, means and quantiles, whatever is hidden and whatever is predicted."""

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandmill.mechanism import Draw, draw_rows, posterior
from sandmill.models.links import class_names
from sandmill.models.mechanism import Mechanism
from sandmill.models.predictive import NumberPredictive, NumbersPredictive, Predictive
from sandmill.models.structure import MetricName, SplitKind, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_spec
from tests.mechanisms import LINKS, doubtful, gapped, noise_of

ROWS = 5_000
LIMIT = 4.5
"""Standard errors: of some thousand comparisons none should be further off."""
MAKERS = {"gapped": gapped, "doubtful": doubtful}
CLASS_LINKS = [name for name, link in LINKS.items() if class_names(link)]
NUMBER_LINKS = [name for name in LINKS if name not in CLASS_LINKS]


def worlds(names: list[str]) -> pytest.MarkDecorator:
    """Each link with each maker; the fast tests have one maker for each link, in turn."""
    pairs = [
        (maker, name, (place + number) % 2) for place, name in enumerate(names) for number, maker in enumerate(MAKERS)
    ]
    slow = pytest.mark.slow
    return pytest.mark.parametrize(
        ("maker", "name"), [pytest.param(*pair, marks=[slow] if is_slow else []) for *pair, is_slow in pairs]
    )


CLASS_TASKS = [task for task in TASKS if task[0] in (TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL)]


@cache
def world(maker: str, name: str) -> tuple[Mechanism, Draw, Predictive]:
    link = LINKS[name]
    mechanism = MAKERS[maker](link, noise_of(link))
    draw = draw_rows(mechanism, Streams(SECRET, f"{maker} {name}"), range(ROWS), is_train=False)
    return mechanism, draw, posterior(mechanism, draw.observed)


def slices(mechanism: Mechanism, draw: Draw) -> dict[str, np.ndarray]:
    """Rows by what is hidden in them, and by what makes the hidden more or less likely."""
    cells = draw.observed
    found = {"all": np.ones(ROWS, dtype=bool), "level c": cells["g"] == 2, "late": cells["day"] > 250}
    if mechanism.unit_column():
        x, z = np.isnan(cells["x"]), np.isnan(cells["z"])
        found |= {"no x": x, "no z": z, "neither": x & z, "whole": ~x & ~z, "no x, late": x & (cells["day"] > 300)}
    else:
        wide = np.abs(cells["o"] + 3) > 1.5
        found |= {"other unit": cells["u"] > 200, "doubtful unit": (cells["u"] > 80) & (cells["u"] < 200)}
        found |= {"gross error": wide, "no m": np.isnan(cells["m"]), "clean": ~wide & (cells["u"] < 80)}
    return found


def error_of_mean(mechanism: Mechanism, draw: Draw, residual: np.ndarray, rows: np.ndarray) -> float:
    """Standard error of a mean of residuals; rows of a unit err together."""
    unit = mechanism.unit_column()
    if unit is None:
        return float(residual[rows].std() / np.sqrt(rows.sum()))
    sums = np.bincount(draw.observed[unit][rows].astype(int), residual[rows])
    return float(np.sqrt((sums**2).sum()) / rows.sum())


def assert_unbiased(mechanism: Mechanism, draw: Draw, residual: np.ndarray, what: str = "") -> None:
    for name, rows in slices(mechanism, draw).items():
        assert rows.sum() > 100, name
        bound = LIMIT * error_of_mean(mechanism, draw, residual, rows)
        assert abs(residual[rows].mean()) < bound, f"{what} {name}: {residual[rows].mean():.4g}, bound {bound:.4g}"


def outcomes(draw: Draw, predictive: Predictive) -> list[tuple[np.ndarray, np.ndarray]]:
    """Predicted probability and whether it happened, by class or label."""
    p, y = predictive.probabilities, draw.target
    return [(p[:, k], (y[:, k] if y.ndim == 2 else y == k).astype(float)) for k in range(p.shape[1])]


def numbers(draw: Draw, predictive: Predictive) -> list[tuple[NumberPredictive, np.ndarray]]:
    if isinstance(predictive, NumbersPredictive):
        return list(zip(predictive.columns, draw.target.T, strict=True))
    return [(predictive, draw.target)]


@worlds(CLASS_LINKS)
def test_predicted_probabilities_are_realised_frequencies(maker, name):
    mechanism, draw, predictive = world(maker, name)
    if name != "multilabel":
        np.testing.assert_allclose(predictive.probabilities.sum(axis=1), 1, atol=1e-9)
    for p, happened in outcomes(draw, predictive):
        for members in np.array_split(np.argsort(p, kind="stable"), 10):
            rows = np.zeros(ROWS, dtype=bool)
            rows[members] = True
            error = error_of_mean(mechanism, draw, happened - p, rows)
            assert abs(happened[rows].mean() - p[rows].mean()) < LIMIT * error
        assert_unbiased(mechanism, draw, happened - p, name)


@worlds(NUMBER_LINKS)
def test_predicted_means_are_realised_means(maker, name):
    mechanism, draw, predictive = world(maker, name)
    for place, (of, y) in enumerate(numbers(draw, predictive)):
        gap = of.expect(lambda values: values) - of.mean
        assert np.abs(gap).max() < 0.02 * y.std(), "the grid and the closed form have the same mean"
        assert_unbiased(mechanism, draw, y - of.mean, f"{name} {place}")
        for members in np.array_split(np.argsort(of.mean, kind="stable"), 10):
            rows = np.zeros(ROWS, dtype=bool)
            rows[members] = True
            assert abs((y - of.mean)[rows].mean()) < LIMIT * error_of_mean(mechanism, draw, y - of.mean, rows)


@worlds(NUMBER_LINKS)
def test_so_much_lies_below_a_predicted_quantile_as_its_level_says(maker, name):
    """Counted halves of ties, since counts have many; the grid's own steps are allowed for."""
    mechanism, draw, predictive = world(maker, name)
    for place, (of, y) in enumerate(numbers(draw, predictive)):
        values, weights = of.grid
        for level, cut in zip((0.1, 0.5, 0.9), of.quantiles((0.1, 0.5, 0.9)).T, strict=True):
            predicted = (weights * ((values < cut[:, None]) + (values == cut[:, None]) / 2)).sum(axis=1)
            happened = (y < cut) + (y == cut) / 2
            for where, rows in slices(mechanism, draw).items():
                residual = happened - predicted
                bound = LIMIT * error_of_mean(mechanism, draw, residual, rows) + 0.004
                assert abs(residual[rows].mean()) < bound, f"{name} {place} {level} {where} {residual[rows].mean()}"


def test_noise_in_the_training_part_alone_changes_no_prediction():
    for name in CLASS_LINKS:
        link = LINKS[name]
        draw = draw_rows(gapped(link), Streams(SECRET, "noise"), range(300), is_train=False)
        clean, noisy = (posterior(gapped(link, noise), draw.observed) for noise in (None, noise_of(link, "train")))
        np.testing.assert_array_equal(clean.probabilities, noisy.probabilities)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(CLASS_TASKS), st.integers(0, 30), st.sampled_from(SplitKind))
@example((TargetKind.MULTICLASS, MetricName.ACCURACY), 2, SplitKind.GROUPED)
@pytest.mark.slow
def test_designs_have_calibrated_posteriors(task, slot, split):
    mechanism = make_spec(*task, slot, split=split).mechanism
    draw = draw_rows(mechanism, Streams(SECRET, f"slot {slot}"), range(8000), is_train=False)
    predicted = posterior(mechanism, draw.observed).probabilities
    np.testing.assert_allclose(predicted.sum(axis=1), 1, atol=1e-9)
    everyone = np.ones(len(predicted), dtype=bool)
    for code in range(predicted.shape[1]):
        residual = (draw.target == code) - predicted[:, code]
        assert abs(residual.mean()) < 5 * max(error_of_mean(mechanism, draw, residual, everyone), 1e-4)
