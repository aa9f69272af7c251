"""Token tasks: what readers say, that a sentence tells the oracle all, and that tables hold what was drawn."""

import numpy as np
import pytest

from sandmill.draw import render
from sandmill.kinds.token.channel import TokenChannel, domains_of, sentence_problems, speech_of
from sandmill.kinds.token.layout import LAYOUTS
from sandmill.kinds.token.render import _sentences, fill
from sandmill.kinds.token.speech import readers_of, source_of
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from tests.unit.draw.token_tasks import token_spec

SAID = [
    ("english", "cardinal_and", "1120", "one thousand one hundred and twenty"),
    ("english", "year", "1905", "nineteen o five"),
    ("english", "date_md", "3/4", "the fourth of march"),
    ("english", "money", "$5.20", "five dollars and twenty cents"),
    ("english", "clock_past", "7:45", "quarter to eight"),
    ("russian", "cardinal_gen", "58", "пятидесяти восьми"),
    ("russian", "year_pre", "1990", "тысяча девятьсот девяностом"),
    ("russian", "measure_dat", "2 кг", "двум килограммам"),
    ("russian", "fraction", "3/4", "три четверти"),
    ("russian", "date_gen", "5 мая 1990 года", "пятого мая тысяча девятьсот девяностого года"),
]


@pytest.mark.parametrize(("language", "reader", "token", "words"), SAID)
def test_readers_say_what_people_say(language, reader, token, words):
    assert readers_of(language)[reader](token) == words


@pytest.mark.parametrize("language", ["english", "russian"])
def test_every_token_of_a_group_can_be_read_in_each_of_its_ways(language):
    readers, speech = readers_of(language), speech_of(language)
    draws = iter(np.random.default_rng(0).random(200_000).tolist())
    for group in speech.groups:
        for reading in group.readings:
            if reading.reader is None:
                continue
            others = {custom.readers.get(reading.reader) for options in speech.conventions for custom in options}
            for name in {reading.reader, *others} - {None}:
                tokens = [fill(pattern, draws) for pattern in group.patterns for _ in range(20)]
                assert all(readers[name](token) for token in tokens), (group.name, name)


@pytest.mark.parametrize("language", ["english", "russian"])
def test_parts_of_sentences_are_plain_words_that_never_look_like_those_before_a_token(language):
    for domain in domains_of(language):
        assert sentence_problems(domain) == []
        cue = next(words for group in speech_of(language).groups for one in group.readings for words in one.left)
        spoilt = domain.model_copy(update={"openings": (f"{domain.openings[0]} {cue}", "Room 5")})
        ends, form = sentence_problems(spoilt)[::-1]
        assert "right before tokens" in ends
        assert "'Room 5' must be plain words" in form


def test_a_script_holds_the_readers_that_it_names_and_what_they_need():
    names: dict = {}
    exec("import re\n" + "\n".join(source_of("english", ["year"])), names)
    assert list(names["READERS"]) == ["year"]
    assert names["READERS"]["year"]("1990") == "nineteen ninety"
    assert "money" not in names


@pytest.mark.parametrize("kind", ["tokens_english", pytest.param("tokens_russian", marks=pytest.mark.slow)])
def test_sentences_are_the_same_in_files_answers_and_oracle(kind):
    spec = token_spec(kind, hardness=0.5)
    rendered = render(spec, b"secret")
    items = LAYOUTS[kind].read(rendered.package.public, rendered.package.facts, spec.feature_columns)
    assert items.faults == ()
    tokens = [cell.split("\n") for cell in items.test["before"]]
    assert [len(row) for row in tokens] == list(rendered.answers.lengths)
    truth, metric = rendered.answers.truth, get_metric(spec.metric)
    same = np.full(truth.shape, None, dtype=object)
    for row, cells in enumerate(tokens):
        same[row, : len(cells)] = cells
    assert 0.8 < metric.score(truth, same) < 0.95 < metric.score(truth, rendered.oracle) < 1


