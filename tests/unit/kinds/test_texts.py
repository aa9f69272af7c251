"""Texts: each sentence follows from its own row and from the latent values of that row, and can be read back."""

import json
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from sandmill.check.description_gate import prose_faults
from sandmill.design import design_task
from sandmill.draw.rows import draw_test
from sandmill.kinds.library import load_folder
from sandmill.kinds.text.channel import Nuisance, TextChannel, TextMedium, disturb_passages
from sandmill.kinds.text.measures import measure_texts
from sandmill.kinds.text.read import expand_texts
from sandmill.kinds.text.render import render_texts, render_titled
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Column
from sandmill.models.kind import kind_named
from sandmill.models.plan import Slot as PlanSlot
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds

PASSAGES, COMMENTS, POSTS, REQUESTS = (
    kind_named(name).load("design") for name in ("text", "text_dated", "text_labels", "json_rows")
)
ROWS = RowNumbers.of(Streams(SECRET, "texts"), range(400))
LATENTS = {"gloom": np.linspace(0, 1, 400), "tense": np.arange(400.0) % 3, "rain": np.full(400, 0.25)}
CHANNEL = TextChannel.model_validate(
    {
        "column": "note",
        "meaning": "A note",
        "plans": [["sky", "sky", "who", "sky", "end"]],
        "extras": ["rain"],
        "once": ["name"],
        "slots": {
            "sky": "the sky {tense} {gloom} at <3-9> | it {tense} {gloom} for {name}",
            "tense": {
                "by": "level",
                "column": "tense",
                "meaning": "Tense",
                "follows": 1,
                "levels": ["past", "now", "later"],
                "lists": ["was", "is", "will be"],
            },
            "gloom": {
                "by": "grade",
                "column": "gloom",
                "meaning": "Gloom",
                "lists": ["bright | sunny", "dull | grey", "dark | [black] as ink"],
            },
            "rain": {
                "by": "presence",
                "column": "rain",
                "meaning": "Rain",
                "lists": ["it [rained] on {name.1} | it [rained] hard | it [rained] a little"],
            },
            "end": "the sky {tense} {gloom} at last",
            "who": "{name} saw {name.1}",
            "name": "he / him | she / her",
            "ending": ".",
            "aside": "nothing else | nothing else now | nothing else here | nothing else then | nothing else there",
            "quotation": "You said: “{gloom}.”",
            "title": "about {name.1}",
        },
    }
)
DISTURBED = CHANNEL.model_copy(update={"nuisance": Nuisance(typos=0.2, asides=0.5, quotes=1.0), "is_quoted": True})
FOLDERS = {"passages": PASSAGES, "comments": COMMENTS, "posts": POSTS, "requests": REQUESTS}
REPEATS = {"passages": 3, "comments": 1, "posts": 1, "requests": 1}
MEDIA = [(folder, medium) for folder in FOLDERS for medium in load_folder(f"text/domains/{folder}", TextMedium)]
_REFERENCE = re.compile(r"\{(\w+)(?:\.(\d))?\}")


def counts_of(texts, *words):
    return np.array([len(re.findall(rf"\b({'|'.join(words)})\b", text)) for text in texts])


def test_sentences_follow_the_latent_values_of_their_row():
    texts = render_texts(CHANNEL, LATENTS, ROWS)
    for level, words in enumerate(("was", "is", "will")):
        assert (counts_of(texts, words)[LATENTS["tense"] == level] == 4).all()
    grade = counts_of(texts, "dull", "grey") + 2 * counts_of(texts, "dark", "black")
    assert np.abs(grade / 8 - LATENTS["gloom"]).max() <= 1 / 8
    assert counts_of(texts, "rained").mean() == pytest.approx(0.25 * 4, abs=0.06)
    assert not any(("He " in text) and ("her" in text) for text in texts), "the same name all over a text"
    assert all(text[0].isupper() and text.endswith(".") and "[" not in text for text in texts)


