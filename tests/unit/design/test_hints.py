"""Designs state forms of their rule and others, at a share of the signal that grows with hardness."""

import re
from collections import Counter
from unittest.mock import patch

import pytest

from sandmill.design import design_task, grammar
from sandmill.design.hints import CHANCE_OF_HINTS, HintPlan, choose_hints, columns_told, draw_child, has_hints
from sandmill.design.kept import forecast
from sandmill.design.prose import Pens
from sandmill.design.statements import state_forms
from sandmill.design.telling import draw_notes
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.kinds.library import load_domains
from sandmill.mechanism import draw_rows
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Column, Conversion, Normal, Unit
from sandmill.models.domain import CategoricalWord, NumericWord
from sandmill.models.hints import DATA_DICTIONARY, Form, InText, Sentinel, Units
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
from sandmill.models.structure import ColumnMix, MetricName, Modality, SplitKind, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds, make_seed
from tests.hinted_designs import BINARY, KNOWING, design, hinted, told
from tests.unit.design.test_grammar import frames
from tests.unit.design.test_shape import WIDE, structure
from tests.unit.design.test_shape import column as seed_column

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


@pytest.mark.parametrize(
    ("seed_id", "states"),
    [
        ("spooky-author-identification", (False, False, True, True)),
        ("siim-isic-melanoma-classification", (False, True, True, True)),
    ],
)
def test_media_state_forms_from_the_band_on_in_which_default_models_can_do_without_them(seed_id, states):
    """By log loss a part of the rule that only texts state makes even medium designs hard."""
    (seed,) = (seed for seed in bundled_seeds().supported if seed.id == seed_id)
    for band, may_state in zip(Band, states, strict=True):
        slots = [Slot(number=number, seed=seed, band=band) for number in range(6)]
        designs = [design_task(slot, Streams(SECRET, f"media {slot.number}"), 0.3) for slot in slots]
        assert any(told(spec) for spec in designs) == may_state


DRAWS = range(40)
DOMAIN = load_domains()[0]


def column_of(word) -> Column:
    match word:
        case CategoricalWord(levels=levels):
            even = Categorical(levels=levels, shares=tuple([1 / len(levels)] * len(levels)))
            return Column(name=word.name, distribution=even, decimals=0)
        case NumericWord():
            return Column(name=word.name, distribution=word.distribution, decimals=word.decimals)
    raise TypeError(word)


def child_of(number: int):
    return draw_child(DOMAIN, Streams(b"a secret", f"child {number}"))


def notes_of(number: int, columns=None):
    known = [column_of(word) for word in (*DOMAIN.numeric, *DOMAIN.categorical)]
    return draw_notes(DOMAIN, known if columns is None else columns, Streams(b"a secret", f"notes {number}"))


def test_one_or_two_summaries_matter_and_one_does_not():
    counts = []
    for number in DRAWS:
        child, summaries, useless = child_of(number)
        counts.append(len(summaries))
        assert len(useless) == 1
        assert len({one.name for one in (*summaries, *useless)}) == len(summaries) + 1
        assert 6 <= child.events <= 12
        assert abs(sum(child.shares) - 1) < 1e-9
    assert set(counts) == {1, 2}


def test_the_sentence_names_file_columns_kinds_and_window():
    for number in DRAWS:
        child, summaries, useless = child_of(number)
        for one in (*summaries, *useless):
            assert one.text.count("{summary}") == 1
            plan = HintPlan(told=(one,), child=child)
            (hint,), _ = state_forms(plan, {}, Streams(b"a secret", "said"), Pens())
            assert child.path in hint.text
            named, words = set(re.findall(r"`([^`]+)`", hint.text)), set(re.findall(r"\w+", hint.text))
            assert {child.kinds[code] for code in one.motif.kinds} <= words
            assert one.motif.days is None or str(one.motif.days) in words
            assert (child.amount in named) == (one.motif.how not in ("count", "recency"))
            assert "{" not in hint.text
            assert hint.text[-1] in ".!?"


