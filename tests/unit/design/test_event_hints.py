"""Child tables and notes of designs: what is drawn, and what the sentences say of it."""

import re

from sandmill.design.hints import draw_child
from sandmill.design.prose import Pens
from sandmill.design.statements import state_hint
from sandmill.design.telling import draw_notes
from sandmill.kinds.library import load_domains
from sandmill.models.columns import Categorical, Column, Conversion, Normal, Unit
from sandmill.models.domain import CategoricalWord, NumericWord
from sandmill.models.hints import InText
from sandmill.rng import Streams

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
            hint = state_hint(one, {}, Streams(b"a secret", "said"), Pens(), matters=True, child=child)
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
