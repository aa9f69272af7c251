"""Facts can be said at every level of reading, in many constructions, and the texts say what the facts hold."""

import re

import numpy as np
import pytest

from sandmill.design.hints import HintPlan, draw_child
from sandmill.design.prose import Pen, Pens, meanings_of
from sandmill.design.prose.forms import use_of
from sandmill.design.statements import state_forms
from sandmill.design.telling import convert_columns, state_sentinels, state_units
from sandmill.kinds.library import load_domains
from sandmill.models.columns import Categorical, Column
from sandmill.models.english import text_faults
from sandmill.models.faults import Missing
from sandmill.models.hints import Form, InText, SameUnits
from sandmill.models.motifs import Conditional, Formula
from sandmill.models.numerals import digits, says_number, spellings
from sandmill.models.spoken import Spoken, spoken
from sandmill.rng import Streams

LEVELS = ("plain", "prose", "spread", "contested")
DOMAINS = {domain.name: domain for domain in load_domains()}
SECRET = b"a secret"


def pen_of(number, level="prose", meanings=None):
    return Pen(level, np.random.default_rng(number), meanings or {})


class Masked(Pen):
    """A pen that says the same word for every number."""

    def number(self, value, column="", unit=None):
        return "NUMBER"


@pytest.mark.parametrize("use", ["above", "norm"])
def test_limits_and_norms_have_many_constructions(use):
    form = Form(name="a", motif=Formula(top=(("a",),), bottom=(("b",),), **{use: 2.0}))
    pens = (Masked("prose", np.random.default_rng(number), {}) for number in range(500))
    assert len({use_of(pen, "the COLUMN", form) for pen in pens}) >= 100


def columns_of(domain):
    numbers = {
        word.name: Column(name=word.name, distribution=word.distribution, decimals=word.decimals)
        for word in domain.numeric
    }
    words = (*domain.categorical, *(part for unit in domain.knows.same_units for part in (unit.place, unit.number)))
    even = {word.name: (1 / len(word.levels),) * len(word.levels) for word in words}
    return numbers | {
        word.name: Column(
            name=word.name, distribution=Categorical(levels=word.levels, shares=even[word.name]), decimals=0
        )
        for word in words
    }


def facts_of(domain, level, number=0):
    """State every fact that a domain knows."""
    from sandmill.design.hints import OwnColumns

    streams = Streams(SECRET, f"{domain.name} {number}")
    knows = domain.knows
    for word in (*knows.same_units, *knows.distances):
        domain = OwnColumns(word, True).added_to(domain)
    columns = columns_of(domain)
    child, *summaries = draw_child(domain, streams)
    words = (*knows.formulas, *knows.conditions, *knows.norms, *knows.same_units, *knows.distances, *sum(summaries, ()))
    words += tuple(word for word in knows.code_tables if word.column in columns)
    pens = Pens(level, meanings_of(domain))
    plans = (HintPlan(told=(word,), child=child) for word in words)
    said = [hint for plan in plans for hint in state_forms(plan, columns, streams, pens)[0]]
    plan = HintPlan(conversions=tuple(word for word in knows.conversions if word.by in columns))
    converted, used = convert_columns(tuple(columns.values()), plan, streams)
    said += state_units({column.name: column for column in converted}, used, (), streams, pens)
    gaps = [Missing(column=word.name, given=word.name, rate=0.1, sentinel=-99.0) for word in domain.numeric[:6]]
    return [*said, *state_sentinels(gaps, columns, (), streams, pens)], columns, domain


@pytest.mark.parametrize(
    ("name", "level"),
    [
        pytest.param(name, level, marks=[pytest.mark.slow] if (place + turn) % len(LEVELS) else [])
        for place, name in enumerate(DOMAINS)
        for turn, level in enumerate(LEVELS)
    ],
)
def test_every_fact_can_be_said_at_every_level(name, level):
    hints, columns, _ = facts_of(DOMAINS[name], level)
    names = [one for one in columns if "_" in one]
    for hint in hints:
        text = "\n\n".join(one.text for one in hint.passages)
        assert not text_faults(text), text
        assert "{" not in text
        assert not re.search(r"[^\n|`] {2,}\w", re.sub(r"```.*?```", "", text, flags=re.DOTALL)), text
        if level != "plain":
            assert not [one for one in names if re.search(rf"(?<!\w){one}(?!\w)", text)], text
            assert "`" not in text.replace("```", "")
        expected = "prose" if level == "contested" and isinstance(hint.fact, SameUnits | InText) else level
        assert hint.level == expected or not hint.decoys, hint
        assert hint.fact not in hint.decoys
        assert all(type(one) is type(hint.fact) for one in hint.decoys)