def test_disturbances_add_words_of_others_and_slips():
    calm = render_texts(DISTURBED.model_copy(update={"nuisance": Nuisance(asides=0.5, quotes=1.0)}), LATENTS, ROWS)
    texts = render_texts(DISTURBED, LATENTS, ROWS)
    assert all(text.startswith('"You said: “') and text.endswith('"') for text in calm)
    assert counts_of(calm, "Nothing else").mean() == pytest.approx(2.5, abs=0.2)
    assert [sorted(text) for text in texts] == [sorted(text) for text in calm]
    assert 0.8 < np.mean([text != other for text, other in zip(texts, calm, strict=True)]) <= 1
    quoted = {
        text.split("“")[1].split(".")[0] for text, gloom in zip(calm, LATENTS["gloom"], strict=True) if gloom < 0.1
    }
    assert {"dark", "bright"} <= quoted, "a quotation follows no column"


def test_chinese_has_no_spaces_between_sentences_and_a_title_agrees_with_its_body():
    chinese = render_texts(CHANNEL.model_copy(update={"language": "chinese"}), LATENTS, ROWS)
    assert not any(". " in text for text in chinese)
    for item in map(json.loads, render_titled(CHANNEL, LATENTS, ROWS)):
        assert ("him" in item["title"]) == ("He saw him" in item["body"])


def test_channels_of_older_releases_still_load():
    old = {"column": "note", "meaning": "A note", "fewest_sentences": 3, "most_sentences": 5, "title": []}
    assert TextChannel.model_validate({**old, "sentence": [{"lists": [["."]]}], "asides": ["So."]}).cues == ()


@pytest.mark.parametrize("medium", [medium for _, medium in MEDIA], ids=lambda medium: medium.domain.name)
def test_templates_name_known_slots_and_markers_tell_one_list(medium):
    plain = {
        name: [re.sub(r"[\[\]]", "", one) for group in slot.lists for one in group]
        for name, slot in medium.slots.items()
    }
    for one in (one for templates in plain.values() for one in templates):
        for name, form in _REFERENCE.findall(one):
            assert name in medium.slots, one
            assert all(len(target.split(" / ")) > int(form or 0) for target in plain[name]), (one, name)
    used = {*medium.extras, "ending", "aside", "quotation", "title"} | {act for plan in medium.plans for act in plan}
    used |= {name for templates in plain.values() for one in templates for name, _ in _REFERENCE.findall(one)}
    assert medium.slots.keys() <= used
    told = [(name, slot) for name, slot in medium.slots.items() if slot.by != "chance"]
    for name, slot in told:
        for place, markers in enumerate(slot.markers):
            others = [one for other in plain if other != name for one in plain[other]]
            others += [re.sub(r"[\[\]]", "", one) for k, group in enumerate(slot.lists) for one in group if k != place]
            for marker in markers:
                ends = r"\b" if re.match(r"\w", marker) and medium.language != "chinese" else ""
                whole = re.compile(f"{ends}{re.escape(marker)}{ends if marker[-1].isalnum() else ''}", re.IGNORECASE)
                assert not set("{<[") & set(marker)
                assert not [one for one in others if whole.search(one) and marker not in (".", "!", "。", "！")], marker
    stated = {
        name: slot.model_copy(update={"meaning": "How it is said", "levels": tuple("abcdefgh")[: len(slot.lists)]})
        for name, slot in told
    }
    cues = TextChannel.model_construct(column="x", slots=stated).cues
    assert prose_faults("".join(f"- `{cue.column}`: {cue.text}\n" for cue in cues)) == []
    levels = {word.name: len(word.levels) for word in medium.domain.categorical}
    numbers = {word.name for word in medium.domain.numeric}
    for name, slot in told:
        assert len(slot.lists) == levels[slot.column] if slot.by == "level" else slot.column in numbers, name
        assert min(map(len, slot.lists)) >= 3 or name == "ending", name
    assert levels.keys() | numbers <= {*(slot.column for _, slot in told), *medium.cells}


