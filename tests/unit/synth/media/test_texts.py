"""Texts: each word follows from its own row and from the latent values of that row."""

import re
from collections import Counter

import numpy as np
import pytest

from sandmill.design.lexicon import load_folder
from sandmill.fingerprint import fingerprint
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.channels.texts import TextChannel, TextMedium, WordSlot
from sandmill.quality import check_package
from sandmill.rng import Streams
from sandmill.synth import render
from sandmill.synth.media.texts import render_texts
from tests.designs import SECRET, make_text_spec

ROWS = RowNumbers.of(Streams(SECRET, "texts"), range(400))
FACTORS = {"gloom": np.linspace(0, 1, 400), "tense": np.arange(400.0) % 3, "rain": np.full(400, 0.25)}
CHANNEL = TextChannel(
    column="note",
    meaning="A note",
    fewest_sentences=3,
    most_sentences=5,
    sentence=(
        WordSlot(by="level", column="tense", lists=(("was",), ("is",), ("will",))),
        WordSlot(by="share", column="gloom", lists=(("dark",), ("bright",))),
        WordSlot(by="presence", column="rain", lists=(("rain",),)),
        WordSlot(by="level", column="absent", lists=(("north",), ("south",))),
        WordSlot(lists=((".",), ("!",))),
    ),
)


def test_words_follow_the_latent_values_of_their_row():
    texts = render_texts(CHANNEL, FACTORS, ROWS)
    tenses = [set(text.split()) & {"was", "is", "will"} for text in texts]
    assert [found == {("was", "is", "will")[row % 3]} for row, found in enumerate(tenses)] == [True] * 400
    words = [Counter(text.replace(".", "").replace("!", "").split()) for text in texts]
    share = np.array([count["dark"] / (count["dark"] + count["bright"]) for count in words])
    assert np.corrcoef(share, FACTORS["gloom"])[0, 1] > 0.7
    rain = sum(count["rain"] for count in words) / sum(count["dark"] + count["bright"] for count in words)
    assert rain == pytest.approx(0.25, abs=0.04)
    assert {count["north"] > 0 for count in words} == {True, False}
    assert {sum(text.count(mark) for mark in ".!") for text in texts} == {3, 4, 5}
    assert not any(" ." in text or " !" in text or "  " in text for text in texts)


def test_no_text_depends_on_the_rows_before_it():
    later = RowNumbers.of(Streams(SECRET, "texts"), range(200, 400))
    half = {name: values[200:] for name, values in FACTORS.items()}
    assert render_texts(CHANNEL, FACTORS, ROWS)[200:] == render_texts(CHANNEL, half, later)


def test_a_design_of_texts_renders_files_that_pass_the_gates_and_name_no_latent_column():
    rendered = render(make_text_spec(), SECRET)
    package, spec = rendered.package, rendered.package.spec
    assert package.public["train.csv"].startswith(f"id,{spec.channel.column},{spec.story.target}\n".encode())
    assert [str(finding) for finding in check_package(package)] == []
    page = package.public["description.md"].decode()
    latent = [column.name for column in spec.mechanism.columns]
    assert [name for name in latent if f"`{name}`" in page] == []
    (said,) = (
        line for line in page.splitlines() if f"`{spec.channel.column}`" in line and spec.channel.meaning in line
    )
    assert re.search(r"\btext\b", said.replace(spec.channel.meaning, ""))
    assert render(spec, SECRET).package.public == package.public


def test_designs_differ_in_which_words_stand_for_which_value():
    channels = {fingerprint(make_text_spec(slot).channel) for slot in range(5)}
    assert len(channels) == 5


@pytest.mark.parametrize("vocabulary", load_folder("texts", TextMedium), ids=lambda vocabulary: vocabulary.domain.name)
def test_a_vocabulary_names_its_own_columns_and_has_a_list_for_each_level(vocabulary):
    domain = vocabulary.domain
    levels = {word.name: len(word.levels) for word in domain.categorical}
    numbers = {word.name for word in domain.numeric}
    for slot in vocabulary.sentence:
        if slot.by == "level":
            assert len(slot.lists) == levels[slot.column]
        elif slot.by != "chance":
            assert slot.column in numbers
            assert len(slot.lists) == (2 if slot.by == "share" else 1)
    acting = {slot.column for slot in vocabulary.sentence} - {None}
    assert acting == numbers | levels.keys()
    words = [word for slot in vocabulary.sentence for names in slot.lists for word in names]
    repeated = [word for word, count in Counter(words).items() if count > 1]
    assert repeated == []