@pytest.mark.parametrize("level", LEVELS[1:])
def test_the_levels_of_all_but_few_facts_are_those_asked_for(level):
    hints = [hint for domain in list(DOMAINS.values())[::9] for hint in facts_of(domain, level)[0]]
    assert np.mean([hint.level == level for hint in hints]) > 0.85
    if level == "spread":
        assert all(hint.further for hint in hints if hint.level == level)
    if level == "contested":
        assert all(hint.decoys for hint in hints if hint.level == level)


@pytest.mark.parametrize("name", DOMAINS)
def test_sentences_call_no_two_columns_of_a_domain_alike(name):
    domain = DOMAINS[name]
    called = [one.phrase for one in meanings_of(domain).values()]
    assert len(called) == len(set(called))
    assert all(phrase.startswith("the ") for phrase in called)


@pytest.mark.parametrize(
    ("meaning", "phrase", "unit"),
    [
        ("Share of crews that stand idle in percent", "the share of crews that stand idle", "percent"),
        ("Minutes since the complaint began", "the number of minutes since the complaint began", ""),
        ("Condition of the coat from 0 (matted) to 100 (shiny)", "the condition of the coat", ""),
        ("Slope in degrees of the stand where the tree grew", "the slope of the stand where the tree grew", "degrees"),
        ("Hips of the customer in centimetres", "the figure for hips of the customer", "centimetres"),
        ("LDL cholesterol in mmol per litre", "the LDL cholesterol", "mmol per litre"),
    ],
)
def test_what_sentences_call_a_column(meaning, phrase, unit):
    assert (spoken(meaning).phrase, spoken(meaning).unit) == (phrase, unit)


@pytest.mark.parametrize(
    ("number", "words"),
    [(3.5, "three and a half"), (2 / 3, "two thirds"), (12.0, "a dozen"), (-7.0, "minus seven"), (0.25, "a quarter"),
     (480.0, "four hundred and eighty"), (7.4, "seven point four"), (0.07, "seven hundredths")],
)  # fmt: skip
def test_numbers_in_words(number, words):
    assert words in spellings(number)
    assert says_number(f"It is {words}.", number)
    assert not says_number(f"It is {words}.", number + 1)


def test_pens_say_exactly_the_number():
    meanings = {"way": Spoken("the way", "kilometres"), "part": Spoken("the part", "percent", is_share=True)}
    rng = np.random.default_rng(0)
    for number in range(400):
        pen = pen_of(number, meanings=meanings)
        value = float(digits(rng.choice([0.5, 1.25, 2.5, 7, 12, 40, 66.5, 80])))
        assert says_number(pen.number(value, "way"), value, "kilometres")
        assert says_number(pen.number(value, "part"), value, "percent")


def test_a_condition_is_said_with_the_bound_that_parts_the_rows():
    found = set()
    for domain in list(DOMAINS.values())[::8]:
        hints, columns, _ = facts_of(domain, "prose")
        for hint in hints:
            if isinstance(hint.fact, Form) and isinstance(hint.fact.motif, Conditional):
                for part in hint.fact.motif.when:
                    cut = part.above if part.above is not None else part.at_most
                    if cut is None:
                        continue
                    half, unit = 0.5 * 10.0 ** -columns[part.column].decimals, meanings_of(domain)[part.column].unit
                    is_other = re.search(r"at least|or more|reach|no less|below|short|less than|under", hint.text)
                    sides = [round(cut + side * half, 9) for side in (-1, 1)]
                    said = [says_number(hint.text, value, unit) for value in sides]
                    assert any(said), hint.text
                    if said == [False, True]:
                        assert is_other, hint.text
                        found.add("other")
                    elif said == [True, False]:
                        found.add("usual")
    assert found == {"usual", "other"}
