"""The posterior with units of both files and with distances: exact, whatever is hidden beside them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.rule import EARTH_KM, great_circle_km, latent_score
from sandmill.models.columns import Categorical, Column, Normal
from sandmill.models.faults import Missing
from sandmill.models.links import BinaryLink, GaussianLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Curve, Distance, KnownUnit, Term
from sandmill.rng import Streams
from tests.designs import SECRET

ROWS = 6000
LIMIT = 4.5
"""Standard errors."""
SHAPES = ({}, {"above": 60.0}, {"norm": 70.0})
LATITUDES, LONGITUDES = st.floats(-80, 80), st.floats(-179, 179)


def levels(count):
    return Categorical(levels=tuple(f"l{code}" for code in range(count)), shares=(1 / count,) * count)


def mechanism(seed: int, shape: dict[str, float], link=BinaryLink(intercept=-0.4)) -> Mechanism:  # noqa: B008
    rng = np.random.default_rng(seed)
    loads = [tuple(np.round(rng.uniform(-0.6, 0.6, 2), 3)) for _ in range(4)]
    places = [
        Column(name=name, distribution=Normal(mean=mean, sd=sd), decimals=4, loadings=load)
        for (name, mean, sd), load in zip(
            (("a_lat", 50, 0.5), ("a_lon", 9, 0.7), ("b_lat", 50.2, 0.4), ("b_lon", 9.1, 0.6)), loads, strict=True
        )
    ]
    columns = (
        *places,
        Column(name="hall", distribution=levels(4), decimals=0, loadings=(0.5, 0.3)),
        Column(name="post", distribution=levels(6), decimals=0),
        Column(name="x", distribution=Normal(mean=0, sd=1), loadings=(0.6, -0.4)),
        Column(name="y", distribution=Normal(mean=0, sd=1), loadings=(0.2, 0.7)),
    )
    effects = tuple(tuple(row) for row in rng.normal(size=(4, 6)).round(4))
    way = Distance(start=("a_lat", "a_lon"), end=("b_lat", "b_lon"), **shape)
    terms = (
        Term(motif=KnownUnit(left="hall", right="post", effects=effects), weights=(1.0,)),
        Term(motif=way, center=0.5, scale=0.8, weights=(0.9,)),
        Term(motif=Curve(column="x"), center=1.0, scale=1.4, weights=(0.8,)),
    )
    gaps = (Missing(column="x", given="y", rate=0.3, slope=0.4),)
    return Mechanism(columns=columns, terms=terms, link=link, pathologies=gaps)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SHAPES))
def test_frequencies_within_units_and_ranges_of_distance_are_the_predicted_ones(seed, shape):
    made = mechanism(seed, shape)
    draw = draw_rows(made, Streams(SECRET, f"own {seed}"), range(ROWS), is_train=False)
    chance = posterior(made, draw.observed).probabilities[:, 1]
    residual, cells = (draw.target == 1) - chance, draw.observed
    way = great_circle_km(*(cells[name] for name in ("a_lat", "a_lon", "b_lat", "b_lon")))
    unit = cells["hall"] * 6 + cells["post"]
    groups = [unit == code for code in range(24)]
    groups += [np.isin(np.arange(ROWS), part) for part in np.array_split(np.argsort(way), 6)]
    groups += [np.isnan(cells["x"]) & (cells["hall"] == code) for code in range(4)]
    for rows in groups:
        error = np.sqrt((chance[rows] * (1 - chance[rows])).sum()) / rows.sum()
        assert abs(residual[rows].mean()) < LIMIT * error


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: next(iter(shape), "plain"))
def test_without_hidden_cells_the_posterior_is_that_of_the_score(shape):
    made = mechanism(3, shape)
    draw = draw_rows(made, Streams(SECRET, "whole"), range(400), is_train=False)
    whole = {name: draw.complete[name] for name in draw.observed}
    expected = expit(-0.4 + latent_score(made, whole)[:, 0])
    np.testing.assert_allclose(posterior(made, whole).probabilities[:, 1], expected, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: next(iter(shape), "plain"))
def test_a_number_has_the_mean_that_the_level_of_its_unit_and_its_distance_give(shape):
    made = mechanism(5, shape, GaussianLink(location=10, scale=2, noise=0.5))
    draw = draw_rows(made, Streams(SECRET, "number"), range(ROWS), is_train=False)
    predicted = posterior(made, draw.observed)
    hidden = np.isnan(draw.observed["x"])
    score = latent_score(made, {name: draw.complete[name] for name in draw.observed})[:, 0]
    np.testing.assert_allclose(predicted.mean[~hidden], 10 + 2 * score[~hidden], atol=1e-9)
    residual = (draw.target - predicted.mean)[hidden]
    assert abs(residual.mean()) < LIMIT * residual.std() / np.sqrt(hidden.sum())


@given(LATITUDES, LONGITUDES, LATITUDES, LONGITUDES)
def test_the_haversine_formula_is_the_angle_between_two_points_of_a_sphere(latitude, longitude, other, further):
    def point(north: float, east: float) -> np.ndarray:
        north, east = np.radians(north), np.radians(east)
        return np.array([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])

    left, right = point(latitude, longitude), point(other, further)
    angle = np.arctan2(np.linalg.norm(np.cross(left, right)), left @ right)
    found = great_circle_km(*map(np.asarray, (latitude, longitude, other, further)))
    assert found == pytest.approx(EARTH_KM * angle, rel=1e-6, abs=1e-3)
    back = great_circle_km(*map(np.asarray, (other, further, latitude, longitude)))
    assert found == pytest.approx(float(back), abs=1e-9)
