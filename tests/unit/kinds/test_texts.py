"""Texts: each word follows from its own row and from the latent values of that row."""

import json
import re
from collections import Counter

import numpy as np
import pytest

from sandmill.kinds.library import load_folder
from sandmill.kinds.text.channel import Nuisance, TextChannel, TextMedium, WordSlot
from sandmill.kinds.text.render import render_texts, render_titled
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams
from tests.designs import SECRET

ROWS = RowNumbers.of(Streams(SECRET, "texts"), range(400))
FACTORS = {"gloom": np.linspace(0, 1, 400), "tense": np.arange(400.0) % 3, "rain": np.full(400, 0.25)}
CHANNEL = TextChannel(
    column="note",
    meaning="A note",
    fewest_sentences=3,
    most_sentences=5,
    sentence=(
        WordSlot(by="level", column="tense", lists=(("was",), ("is",), ("will",)), levels=("past", "now", "later")),
        WordSlot(by="share", column="gloom", lists=(("dark",), ("bright",))),
        WordSlot(by="presence", column="rain", lists=(("rain",),)),
        WordSlot(by="level", column="absent", lists=(("north",), ("south",)), levels=("n", "s")),
        WordSlot(lists=((".",), ("!",))),
    ),
    asides=("Nothing else.",),
    quote_lead=("You said",),
    title=(WordSlot(lists=(("About",),)), WordSlot(lists=(("rain", "sun"),))),
)
DISTURBED = CHANNEL.model_copy(update={"nuisance": Nuisance(typos=0.2, asides=1.0, quotes=1.0), "is_quoted": True})


def words_of(text):
    return Counter(re.findall(r"\w+", text.lower()))


def test_words_follow_the_latent_values_of_their_row():
    texts = render_texts(CHANNEL, FACTORS, ROWS)
    words = [words_of(text) for text in texts]
    tenses = [set(count) & {"was", "is", "will"} for count in words]
    assert [found == {("was", "is", "will")[row % 3]} for row, found in enumerate(tenses)] == [True] * 400
    share = np.array([count["dark"] / (count["dark"] + count["bright"]) for count in words])
    assert np.corrcoef(share, FACTORS["gloom"])[0, 1] > 0.9
    rain = sum(count["rain"] for count in words) / sum(count["dark"] + count["bright"] for count in words)
    assert rain == pytest.approx(0.25, abs=0.04)
    assert {count["north"] > 0 for count in words} == {True, False}
    assert {sum(text.count(mark) for mark in ".!") for text in texts} == {3, 4, 5}
    assert not any(" ." in text or " !" in text or "  " in text for text in texts)


def test_no_text_depends_on_the_rows_before_it():
    later = RowNumbers.of(Streams(SECRET, "texts"), range(200, 400))
    half = {name: values[200:] for name, values in FACTORS.items()}
    assert render_texts(DISTURBED, FACTORS, ROWS)[200:] == render_texts(DISTURBED, half, later)


def test_disturbances_add_words_of_others_and_slips_but_change_no_own_word():
    plain, disturbed = render_texts(CHANNEL, FACTORS, ROWS), render_texts(DISTURBED, FACTORS, ROWS)
    calm = DISTURBED.model_copy(update={"nuisance": Nuisance(asides=1.0, quotes=1.0)})
    for own, text in zip(plain, render_texts(calm, FACTORS, ROWS), strict=True):
        lead, _, rest = text.strip('"').partition("”")
        assert lead.startswith("You said “")
        assert rest.replace(" Nothing else.", "").strip() == own
    assert all(text.startswith('"') and text.endswith('"') for text in disturbed)
    before = render_texts(calm, FACTORS, ROWS)
    assert [sorted(text) for text in disturbed] == [sorted(text) for text in before]
    assert 0.8 < np.mean([text != other for text, other in zip(disturbed, before, strict=True)]) <= 1


def test_chinese_has_no_spaces_and_a_title_stands_beside_its_body():
    assert not any(
        " " in text for text in render_texts(CHANNEL.model_copy(update={"language": "chinese"}), FACTORS, ROWS)
    )
    titled = [json.loads(text) for text in render_titled(CHANNEL, FACTORS, ROWS)]
    assert {item["title"] for item in titled} == {"About rain", "About sun"}
    assert [item["body"] for item in titled] == render_texts(CHANNEL, FACTORS, ROWS)


@pytest.mark.parametrize("folder", ["passages", "comments", "posts", "requests"])
def test_words_of_a_vocabulary_occur_in_one_list_and_slots_show_all_columns(folder):
    found = load_folder(f"text/domains/{folder}", TextMedium)
    assert len(found) >= 2
    for vocabulary in found:
        words = [word for slot in vocabulary.sentence for names in slot.lists for word in names]
        assert {word for word, times in Counter(words).items() if times > 1} <= {",", "，"}
        levels = {word.name: len(word.levels) for word in vocabulary.domain.categorical}
        numbers = dict.fromkeys(word.name for word in vocabulary.domain.numeric)
        for slot in vocabulary.slots:
            wanted = levels.get(slot.column) if slot.by == "level" else {"share": 2, "presence": 1}.get(slot.by)
            assert slot.by == "chance" or len(slot.lists) == wanted
            assert slot.by == "chance" or slot.column in (levels if slot.by == "level" else numbers)
        assert levels.keys() | numbers.keys() <= {*(slot.column for slot in vocabulary.slots), *vocabulary.cells}
