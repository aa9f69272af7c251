"""Designs take dependences from what their domain knows, and stay as they are where it knows nothing."""

import numpy as np
import pytest
import yaml
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from sandmill.design import grammar
from sandmill.design.columns import identity_columns, limits_of, load_columns
from sandmill.design.motifs import HIDDEN_KINDS, PLAIN_KINDS
from sandmill.design.prior_graph import (
    CHANCE_OF_FLIP,
    CHANCE_OF_PRIORS,
    draw_priors,
    orient_terms,
    spread_for,
    with_noise,
)
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.kinds.library import load_domains
from sandmill.mechanism import draw_rows
from sandmill.mechanism.limits import breaks_a_limit
from sandmill.mechanism.rule import latent_score
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Column, Identity
from sandmill.models.domain import Domain
from sandmill.models.faults import Missing, Outliers, UnitMixup
from sandmill.models.knowledge import Knowledge, Order, Prior, TargetPrior
from sandmill.models.links import BinaryLink, GaussianLink, NumbersLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Linear, Term, columns_of
from sandmill.models.plan import Slot
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import ColumnMix, MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.rng import Streams
from tests.data import DATA
from tests.designs import SECRET, make_seed
from tests.hinted_designs import KNOWING
from tests.unit.design.test_grammar import frames

KNOWN = Domain.model_validate(yaml.safe_load((DATA / "known_domain.yaml").read_text("utf-8")))
BARE = KNOWN.model_copy(update={"knows": Knowledge()})
"""The same domain without knowledge."""
TASKS = ((TargetKind.BINARY, MetricName.ROC_AUC), (TargetKind.REGRESSION, MetricName.RMSE))


@pytest.fixture
def designs(monkeypatch):
    def make(domain: Domain, slots: range, tasks=TASKS) -> list[TaskSpec]:
        monkeypatch.setattr(grammar, "load_domains", lambda: (domain,))
        found = []
        for target, metric in tasks:
            for slot in slots:
                split = SplitKind.GROUPED if slot % 3 == 1 else SplitKind.RANDOM
                seed = make_seed(target, metric, split=split, pathologies=(PathologyKind.OUTLIERS,))
                undeclared = seed.structure.model_copy(update={"columns": ColumnMix()})
                seed = seed.model_copy(update={"structure": undeclared})
                streams = Streams(SECRET, "plan").child(f"slot {slot}")
                found.append(grammar.design_task(Slot(number=slot, seed=seed, band=Band.MEDIUM), streams, 0.5))
        return found

    return make


def test_identities_and_limits_fit_the_chosen_columns(designs):
    identities, limits = set(), set()
    for spec in designs(KNOWN, range(5)):
        mechanism, columns = spec.mechanism, spec.mechanism.column_by_name
        faulty = {fault.column for fault in mechanism.pathologies if isinstance(fault, Missing | Outliers | UnitMixup)}
        cells = draw_rows(mechanism, Streams(SECRET, "rows"), range(2000), is_train=False).complete
        for column in mechanism.columns:
            law = column.distribution
            if isinstance(law, Identity):
                identities.add(column.name)
                assert set(law.of) <= columns.keys() - faulty
                assert spec.story.column_meanings[column.name]
                assert abs(cells[column.name].mean() - law.center) < 0.25 * law.scale
                assert 0.8 < cells[column.name].std() / law.scale < 1.25
        for limit in mechanism.limits:
            pair = (limit.lower, limit.upper) if isinstance(limit, Order) else (limit.column, limit.by)
            assert all(columns[name].unit is None for name in pair)
            limits.add(pair)
        if {"length_m", "weight_kg"} <= columns.keys():
            assert Order(lower="length_m", upper="weight_kg") in mechanism.limits
        if {"noise_db", "gate"} <= columns.keys():
            codes = tuple(columns["gate"].distribution.levels.index(level) for level in ("east", "west"))
            ends = {(limit.below, limit.above) for limit in mechanism.limits if getattr(limit, "levels", ()) == codes}
            assert ends == {(20.0, None), (None, 34.0)}
        if mechanism.limits:
            assert not breaks_a_limit(mechanism, cells).any()
    assert identities == {"load_kg_m", "warmth"}, "a quotient by a column that can be 0 is left out"
    assert len(limits) >= 2


def test_the_rule_has_the_wanted_variance_where_terms_are_correlated(designs):
    """The sum of weights squared is the variance that independent terms would have; numbers want 1."""
    for domain in (BARE, KNOWN):
        for spec in designs(domain, range(5), TASKS[1:]):
            rows = draw_rows(spec.mechanism, Streams(SECRET, "variance"), range(8000), is_train=False)
            spread = float(latent_score(spec.mechanism, rows.complete).std())
            background = sum(term.motif.motif in ("drift", "unit_effect") for term in spec.mechanism.terms)
            assert abs(spread - np.sqrt(1 + 0.12 * background)) < 0.12, spec.mechanism.motif_names