@pytest.mark.parametrize(("folder", "medium"), MEDIA, ids=lambda one: one if isinstance(one, str) else one.domain.name)
def test_readers_read_every_latent_column_back(folder, medium):
    domain, rng = medium.domain, np.random.default_rng(0)
    words = [word for word in (*domain.numeric, *domain.categorical) if word.name not in medium.cells]
    columns = [
        Column(
            name=word.name,
            distribution=Categorical(levels=word.levels, shares=(1 / len(word.levels),) * len(word.levels)),
        )
        if word in domain.categorical
        else Column(name=word.name, distribution=word.distribution, decimals=3)
        for word in words
    ]
    channel = FOLDERS[folder].choose_channel(medium, columns, Streams(SECRET, "read back"))
    channel = channel.model_copy(
        update={"nuisance": Nuisance(quotes=channel.nuisance.quotes), "repeats": REPEATS[folder]}
    )
    latents = {
        word.name: rng.integers(len(word.levels), size=400).astype(float)
        if word in domain.categorical
        else rng.uniform(size=400)
        if word.distribution.kind == "uniform"
        else rng.lognormal(np.log(word.distribution.median), word.distribution.sigma, 400)
        for word in words
    }
    texts = pd.DataFrame({"id": [f"i{row}" for row in range(400)], "text": render_texts(channel, latents, ROWS)})
    found = measure_texts(texts, "id", [(cue.column, cue.measure, list(cue.parameters)) for cue in channel.cues])
    for word in words:
        if word in domain.categorical:
            assert np.mean(np.array(word.levels)[latents[word.name].astype(int)] == found[word.name]) >= 0.9, word.name
        else:
            assert spearmanr(latents[word.name], found[word.name])[0] >= 0.8, word.name


@pytest.mark.parametrize("kind", ["text", "text_dated", "text_labels", "json_rows"])
def test_two_tasks_of_a_kind_share_few_sentences(kind):
    seed = next(seed for seed in bundled_seeds().supported if seed.structure.kind == kind)
    found = []
    for number in range(6):
        streams = Streams(SECRET, f"{kind} {number}")
        spec = design_task(PlanSlot(number=number, seed=seed, band=Band.HARD, place=number / 6), streams, 0.6)
        rows = draw_test(spec.mechanism, streams, 200)
        texts = kind_named(kind).load("render")(spec.channel, rows.draw.complete, rows.numbers)
        found.append({one for text in texts for one in re.split(r"(?<=[.!?。！？])\s*", text) if len(one) > 3})
    assert np.mean([len(one & other) / len(one) for one, other in combinations(found, 2)]) < 0.01


@pytest.mark.parametrize("medium", load_folder("text/domains/passages", TextMedium), ids=lambda medium: medium.column)
def test_columns_of_people_stand_beside_texts_and_the_easiest_passages_name_one_companion(medium):
    words = [medium.domain.numeric[0], medium.domain.high_cardinality[1]]
    laws = [words[0].distribution, Categorical(levels=("Abel", "Berg"), shares=(0.5, 0.5))]
    columns = [Column(name=word.name, distribution=law) for word, law in zip(words, laws, strict=True)]
    channel = PASSAGES.choose_channel(medium, columns, Streams(SECRET, "beside"))
    assert channel.shown == (words[1].name,)
    easy, hard = (kind_named("text").load("disturb")(channel, hardness).slots for hardness in (0.0, 1.0))
    lasting = set(medium.once) - set(medium.anew)
    assert all(len(easy[name].lists[0]) == 1 for name in lasting)
    by_chance = [name for name, slot in channel.slots.items() if slot.by == "chance"]
    free = [name for name in by_chance if name not in lasting]
    assert all(slots[name] == channel.slots[name] for slots in (easy, hard) for name in free)


