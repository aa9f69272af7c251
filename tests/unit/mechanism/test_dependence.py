"""Columns that depend on each other: factors, identities, units of cells and limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import kstest, norm, spearmanr

from sandmill.errors import ItemRejected
from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.limits import breaks_a_limit
from sandmill.mechanism.units import as_written, decode, encode
from sandmill.models.columns import Categorical, Column, Conversion, Cycle, Identity, LogNormal, Normal, Uniform, Unit
from sandmill.models.faults import Missing, Outliers
from sandmill.models.knowledge import Order
from sandmill.models.links import BinaryLink
from sandmill.models.mechanism import Exclusion, Mechanism
from sandmill.models.motifs import Linear, Term
from sandmill.rng import Streams
from tests.factor_mechanisms import random_mechanism

STREAMS = Streams(b"a secret", "dependence")
ROWS = 20_000


def mechanism(*columns: Column, **parts: object) -> Mechanism:
    first = next(column.name for column in columns if isinstance(column.distribution, Normal | LogNormal | Uniform))
    terms = (Term(motif=Linear(column=first), weights=(1.0,)),)
    return Mechanism.model_validate({"columns": columns, "terms": terms, "link": BinaryLink(intercept=0), **parts})


def draw(of: Mechanism, rows: int = ROWS):
    return draw_rows(of, STREAMS, range(rows), is_train=False)


def test_loadings_correlate_columns_and_leave_each_as_declared():
    levels = Categorical(levels=("a", "b", "c"), shares=(0.2, 0.5, 0.3), order=(2, 0, 1))
    columns = (
        Column(name="x", distribution=Normal(mean=5, sd=2), decimals=4, loadings=(0.9, 0.0)),
        Column(name="y", distribution=LogNormal(median=9, sigma=0.6), decimals=4, loadings=(0.8, 0.5)),
        Column(name="v", distribution=Uniform(low=1, high=4), decimals=4, loadings=(-0.6,)),
        Column(name="g", distribution=levels, loadings=(0.7, 0.2)),
        Column(name="free", distribution=Normal(mean=0, sd=1), decimals=4),
    )
    cells = draw(mechanism(*columns)).complete
    scores = {"x": (cells["x"] - 5) / 2, "y": np.log(cells["y"] / 9) / 0.6, "v": norm.ppf((cells["v"] - 1) / 3)}
    for score in scores.values():
        assert kstest(score, "norm").statistic < 1.95 / np.sqrt(ROWS)
    for left, right, wanted in (("x", "y", 0.72), ("x", "v", -0.54), ("y", "v", -0.48)):
        assert abs(np.corrcoef(scores[left], scores[right])[0, 1] - wanted) < 0.02
    np.testing.assert_allclose(np.bincount(cells["g"].astype(int)) / ROWS, (0.2, 0.5, 0.3), atol=0.015)
    means = [scores["x"][cells["g"] == code].mean() for code in (2, 0, 1)]
    assert means[0] < means[1] - 0.3 < means[2] - 0.6
    for name in ("x", "y", "v"):
        assert abs(spearmanr(cells["free"], cells[name])[0]) < 4.5 / np.sqrt(ROWS)


@pytest.mark.parametrize(
    ("how", "of", "expected"),
    [
        ("sum", ("x", "y", "z"), lambda c: c["x"] + c["y"] + c["z"]),
        ("difference", ("x", "y"), lambda c: c["x"] - c["y"]),
        ("product", ("x", "y"), lambda c: c["x"] * c["y"]),
        ("quotient", ("x", "y"), lambda c: c["x"] / c["y"]),
    ],
)
def test_identities_are_exact(how, of, expected):
    columns = (
        Column(name="total", distribution=Identity(how=how, of=of), decimals=1),
        Column(name="x", distribution=Normal(mean=5, sd=2), decimals=2),
        Column(name="y", distribution=LogNormal(median=9, sigma=0.6), decimals=2),
        Column(name="z", distribution=Uniform(low=1, high=4), decimals=2),
    )
    rows = draw(mechanism(*columns), 500)
    np.testing.assert_array_equal(rows.complete["total"], np.round(expected(rows.complete), 1))
    np.testing.assert_array_equal(rows.complete["total"], rows.observed["total"])


CONVERTED = (
    Column(
        name="x",
        distribution=Normal(mean=12, sd=6),
        decimals=1,
        conversion=Conversion(by="site", factors=(1.0, 1.8, 0.4536), offsets=(0.0, 32.0, 0.0)),
    ),
    Column(
        name="y",
        distribution=LogNormal(median=3, sigma=1.5),
        decimals=2,
        conversion=Conversion(by="site", factors=(1.0, 0.01, 25.4), offsets=(0.0, 5.0, -1.234)),
    ),
)
SITE = Column(name="site", distribution=Categorical(levels=("a", "b", "c"), shares=(0.4, 0.3, 0.3)))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(CONVERTED), st.integers(0, 2), st.lists(st.floats(0.001, 1e5), min_size=1, max_size=30))
def test_units_round_trip_exactly(column, code, values):
    codes = np.full(len(values), float(code))
    written = encode(column, np.array(values), codes)
    true = decode(column, written, codes)
    np.testing.assert_array_equal(encode(column, true, codes), written)
    np.testing.assert_array_equal(written, np.round(written, column.decimals))
    if isinstance(column.distribution, LogNormal):
        assert (true > 0).all()


def test_cells_are_what_their_written_numbers_stand_for():
    faults = (Missing(column="x", given="w", rate=0.2), Outliers(column="y", rate=0.2, spread=3.0))
    plain = Column(name="w", distribution=Normal(mean=0, sd=1))
    total = Column(name="both", distribution=Identity(how="sum", of=("w", "w")), decimals=2)
    rows = draw(mechanism(*CONVERTED, SITE, plain, total, pathologies=faults), 2000)
    for column in CONVERTED:
        for cells in (rows.complete, rows.observed):
            again = as_written(column, cells[column.name], cells)
            np.testing.assert_array_equal(cells[column.name], again)
    hidden = np.isnan(rows.observed["x"])
    assert 0.1 < hidden.mean() < 0.3
    np.testing.assert_array_equal(rows.observed["x"][~hidden], rows.complete["x"][~hidden])
    predicted = posterior(mechanism(*CONVERTED, SITE, plain, total, pathologies=faults), rows.observed).probabilities
    assert np.isfinite(predicted).all()


LIMITED = (
    Column(name="low", distribution=Normal(mean=3, sd=2), decimals=1, loadings=(0.5,)),
    Column(name="high", distribution=Normal(mean=4, sd=2), decimals=1, loadings=(0.5,)),
    Column(name="g", distribution=Categorical(levels=("a", "b"), shares=(0.5, 0.5))),
    Column(name="w", distribution=Normal(mean=0, sd=1)),
)
LIMITS = (Order(lower="low", upper="high"), Exclusion(column="high", below=5, by="g", levels=(1,)))


def test_no_row_breaks_a_limit_and_the_rest_stays_as_it_was():
    free, limited = draw(mechanism(*LIMITED)), draw(mechanism(*LIMITED, limits=LIMITS))
    possible = ~breaks_a_limit(mechanism(*LIMITED, limits=LIMITS), free.complete)
    assert 0.3 < possible.mean() < 0.7
    assert not breaks_a_limit(mechanism(*LIMITED, limits=LIMITS), limited.complete).any()
    for name in free.complete:
        np.testing.assert_array_equal(free.complete[name][possible], limited.complete[name][possible])
        # Rejection sampling: the limited law is the free one, given that no limit is broken.
        assert abs(limited.complete[name].mean() - free.complete[name][possible].mean()) < 0.06


def test_limits_that_nearly_no_row_meets_are_refused():
    limit = Exclusion(column="w", below=8, by="g", levels=(0, 1))
    with pytest.raises(ItemRejected, match="impossible_limits"):
        draw(mechanism(*LIMITED, limits=(limit,)), 200)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 150), st.integers(1, 40))
def test_a_row_does_not_depend_on_the_range_it_is_drawn_in(seed, start, length):
    of = random_mechanism(seed)
    whole, part = (draw_rows(of, STREAMS, rows, is_train=True) for rows in (range(200), range(start, start + length)))
    for name in whole.complete:
        np.testing.assert_array_equal(
            part.complete[name], whole.complete[name][start : start + length][: len(part.target)]
        )
    for name in whole.observed:
        np.testing.assert_array_equal(part.observed[name], whole.observed[name][start : start + length])


def test_what_cannot_be_is_refused():
    number = Column(name="x", distribution=Normal(mean=0, sd=1))
    with pytest.raises(ValidationError, match="a cycle column has no loadings"):
        Column(name="c", distribution=Cycle(first=0, period=7), loadings=(0.5,))
    with pytest.raises(ValidationError, match="no unit to convert"):
        SITE.model_validate({**SITE.model_dump(), "conversion": CONVERTED[0].conversion})
    quotient = Column(name="q", distribution=Identity(how="quotient", of=("w", "x")))
    with pytest.raises(ValidationError, match="the divisor of a quotient must be lognormal"):
        mechanism(number, LIMITED[3], quotient)
    total = Column(name="t", distribution=Identity(how="sum", of=("w", "x")))
    with pytest.raises(ValidationError, match="x has cell faults, so no other part may depend on it"):
        mechanism(number, LIMITED[3], total, pathologies=(Outliers(column="x", rate=0.1, spread=4.0),))
    ward = Column(name="ward", distribution=Unit(prefix="W", size=3))
    shared = number.model_copy(update={"unit": "ward"})
    with pytest.raises(ValidationError, match="x belongs to a unit, so no limit may read it"):
        mechanism(LIMITED[3], ward, shared, limits=(Order(lower="x", upper="w"),))
    with pytest.raises(ValidationError, match="y is used but is not a column"):
        mechanism(number, limits=(Order(lower="x", upper="y"),))