def test_the_oracle_follows_the_words_beside_a_token_and_no_others_do_better():
    spec = token_spec("tokens_english", hardness=1.0)
    rendered = render(spec, b"secret")
    channel = spec.channel
    assert isinstance(channel, TokenChannel)
    wrong = rendered.answers.truth != rendered.oracle
    tokens = [cell.split("\n") for cell in _test_cells(rendered, spec)]
    ambiguous = {"St.": {"saint", "street"}, "Dr.": {"doctor", "drive"}}
    for row, place in zip(*np.nonzero(wrong), strict=True):
        if place < len(tokens[row]) and tokens[row][place] in ambiguous:
            assert rendered.oracle[row, place] in ambiguous[tokens[row][place]]
            assert rendered.answers.truth[row, place] == tokens[row][place], "what the words tell, but for a slip"
    assert 0 < wrong.sum() / sum(map(len, tokens)) < 0.01


@pytest.mark.parametrize("language", ["english", "russian"])
def test_the_words_beside_a_token_are_those_of_the_way_in_which_it_is_read(language):
    spec = token_spec(f"tokens_{language}", hardness=1.0)
    channel = spec.channel.model_copy(update={"slips": 0.0, "bare": 0.3, "blur": 0.3})
    latents = {"phrases": np.full(200, 3.0), "day": np.zeros(200)}
    neutral, said = channel.groups[-1].readings[0].left, readers_of(language)
    for tokens in _sentences(channel, latents, RowNumbers.of(Streams(b"secret", "sides"), range(200))):
        for place, token in enumerate(tokens):
            before = " ".join(one.before for one in tokens[max(place - 7, 0) : place])
            ways = [
                (number, one)
                for group in channel.groups
                for number, one in enumerate(group.readings)
                if one.label == token.label and one.reader and said[one.reader](token.before) == token.after
            ]
            if ways:
                cues = [words for number, one in ways for words in (*one.left, *(() if number else neutral))]
                assert any(before.endswith(words) for words in cues), (before, token)


@pytest.mark.parametrize("language", ["english", "russian"])
def test_sentences_have_their_end_and_no_phrase_begins_like_another(language):
    channel = token_spec(f"tokens_{language}", hardness=1.0).channel.model_copy(update={"bare": 0.5, "places": 40})
    latents = {"phrases": np.full(200, 6.0), "day": np.full(200, channel.house_from)}
    cues = {words for group in channel.groups for reading in group.readings for words in reading.left}
    cues |= {words for rule in channel.house for words in rule.left}
    ends, lengths = tuple(f"{words.strip(', ')} ." for words in channel.closings), set()
    for tokens in _sentences(channel, latents, RowNumbers.of(Streams(b"secret", "ends"), range(200))):
        text = " ".join(token.before for token in tokens)
        assert text.endswith(ends)
        assert all(text.count(f" {words} ") < 2 for words in cues), text
        lengths.add(len(tokens))
    assert 30 < max(lengths) <= 40


def test_a_token_that_is_bound_stands_after_words_of_its_own():
    channel = token_spec("tokens_russian", hardness=1.0).channel
    channel = channel.model_copy(update={"bare": 0.9})
    (group,) = [group for group in channel.groups if group.is_bound]
    latents = {"phrases": np.full(300, 4.0), "day": np.zeros(300)}
    own, seen = tuple(words for reading in group.readings for words in reading.left), 0
    for tokens in _sentences(channel, latents, RowNumbers.of(Streams(b"secret", "bound"), range(300))):
        for place, token in enumerate(tokens):
            if token.before.endswith("-м"):
                seen += 1
                assert " ".join(one.before for one in tokens[:place]).endswith(own)
    assert seen > 10


def test_russian_words_before_a_token_need_no_other_form_for_any_of_its_values():
    draws = iter(np.random.default_rng(0).random(100_000).tolist())
    second = ("вто", "втр", "вс", "вз")
    for group in speech_of("russian").groups:
        for reading in group.readings:
            said = readers_of("russian").get(reading.reader or "")
            for token in {fill(pattern, draws) for pattern in group.patterns for _ in range(300)} if said else ():
                for words in reading.left:
                    last, first = words.split()[-1], said(token)
                    assert not (last in ("в", "с", "к") and first.startswith(second)), (words, token)
                    assert not (last == "о" and first[0] in "аоуэи"), (words, token)


def _test_cells(rendered, spec):
    layout = LAYOUTS[spec.kind.name]
    return layout.read(rendered.package.public, rendered.package.facts, spec.feature_columns).test["before"]
