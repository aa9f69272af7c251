"""Every domain is rich, plausible and unlike the others, and what is designed in it passes the gates."""

import re
from collections import Counter
from datetime import date, timedelta
from itertools import combinations

import pytest

from sandmill.check import check_package
from sandmill.design import design_task, grammar
from sandmill.draw import render
from sandmill.kinds.library import load_domains
from sandmill.models.base import Band
from sandmill.models.columns import LogNormal, Normal
from sandmill.models.plan import Slot
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_seed

DOMAINS = load_domains()
TEST = {"feedback": 1500, "final": 3000}
"""Rows as most published tests have."""
EACH = pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)


def _columns(domain):
    return (*domain.numeric, *domain.categorical, *domain.high_cardinality, *domain.dates, *domain.units)


def _targets(domain):
    targets = domain.targets
    numbers = (*targets.regression, *targets.ordinal, *targets.count)
    return (*targets.binary, *targets.multiclass, *numbers, *targets.multilabel)


def _labels(domain):
    return [label for target in domain.targets.multilabel for label in target.labels]


def _vocabulary(domain):
    """Whatever can head a column of train.csv."""
    return [word.name for word in (*_columns(domain), *_targets(domain))] + _labels(domain)


def _values(domain):
    """Levels, classes and labels, each with the column they belong to."""
    levels = [(word.name, level) for word in domain.categorical for level in word.levels]
    classes = [(target.name, name) for target in domain.targets.multiclass for name in target.classes]
    return levels + classes + [(target.name, name) for target in domain.targets.multilabel for name in target.labels]


@EACH
def test_a_domain_offers_enough_of_everything(domain):
    assert len(domain.numeric) >= 14
    assert len(domain.categorical) >= 5
    assert min(len(domain.ratios), len(domain.products)) >= 7
    assert len(domain.periods) >= 3
    assert len({period for _, period in domain.periods}) >= 2
    assert len(domain.high_cardinality) >= 2
    assert min(len(domain.dates), len(domain.units)) >= 1
    assert {len(word.levels) for word in domain.categorical} <= set(range(2, 13))
    assert len({len(word.levels) for word in domain.categorical}) >= 2
    assert 3 <= len(domain.overview) <= 5
    targets = domain.targets
    assert len(targets.binary) >= 3
    assert len(targets.multiclass) >= 2
    assert len(targets.regression) >= 4
    assert min(len(targets.ordinal), len(targets.count), len(targets.multilabel)) >= 1
    assert min(len(target.classes) for target in targets.multiclass) >= 9
    assert min(len(target.labels) for target in targets.multilabel) >= 6


@EACH
def test_dates_say_so_and_span_one_to_three_years_of_the_recent_past(domain):
    for word in domain.dates:
        assert word.name.endswith("_on")
        assert re.match(r"Date (on which|of) ", word.meaning), word.name
        assert date(2015, 1, 1) <= word.first <= date(2023, 12, 31)
        assert word.first + timedelta(days=word.days) <= date(2025, 12, 31)
        assert 400 <= word.days <= 1100


@EACH
def test_pairs_are_distinct_and_one_never_leaves_the_other_kind_without_a_free_pair(domain):
    ratios, products = ([frozenset(pair) for pair in pairs] for pairs in (domain.ratios, domain.products))
    assert {len(pair) for pair in (*ratios, *products)} == {2}
    assert len({*ratios, *products}) == len(ratios) + len(products)
    for first, second in ((ratios, products), (products, ratios)):
        assert all(any(not pair & other for other in second) for pair in first)
    # Nobody learns from a name whether its column is in a pair: all that can be in one are, none in many.
    numeric = {word.name for word in domain.numeric}
    of_ratios, of_products = (Counter(name for pair in pairs for name in pair) for pairs in (ratios, products))
    lognormal = {word.name for word in domain.numeric if isinstance(word.distribution, LogNormal)}
    assert lognormal - set(of_ratios) == set()
    assert numeric - {name for name, _ in domain.periods} - set(of_products) == set()
    assert max(*of_ratios.values(), *of_products.values()) <= 5


def test_two_domains_share_hardly_a_word():
    for first, second in combinations(DOMAINS, 2):
        assert len({*_vocabulary(first)} & {*_vocabulary(second)}) <= 2, (first.name, second.name)
        values = ({value for _, value in _values(domain)} for domain in (first, second))
        assert len(set.intersection(*values)) <= 4, (first.name, second.name)


@pytest.mark.parametrize(
    ("domain", "hardness"),
    [
        pytest.param(
            domain, hardness, marks=[pytest.mark.slow] if place % 4 != 2 * hardness else [], id=f"{domain.name}-{h}"
        )
        for place, domain in enumerate(DOMAINS)
        for h, hardness in (("easy", 0), ("hard", 1))
    ],
)
def test_designs_of_a_domain_pass_every_gate(domain, hardness, monkeypatch):
    """Domains take turns; three in four are slow."""
    monkeypatch.setattr(grammar, "load_domains", lambda: (domain,))
    target, metric = TASKS[(hardness + DOMAINS.index(domain)) % len(TASKS)]
    slot = Slot(number=hardness, seed=make_seed(target, metric), band=Band.MEDIUM)
    spec = design_task(slot, Streams(SECRET, f"domain {hardness}"), float(hardness))
    assert spec.domain == domain.name
    small = spec.model_copy(update={"sizes": spec.sizes.model_copy(update=TEST)})
    assert check_package(render(small, SECRET).package) == []


@EACH
def test_no_unit_is_so_coarse_that_rounding_takes_a_column_away(domain):
    words = {word.name: word for word in domain.numeric}
    for conversion in domain.knows.conversions:
        word = words[conversion.column]
        law = word.distribution
        deviation = law.sd if isinstance(law, Normal) else law.median * law.sigma
        for unit in conversion.units:
            assert 10.0**-word.decimals < 0.25 * unit.factor * deviation, (word.name, unit.unit)