def test_notes_hold_one_or_two_of_the_chosen_columns():
    levels = {word.name: word.levels for word in DOMAIN.categorical}
    held = set()
    for draw in DRAWS:
        notes, hints = notes_of(draw)
        names = tuple(value.column for value in notes.values)
        assert [hint.fact.column for hint in hints] == list(names)
        held.update(names)
        for hint in hints:
            assert isinstance(hint.fact, InText)
            assert f"`{notes.name}`" in hint.text
            assert f"`{hint.fact.column}`" in hint.text
            assert bool(hint.fact.levels) == (hint.fact.column in levels)
    assert held == {value.column for value in DOMAIN.knows.notes.values}


def test_columns_that_cannot_be_written_stay_in_the_table():
    noted = {value.column for value in DOMAIN.knows.notes.values}
    number = next(column_of(word) for word in DOMAIN.numeric if word.name in noted)
    conversion = Conversion(by="site", factors=(1.0,), offsets=(0.0,))
    for change in ({"unit": "ward"}, {"conversion": conversion}, {"distribution": Unit(prefix="W", size=3)}):
        assert notes_of(0, [number.model_copy(update=change)]) is None
    assert notes_of(0, [Column(name="unheard_of", distribution=Normal(mean=0, sd=1))]) is None
    assert [value.column for value in notes_of(0, [number])[0].values] == [number.name]


def fates(asked):
    return {one.trait: one for one in forecast(asked)}


def test_what_micro_scale_bends_is_named_with_what_it_becomes():
    shares = (0.5, *[0.5 / 39] * 39)
    asked = structure(profile={"class_shares": shares})
    wide = asked.profile.model_copy(update={"n_columns": 75, "linear_score": 0.4})
    many = fates(asked.model_copy(update={"profile": wide}))
    assert (many["outputs"].fate, many["outputs"].value, many["outputs"].becomes) == ("bent", 40, 12)
    assert (many["class_entropy"].fate, many["n_columns"].becomes) == ("bent", 60)
    assert (many["linear"].fate, many["target"].fate) == ("bent", "kept")
    rare = fates(structure(profile={"class_shares": (0.97, 0.02, 0.01)}))
    assert (rare["rarest_class"].fate, rare["rarest_class"].becomes) == ("bent", 5 / 200)
    two = structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, positive_share=0.02)
    two = two.model_copy(update={"profile": two.profile.model_copy(update={"class_shares": (0.98, 0.02)})})
    assert (fates(two)["rarest_class"].becomes, fates(two)["top_class"].fate) == (0.08, "kept")
    strata = structure(target=TargetKind.REGRESSION, metric=MetricName.RMSE, split=SplitKind.STRATIFIED)
    assert (fates(strata)["split"].fate, fates(strata)["split"].becomes) == ("bent", "random")


def test_the_bands_that_keep_the_scores_of_a_seed_are_named():
    scores = {"linear_score": 0.45, "boosting_score": 0.45}
    found = fates(structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, profile=scores))["boosting"]
    assert found.fate == "bent"
    assert found.why.startswith("kept about in easy and medium tasks; in others the difficulty band")
    sure = {"linear_score": 1.0, "boosting_score": 1.0}
    found = fates(structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, profile=sure))["boosting"]
    assert found.why.startswith("the difficulty band")


def test_a_second_date_and_a_second_text_are_bent():
    assert fates(structure(WIDE))["mix"].fate == "kept"
    for role in ("date", "text"):
        found = fates(structure((*WIDE, seed_column(role, 300, 0.9))))
        assert (found["mix"].fate, found["n_columns"].fate, found["has_date"].fate) == ("bent", "bent", "kept")


def test_traits_that_designs_do_not_take_over_are_dropped():
    spike = structure(target=TargetKind.COUNT, metric=MetricName.RMSLE, profile={"target_top_share": 0.6})
    assert fates(spike)["target_repeats"].fate == "dropped"
    seed = make_seed(TargetKind.BINARY, MetricName.ROC_AUC)
    image = seed.structure.model_copy(update={"modality": Modality.IMAGE, "columns": ColumnMix(numeric=3)})
    assert fates(image)["n_columns"].fate == "dropped"
    assert fates(seed.structure)["n_columns"].fate == "kept"
