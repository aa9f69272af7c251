"""Draws follow the declaration: shifts, trends, and faults at their rates."""

import numpy as np
import pytest
from scipy.special import expit

from sandmill.mechanism import draw_rows
from sandmill.mechanism.rule import SUBGROUP, UNIT_EFFECT
from sandmill.rng import Streams
from tests.mechanisms import LINKS, doubtful, gapped

ROWS = 20_000
STREAMS = Streams(b"a secret", "sampling")


@pytest.fixture(scope="module")
def gaps():
    return draw_rows(gapped(LINKS["binary"]), STREAMS, range(ROWS), is_train=False)


@pytest.fixture(scope="module")
def doubts():
    return draw_rows(doubtful(LINKS["binary"]), STREAMS, range(ROWS), is_train=False)


def test_a_column_moves_with_its_category_and_with_the_date(gaps, doubts):
    for draw, name, mean, sd, per_year in ((gaps, "x", 0.0, 1.0, 0.9), (doubts, "o", -3.0, 0.5, -0.7)):
        cells = (draw.complete[name] - mean) / sd
        for level, amount in enumerate((-0.8, 0.0, 1.0)):
            rows = draw.complete["g"] == level
            slope, start = np.polyfit(draw.complete["day"][rows] / 365, cells[rows], 1)
            error = 4.5 / np.sqrt(rows.sum())
            assert abs(start - amount) < 2 * error
            assert abs(slope - per_year) < 4 * error
        rest = (
            cells - np.array((-0.8, 0.0, 1.0))[draw.complete["g"].astype(int)] - per_year * draw.complete["day"] / 365
        )
        assert abs(rest.std() - 1) < 0.03


def test_gaps_occur_as_their_parent_says(gaps):
    z = (gaps.complete["w"] - 5) / 2
    for name, rate, slope in (("x", 0.3, 0.7), ("z", 0.2, -0.5)):
        hit = np.isnan(gaps.observed[name])
        chance = expit(np.log(rate / (1 - rate)) + slope * z)
        for rows in (slice(None), z > 1, z < -1):
            spread = np.sqrt((chance[rows] * (1 - chance[rows])).sum())
            assert abs(hit[rows].sum() - chance[rows].sum()) < 4.5 * spread
        np.testing.assert_array_equal(gaps.observed[name][~hit], gaps.complete[name][~hit])


def test_units_are_mixed_up_and_errors_are_gross_at_their_rates(doubts):
    true, seen = doubts.complete["u"], doubts.observed["u"]
    mixed = seen != true
    assert abs(mixed.mean() - 0.15) < 4.5 * np.sqrt(0.15 * 0.85 / ROWS)
    np.testing.assert_allclose(seen[mixed] / true[mixed], 25.4, rtol=2e-2)
    wrong = doubts.observed["o"] != doubts.complete["o"]
    assert abs(wrong.mean() - 0.2) < 4.5 * np.sqrt(0.2 * 0.8 / ROWS) + 1e-3
    amounts = np.array((-0.8, 0.0, 1.0))[doubts.complete["g"].astype(int)] - 0.7 * doubts.complete["day"] / 365
    error = ((doubts.observed["o"] + 3) / 0.5 - amounts)[wrong]
    assert abs(error.mean()) < 4.5 * 5 / np.sqrt(wrong.sum())
    assert abs(error.std() / 5 - 1) < 0.06
    truth = doubts.complete["o"][wrong]
    assert abs(np.corrcoef(error, truth)[0, 1]) < 4.5 / np.sqrt(wrong.sum())


def test_nobody_sees_what_is_hidden(gaps, doubts):
    assert set(doubts.complete) - set(doubts.observed) == {SUBGROUP}
    assert set(gaps.complete) - set(gaps.observed) == {UNIT_EFFECT}
    for level, share in enumerate((0.1, 0.5, 0.8)):
        members = doubts.complete[SUBGROUP][doubts.complete["g"] == level]
        assert abs(members.mean() - share) < 4.5 * np.sqrt(share * (1 - share) / len(members))
    effects = np.unique(gaps.complete[UNIT_EFFECT])
    assert abs(effects.mean()) < 4.5 / np.sqrt(len(effects))
    assert abs(effects.std() - 1) < 0.05
