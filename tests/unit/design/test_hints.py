"""Designs state forms of their rule and others, at a share of the signal that grows with hardness."""

from collections import Counter
from unittest.mock import patch

import pytest

from sandmill.design import design_task, grammar
from sandmill.design.hints import CHANCE_OF_HINTS, choose_hints, columns_told, has_hints
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.mechanism import draw_rows
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.base import Band
from sandmill.models.hints import DATA_DICTIONARY, Form, Sentinel, Units
from sandmill.models.motifs import (
    Aggregate,
    CodeValue,
    Conditional,
    Distance,
    KnownUnit,
    NormDistance,
    ToldMotif,
    columns_of,
)
from sandmill.models.plan import Slot
from sandmill.rng import Streams
from tests.designs import SECRET, make_seed
from tests.hinted_designs import BINARY, KNOWING, design, hinted, told
from tests.unit.design.test_grammar import frames

SLOTS = range(14)


def plans(number):
    for place in range(number):
        streams = Streams(SECRET, f"plan {place}")
        words = choose_vocabulary(KNOWING[place % len(KNOWING)], frames()[0], streams)
        yield words, choose_hints(words, streams)


def test_most_designs_have_hints_and_these_are_of_every_kind_over_different_columns():
    kinds = Counter()
    for words, plan in plans(120):
        assert plan.told
        kinds.update(type(word).__name__ for word in plan.told)
        read = [name for word in plan.told for name in columns_told(word)]
        assert len(read) == len(set(read))
        assert len(plan.told) <= 3
        assert sum(word.name not in read for word in words.numeric) >= 5
    states = [has_hints(Streams(SECRET, f"plan {place}")) for place in range(400)]
    assert abs(sum(states) / 400 - CHANCE_OF_HINTS) < 0.04
    assert set(kinds) == {"FormulaWord", "ConditionWord", "NormWord", "CodeTableWord", "Summary"}
    assert min(kinds.values()) >= 8


def test_hardness_takes_a_prefix_of_the_same_hints():
    for slot in SLOTS[:2]:
        names = [[form.name for form in told(hinted(slot, hardness))] for hardness in (0.0, 0.5, 1.0)]
        assert names[0] == names[1][: len(names[0])]
        assert names[1] == names[2][: len(names[1])]
        facts = [{form.name: form for form in told(hinted(slot, hardness))} for hardness in (0.0, 1.0)]
        shared = set(facts[0]) & set(facts[1])
        assert {name: facts[0][name] for name in shared} == {name: facts[1][name] for name in shared}


def test_hints_that_matter_are_terms_and_others_are_not():
    useless = 0
    for slot in SLOTS:
        spec = hinted(slot, 1.0)
        motifs = [term.motif for term in spec.mechanism.terms]
        stated = [motif for motif in motifs if isinstance(motif, ToldMotif) and not isinstance(motif, KnownUnit)]
        assert [form.motif for form in told(spec)] == stated
        for hint in spec.hints:
            if isinstance(hint.fact, Form) and not hint.matters:
                useless += 1
                assert hint.fact.motif not in motifs
                assert set(columns_of(hint.fact.motif)) <= set(spec.mechanism.column_by_name)
    assert useless >= len(SLOTS)


@pytest.mark.parametrize("hardness", [0.0, 0.6])
def test_free_sentences_state_what_no_file_gives_away_first_and_with_more_weight(hardness):
    given = (Aggregate, CodeValue, Distance, KnownUnit)
    counts, shares = [], Counter()
    for place in range(12):
        knowing = KNOWING[place * 4 % len(KNOWING)]
        with patch.object(grammar, "at", lambda *_, knowing=knowing: knowing):
            slot = Slot(number=place, seed=make_seed(*BINARY), band=Band.HARD, reading="prose")
            spec = design_task(slot, Streams(SECRET, f"free {place}"), hardness)
        forms = [term for term in spec.mechanism.terms if isinstance(term.motif, ToldMotif)]
        kinds = [isinstance(term.motif, given) for term in forms]
        assert kinds == sorted(kinds)
        counts.append(len(forms))
        for term, is_given in zip(forms, kinds, strict=True):
            shares[is_given] += term.weights[0] ** 2
    assert min(counts) >= 2
    assert shares[True] < 0.2 * shares.total()