def test_limits_of_every_domain_leave_most_rows():
    """Rows that break a limit are drawn again, so limits must not distort what the domain declares."""
    for domain in (*load_domains(), KNOWN):
        streams, knows = Streams(SECRET, domain.name), domain.knows
        numbers = [
            Column(name=word.name, distribution=word.distribution, decimals=word.decimals) for word in domain.numeric
        ]
        named = []
        for word in domain.categorical:
            share = round(1 / len(word.levels), 4)
            shares = (*[share] * (len(word.levels) - 1), 1 - share * (len(word.levels) - 1))
            named.append(Column(name=word.name, distribution=Categorical(levels=word.levels, shares=shares)))
        columns = load_columns([*numbers, *named], knows, streams)
        free = Mechanism(
            columns=(*columns, *identity_columns(columns, knows, streams)),
            terms=(Term(motif=Linear(column=numbers[0].name), weights=(1.0,)),),
            link=BinaryLink(intercept=0),
        )
        if limits := limits_of(columns, knows):
            cells = draw_rows(free, streams, range(1000), is_train=False).complete
            broken = breaks_a_limit(free.model_copy(update={"limits": limits}), cells)
            assert broken.mean() < 0.4, domain.name


ACTS = [(domain, prior) for domain in KNOWING for prior in domain.knows.targets.values()]


def prior(**fields):
    return TargetPrior(acts=(Prior(columns=("a",), form="linear"),) * 4, **fields)


def test_edges_of_the_graph_become_motifs_and_some_are_wrong():
    used, right_columns, right_signs, columns, signs = 0, 0, 0, 0, 0
    words = {domain.name: choose_vocabulary(domain, frames()[0], Streams(SECRET, domain.name)) for domain in KNOWING}
    for place in range(200):
        domain, known = ACTS[place % len(ACTS)]
        priors = draw_priors(known, words[domain.name], (), np.random.default_rng(place))
        used += bool(priors.motifs)
        read = [name for motif in priors.motifs for name in columns_of(motif)]
        assert len(read) == len(set(read))
        by_columns = {(act.form, frozenset(act.columns)): act for act in known.acts}
        for motif in priors.motifs:
            assert motif.motif in (*PLAIN_KINDS, *HIDDEN_KINDS)
            act = by_columns.get((motif.motif, frozenset(columns_of(motif))))
            columns += 1
            right_columns += act is not None
            if act is not None and act.rises is not None:
                signs += 1
                right_signs += priors.signs[columns_of(motif)[0]] == act.rises
    assert abs(used / 200 - CHANCE_OF_PRIORS) < 0.08
    assert 0.75 < right_columns / columns < 0.95
    assert 1 - CHANCE_OF_FLIP < right_signs / signs < 0.95


def test_terms_get_the_sign_of_their_column_for_the_first_output():
    terms = (Term(motif=Linear(column="a"), weights=(-2.0, 1.0)), Term(motif=Linear(column="b"), weights=(-1.0, 1.0)))
    turned = orient_terms(terms, {"a": True, "b": False})
    assert [term.weights for term in turned] == [(2.0, -1.0), (-1.0, 1.0)]
    assert orient_terms(terms, {}) == terms


@pytest.mark.parametrize(
    ("share", "position", "high"), [(0.1, 0.0, 0.98), (0.4, 0.0, 0.9), (0.1, 0.5, 0.9), (0.4, 1.0, 0.98)]
)
def test_the_best_auc_falls_from_that_of_easy_tasks_to_the_lower_end_of_the_domain(share, position, high):
    spread = spread_for(prior(ceiling=(0.7, high)), share, position)
    easiest = max(high, 0.97)
    rng = np.random.default_rng(1)
    score = spread * rng.normal(size=150_000)
    start = np.interp(
        share, [expit(score[:20_000] + b).mean() for b in np.linspace(-12, 6, 80)], np.linspace(-12, 6, 80)
    )
    target = rng.random(len(score)) < expit(score + start)
    assert abs(roc_auc_score(target, score) - (easiest + (0.7 - easiest) * position)) < 0.005


def test_numbers_get_the_noise_of_their_own_range():
    link = GaussianLink(location=1, scale=1, noise=0.3)
    known = {"y": prior(ceiling=(0.5, 0.8)), "z": prior(), "sure": prior(ceiling=(0.5, 0.98))}
    assert with_noise(link, known, "y", 0.0).noise == 0.2041, "R squared of easy tasks is .96 or more"
    assert with_noise(link, known, "sure", 0.0).noise == 0.1429
    assert with_noise(link, known, "y", 1.0).noise == 1.0
    assert with_noise(link, known, "z", 1.0) == link
    several = with_noise(NumbersLink(names=("z", "y"), links=(link, link)), known, "z and y", 1.0)
    assert [part.noise for part in several.links] == [0.3, 1.0]
    assert with_noise(BinaryLink(intercept=0.0), known, "y", 0.0) == BinaryLink(intercept=0.0)
