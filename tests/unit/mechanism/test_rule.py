"""Every motif does what its name says."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.mechanism.rule import EARTH_KM, SUBGROUP, UNIT_EFFECT, evaluate_motif, evaluate_term, great_circle_km
from sandmill.models import motifs as m
from sandmill.models.columns import Categorical, Column, Date, LogNormal, Normal, Unit

COLUMNS = {
    column.name: column
    for column in (
        Column(name="n", distribution=Normal(mean=10, sd=2)),
        Column(name="m", distribution=Normal(mean=0, sd=1)),
        Column(name="lat", distribution=Normal(mean=9, sd=4)),
        Column(name="lon", distribution=Normal(mean=0, sd=1)),
        Column(name="p", distribution=LogNormal(median=4, sigma=0.5)),
        Column(name="q", distribution=LogNormal(median=2, sigma=1.0)),
        Column(name="g", distribution=Categorical(levels=("a", "b"), shares=(0.5, 0.5))),
        Column(name="h", distribution=Categorical(levels=("c", "d", "e"), shares=(0.5, 0.25, 0.25))),
        Column(name="day", distribution=Date(first=date(2020, 1, 1), days=365)),
        Column(name="ward", distribution=Unit(prefix="W", size=4)),
    )
}
CALLS = m.Aggregate(how="sum", kinds=(1,), days=30)
VALUES = {
    "n": np.array([12.0, 7.0]),
    "m": np.array([-0.5, 0.25]),
    "p": np.array([8.0, 4.0]),
    "q": np.array([2.0, 1.0]),
    "g": np.array([0.0, 1.0]),
    "h": np.array([2.0, 1.0]),
    "day": np.array([100.0, 101.0]),
    "ward": np.array([0.0, 3.0]),
    SUBGROUP: np.array([1.0, 0.0]),
    UNIT_EFFECT: np.array([0.7, -1.1]),
    "lat": np.array([13.0, 5.0]),
    "lon": np.array([-0.5, 0.25]),
    CALLS.key: np.array([3.5, 0.0]),
}
DEGREE_KM = np.radians(EARTH_KM)
"""A degree along a meridian."""
CASES = [
    (m.Linear(column="n"), [1.0, -1.5]),
    (m.Curve(column="n"), [1.0, 2.25]),
    (m.Saturation(column="m", steepness=2.0), np.tanh([-1.0, 0.5])),
    (m.Threshold(column="n", cut=7.0), [1, 0]),
    (m.BetweenCuts(column="n", low=6.5, high=7.0), [0, 1]),
    (m.BetweenCuts(column="n", low=7.0, high=11.0), [0, 0]),
    (m.Periodic(column="day", period=40.0, phase=0.0), np.sin(2 * np.pi * np.array([2.5, 2.525]))),
    (m.Ratio(numerator="p", denominator="q"), np.log([4.0, 4.0])),
    (m.Difference(left="n", right="m"), [1.5, -1.75]),
    (m.Interaction(left="n", right="m"), [-0.5, -0.375]),
    (m.Bottleneck(left="n", right="m"), [-0.5, -1.5]),
    (m.Lookup(column="h", effects=(0.1, 0.2, 0.3)), [0.3, 0.2]),
    (m.CrossedLookup(left="g", right="h", effects=((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))), [3.0, 5.0]),
    (m.VaryingSlope(column="n", by="g", slopes=(2.0, -1.0)), [2.0, 1.5]),
    (m.LocalRule(column="n"), [1.0, 0.0]),
    (m.Drift(column="day", starts=(50.5, 100.5), levels=(1.0, 2.0, 3.0)), [2.0, 3.0]),
    (m.UnitEffect(column="ward"), [0.7, -1.1]),
    (m.Formula(top=(("p", "q"), ("q",)), bottom=(("p",),)), np.log([2.5, 1.25])),
    (m.Formula(top=(("p",), ("p",))), np.log([64.0, 16.0])),
    (m.Formula(top=(("p",), ("p",)), above=20.0), [1.0, 0.0]),
    (m.Formula(top=(("p",), ("p",)), norm=32.0), np.log([2.0, 2.0])),
    (m.Conditional(when=(m.Condition(column="n", above=7.0), m.Condition(column="h", levels=(1, 2)))), [1, 0]),
    (m.Conditional(column="m", when=(m.Condition(column="n", at_most=7.0),)), [0, 0.25]),
    (m.NormDistance(column="n", by="g", norms=(10.0, 11.0)), [1.0, 2.0]),
    (m.CodeValue(column="h", attribute="height", values=(5.0, 6.0, 7.5)), [7.5, 6.0]),
    (CALLS, [3.5, 0.0]),
    (m.KnownUnit(left="g", right="h", effects=((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))), [3.0, 5.0]),
    (m.Distance(start=("lat", "lon"), end=("n", "m")), np.log1p([DEGREE_KM, 2 * DEGREE_KM])),
    (m.Distance(start=("lat", "lon"), end=("n", "m"), above=150.0), [0.0, 1.0]),
    (m.Distance(start=("lat", "lon"), end=("n", "m"), norm=DEGREE_KM), [0.0, np.log(2)]),
]


@pytest.mark.parametrize(("motif", "expected"), CASES, ids=lambda case: getattr(case, "motif", ""))
def test_a_motif_has_its_value(motif, expected):
    np.testing.assert_allclose(evaluate_motif(motif, COLUMNS, VALUES), expected)
    term = m.Term(motif=motif, center=1.0, scale=2.0, weights=(1.0,))
    np.testing.assert_allclose(evaluate_term(term, COLUMNS, VALUES), (np.asarray(expected) - 1) / 2)


def test_every_kind_of_motif_is_tried():
    kinds = {of.model_fields["motif"].default for of in m.Motif.__origin__.__args__}
    assert {motif.motif for motif, _ in CASES} == kinds


@given(st.floats(-80, 80), st.floats(-179, 179), st.floats(-80, 80), st.floats(-179, 179))
def test_the_haversine_formula_is_the_angle_between_two_points_of_a_sphere(latitude, longitude, other, further):
    def point(north, east):
        north, east = np.radians(north), np.radians(east)
        return np.array([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])

    left, right = point(latitude, longitude), point(other, further)
    angle = np.arctan2(np.linalg.norm(np.cross(left, right)), left @ right)
    found = great_circle_km(*map(np.asarray, (latitude, longitude, other, further)))
    assert found == pytest.approx(EARTH_KM * angle, rel=1e-6, abs=1e-3)