def test_columns_of_told_forms_have_no_faults():
    for slot in SLOTS:
        mechanism = hinted(slot, 1.0).mechanism
        faulty = {fault.column for fault in (*mechanism.cell_faults(), *mechanism.mixed_types())}
        assert not faulty & {name for form in told(hinted(slot, 1.0)) for name in columns_of(form.motif)}


def test_conditions_hold_in_a_fitting_share_of_rows_and_norms_differ():
    seen = Counter()
    for slot in SLOTS:
        mechanism = hinted(slot, 1.0).mechanism
        rows = draw_rows(mechanism, Streams(SECRET, "rows"), range(3000), is_train=False).complete
        for form in told(hinted(slot, 1.0)):
            match form.motif:
                case Conditional(when=when):
                    holds = evaluate_motif(Conditional(when=when), mechanism.column_by_name, rows)
                    seen["conditions"] += 1
                    assert 0.12 < holds.mean() < 0.7, form.name
                case NormDistance(norms=norms):
                    seen["norms"] += 1
                    assert len(set(norms)) == len(norms)
                case CodeValue(values=values):
                    seen["codes"] += 1
                    assert len(values) >= 8
                case Aggregate():
                    seen["summaries"] += 1
    assert min(seen.values()) >= 1
    assert len(seen) == 4


def test_units_and_numbers_for_missing_cells_are_stated():
    found = Counter()
    for slot in SLOTS:
        spec = hinted(slot, 1.0)
        facts = [hint.fact for hint in spec.hints if hint.file == DATA_DICTIONARY]
        for column in spec.mechanism.columns:
            if (units := column.conversion) is not None:
                found["units"] += 1
                assert len(set(units.factors) | set(units.offsets)) >= 2
                assert Units(column=column.name, by=units.by, factors=units.factors, offsets=units.offsets) in facts
        for gap in spec.mechanism.missing():
            if gap.sentinel is not None:
                found["sentinels"] += 1
                assert Sentinel(column=gap.column, value=gap.sentinel) in facts
    assert min(found["units"], found["sentinels"]) >= 2


def test_a_domain_without_knowledge_states_nothing_and_draws_nothing(monkeypatch):
    def refuse(*_):
        raise AssertionError("no hint may be drawn")

    monkeypatch.setattr("sandmill.design.grammar.choose_hints", refuse)
    monkeypatch.setattr("sandmill.design.grammar.draw_priors", refuse)
    spec = design(0, 0.5, knows=False)
    assert (spec.hints, spec.notes, spec.mechanism.child, spec.story.asides) == ((), None, None, ())
    assert not any(isinstance(term.motif, ToldMotif) for term in spec.mechanism.terms)


def single(slot, hardness, band, task=BINARY):
    with patch.object(grammar, "at", lambda *_: KNOWING[slot % len(KNOWING)]):
        streams = Streams(SECRET, f"single {slot}")
        return design_task(Slot(number=slot, seed=make_seed(*task), band=band), streams, hardness)


@pytest.mark.parametrize("band", [Band.EASY, Band.MEDIUM])
def test_easy_tables_and_medium_ones_of_plain_reading_state_one_plain_fact_that_matters(band):
    for slot in SLOTS[:3]:
        spec = single(slot, 0.3, band)
        (hint,) = spec.hints
        assert (hint.matters, hint.level) == (True, "plain")
        assert any(term.motif == hint.fact.motif for term in spec.mechanism.terms)
        assert not any(column.conversion or column.in_text for column in spec.mechanism.columns)