@pytest.mark.parametrize("medium", load_folder("text/domains/passages", TextMedium), ids=lambda medium: medium.column)
@pytest.mark.parametrize("hardness", [0.0, 0.5, 1.0])
def test_no_sentence_stands_twice_in_a_passage_and_each_entry_has_its_own_persons(medium, hardness):
    words = [word for word in medium.domain.numeric if word.name not in medium.cells]
    columns = [Column(name=word.name, distribution=word.distribution, decimals=3) for word in words]
    channel = disturb_passages(PASSAGES.choose_channel(medium, columns, Streams(SECRET, "entries")), hardness)
    latents = {word.name: np.full(60, 0.4 if word.distribution.kind == "lognormal" else 0.9) for word in words}
    for text in render_texts(channel, latents, RowNumbers.of(Streams(SECRET, "entries"), range(60))):
        sentences = [one.rstrip(".!。！") for one in re.split(r"(?<=[.!。！])\s*", text) if len(one) > 12]
        assert len(set(sentences)) == len(sentences), text
        assert all(heading in text for heading in channel.headings[: channel.repeats])


_OF_A_DAY = re.compile(
    r"\b(?:spring|summer|autumn|winter|frost|harvest|bonfire|cuckoo|in (?:March|May|August))\b|on the <\d+-\d+>th|"
    r"Новый год|майские|сентября|Масленица|отопительный"
)


def test_comments_of_an_open_air_pool_are_of_its_season():
    pool = next(medium.domain for _, medium in MEDIA if medium.domain.name == "schwimmbad")
    for word in pool.dates:
        days = pd.date_range(word.first, periods=word.days)
        assert ((days.strftime("%m-%d") >= "05-15") & (days.strftime("%m-%d") <= "09-15")).all()


@pytest.mark.parametrize("name", ["allotments", "seedlings", "buskers", "dvor"])
def test_sentences_beside_a_date_tell_no_season_and_no_day_of_the_month(name):
    slots = next(medium.slots for _, medium in MEDIA if medium.domain.name == name)
    sayings = [one for slot in slots.values() for group in slot.lists for one in group]
    assert [one for one in sayings if _OF_A_DAY.search(one)] == []


def test_a_tool_fits_its_job_and_nobody_has_wages_and_no_work():
    slots = next(medium.slots for _, medium in MEDIA if medium.domain.name == "tools")
    assert [one for one in slots["money"].lists[0] if "wages" in one] == []
    own = {"slots": {**CHANNEL.slots, **slots}, "extras": (), "plans": (("need", "title"),), "once": ("job", "tool")}
    for text in render_texts(CHANNEL.model_copy(update=own), LATENTS, ROWS):
        named = [
            (place, one)
            for slot in (slots["job"], slots["tool"])
            for place, ones in enumerate(slot.lists)
            for one in ones
        ]
        assert len({place for place, one in named if one in text}) == 1, text


@pytest.mark.parametrize(
    ("first", "second", "space"),
    [
        pytest.param("wave gull keel", "hill barn mill", " ", marks=pytest.mark.slow),
        pytest.param("волна чайка киль", "холм сарай мост", " ", marks=pytest.mark.slow),
        ("江湖溪", "山竹田", ""),
    ],
)
def test_topics_show_in_any_script(first, second, space):
    rng = np.random.default_rng(0)
    topics = rng.integers(2, size=160)
    words = [list(part) if space == "" else part.split() for part in (first, second)]
    texts = [space.join(rng.choice(words[topic], 40)) for topic in topics]
    table = pd.DataFrame({"id": [f"i{row}" for row in range(160)], "note": texts})
    train, test = expand_texts(table[:100].copy(), table[100:].reset_index(drop=True), "id")
    assert list(train.columns) == list(test.columns)
    assert "note" not in test
    assert abs(np.corrcoef(test["note words 0"], topics[100:])[0, 1]) > 0.95


def test_measures_count_own_words_and_not_those_of_a_quotation():
    text = "You said “Dark, dark, dark.” Bright lamps shine on us today! The dull hill, what a pity. DARK it is not."
    table = pd.DataFrame({"id": ["a"], "note": [text]})
    cues = [
        ("gloom", "grade", ['"bright"', '"dull"', '"dark"']),
        ("pity", "presence", ['"what a pity", "alas"']),
        ("place", "level", ['sea: "wave", "gull"', 'land: "hill", "barn"']),
    ]
    found = measure_texts(table, "id", cues).iloc[0]
    assert found["gloom"] == pytest.approx((0.5 + 0.25) / 2.5)
    assert found["pity"] == 1.25
    assert found["place"] == "land"
