"""Motifs, signs, base rates and noise follow what the domain knows, more often than not."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

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
from sandmill.models.knowledge import Prior, TargetPrior
from sandmill.models.links import BinaryLink, GaussianLink, NumbersLink
from sandmill.models.motifs import Linear, Term, columns_of
from sandmill.rng import Streams
from tests.designs import SECRET
from tests.hinted_designs import KNOWING
from tests.unit.design.test_grammar import frames

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
