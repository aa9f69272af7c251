"""Descriptions: whatever a solver has to know, and nothing of how the data came about."""

import itertools
import re
from itertools import chain

import pytest

from sandmill.check.description_gate import says_split
from sandmill.check.giveaways import GIVEAWAYS, secret_numbers
from sandmill.draw.describe import columns_section, describe
from sandmill.draw.task_facts import task_facts
from sandmill.draw.tell import house_sections
from sandmill.draw.wording import Wording, phrases
from sandmill.kinds.files.tables import TABLES
from sandmill.kinds.library import load_domains, load_spare_words
from sandmill.models.layout import HEADINGS, LIBRARIES, section_of
from sandmill.models.motifs import ToldMotif
from sandmill.models.spoken import unit_behind
from sandmill.models.structure import PathologyKind, SplitKind
from sandmill.scoring import get_metric
from sandmill.scoring.support import ANSWER_FORMS
from tests.designs import make_spec

FAULTS = (
    *(PathologyKind.MIXED_TYPES, PathologyKind.DUPLICATES, PathologyKind.LABEL_NOISE, PathologyKind.OUTLIERS),
    *(PathologyKind.TIMESTAMPS, PathologyKind.HIGH_CARDINALITY),
)
SAMPLE = b"id,y\na,1\nb,1\nc,1\nd,1\n"
FORMS = list({(target, encoding): (target, metric) for (target, metric), encoding in ANSWER_FORMS.items()}.values())
STYLES = range(1, 60)
ODD = re.compile(r" {3}|\n{3,}|\bNone\b|\bnan\b|\[\]|\(\)|[{}]|,,|(?<!\.)\.\.(?!\.)|\.{4}")
"""What templates leave behind that were filled in badly."""


def styled(spec, style):
    """The same design with another style of its description."""
    return spec.model_copy(update={"story": spec.story.model_copy(update={"style": style})})


@pytest.fixture(scope="module", params=range(3 * len(FORMS)))
def described(request):
    """Every target and form of answers in several styles, splits in turn."""
    place, form = request.param, FORMS[request.param % len(FORMS)]
    split = list(SplitKind)[(place + place // len(FORMS)) % len(SplitKind)]
    spec = styled(make_spec(*form, place % 7, split=split, pathologies=FAULTS), place + 1)
    facts = task_facts(spec)
    return spec, facts, describe(spec, facts, SAMPLE)


def test_all_is_said_in_every_style(described):
    spec, facts, text = described
    prose = re.sub(r"```csv.*?```\n*", "", text, flags=re.DOTALL)
    of_house = {part for part in house_sections(spec) if part.startswith("## ")}
    headings = [line for line in text.splitlines() if line.startswith("## ") and line not in of_house]
    assert sorted(section_of(line[3:]) for line in headings) == sorted(HEADINGS)
    assert text.startswith(f"# {spec.story.title}\n")
    assert of_house <= set(text.splitlines())
    assert not ODD.search(prose.strip())
    assert re.findall(r"(?<!public/)\b(?:train|test|sample_submission)\.csv", text) == []
    names = ("public/train.csv", "public/test.csv", "public/sample_submission.csv", "submission.csv")
    for name in (*names, *facts.classes, *LIBRARIES):
        assert re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", prose), name
    metric = get_metric(facts.metric)
    texts = {spec.story.overview, spec.story.row, metric.title, str(spec.test_items)}
    reworded = Wording(spec.story.style).reworded
    for column in (column for column in spec.mechanism.columns if not column.in_text):
        texts |= {f"`{column.name}`", unit_behind(reworded(spec.story.column_meanings[column.name]))[0]}
    for name in facts.target_columns:
        texts |= {f"`{name}`", reworded(spec.story.column_meanings.get(name, spec.story.target_meaning))}
    assert [said for said in texts if said.lower() not in prose.lower()] == []
    assert "```csv\n" + "\n".join(SAMPLE.decode().splitlines()[:4]) + "\n```" in text
    assert says_split(text, spec.split, TABLES)


def test_kinds_gaps_and_units_of_columns_stand_beside_them():
    for slot in range(4):
        spec = make_spec(slot=slot, pathologies=FAULTS)
        words = Wording(spec.story.style)
        section = columns_section(spec, task_facts(spec), TABLES, words)
        gaps = {gap.column for gap in spec.mechanism.missing() if gap.sentinel is None}
        for column in (column for column in spec.mechanism.columns if not column.in_text):
            wanted = f"`{column.name}`", unit_behind(words.reworded(spec.story.column_meanings[column.name]))[0]
            (line,) = (line for line in section.splitlines() if all(part in line for part in wanted))
            assert (words.say("gaps") in line) == (column.name in gaps)
        for fault in spec.mechanism.mixed_types():
            assert re.search(rf"12(\.50?)? {re.escape(fault.suffix)}", section)


def test_nothing_is_said_of_how_the_data_came_about(described):
    spec, facts, text = described
    lowered = " ".join(text.replace(get_metric(spec.metric).definition, "").lower().split())
    assert not [phrase for phrase in GIVEAWAYS if phrase in lowered]
    assert not set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", text)) & secret_numbers(spec)
    kinds = {term.motif.motif for term in spec.mechanism.terms if not isinstance(term.motif, ToldMotif)}
    kinds -= {"band", "curve", "ratio", "difference"}
    assert not [kind for kind in kinds if kind.replace("_", " ") in lowered]
    assert "duplicate" not in lowered or "duplicate" in facts.classes
    assert spec.seed_id not in text


def test_equal_designs_are_described_in_equal_words_whatever_is_hidden():
    spec = make_spec(pathologies=FAULTS)
    weights = [term.model_copy(update={"weights": (1.0,), "center": 0.5}) for term in spec.mechanism.terms]
    other = spec.model_copy(update={"mechanism": spec.mechanism.model_copy(update={"terms": tuple(weights)})})
    assert describe(spec, task_facts(spec), SAMPLE) == describe(other, task_facts(other), SAMPLE)


@pytest.mark.parametrize("split", [SplitKind.GROUPED, SplitKind.TEMPORAL])
def test_every_wording_of_a_split_passes_the_gate(split):
    for wording in phrases()[str(split)]:
        parts = re.split("<([^<>]*)>", wording)
        for choices in itertools.product(*(part.split("|") for part in parts[1::2])):
            text = parts[0] + "".join(chain(*zip(choices, parts[2::2], strict=True)))
            paths = {"train": "`public/train.csv`", "test": "`public/test.csv`"}
            said = text.format(**paths, **Wording(0).names_of("row"), unit="unit_id", date="seen_on")
            assert says_split(said, split, TABLES), said


def test_no_wording_of_a_split_by_groups_gives_every_item_a_group_of_its_own():
    assert not [text for text in phrases()["grouped"] if re.search(r"everywhere|every \{item\}", text)]


def test_a_description_calls_its_items_by_one_name():
    for style in STYLES:
        spec = styled(make_spec("regression", "rmse", 1), style)
        named = Wording(style).names_of("row")
        facts = task_facts(spec)
        text = describe(spec, facts, SAMPLE)
        used = {name for name in ("record", "observation") if re.search(rf"\b{name}s?\b", prose_of(spec, text))}
        assert used <= {named["item"]}, style
    assert Wording(5).names_of("picture") == {"item": "picture", "items": "pictures", "an_item": "a picture"}


def prose_of(spec, text):
    """The description without the texts of its domain."""
    for known in (spec.story.overview, spec.story.row, *spec.story.asides, *spec.story.column_meanings.values()):
        text = text.replace(known, "")
    return text


def test_meanings_keep_their_unit_and_their_words_in_every_style():
    spare = load_spare_words()
    words = [word for domain in load_domains() for word in (*domain.numeric, *domain.categorical, *domain.dates)]
    shared = [*spare.numbers, *spare.counts, *spare.flags, *spare.pairs, *spare.categories, *spare.many_levels]
    meanings = [word.meaning for word in (*words, *shared)]
    forms = [*spare.forms.number, *spare.forms.count, *spare.forms.flag, *spare.forms.category]
    meanings += [form.meaning.format(meaning="Depth of the well in metres") for form in forms]
    matching = {pattern: {one for one in meanings if re.search(pattern, one)} for pattern, _ in phrases()["meanings"]}
    assert all(matching.values())
    # What no pattern matches is the same in every style.
    for style, some in [(1, meanings), *((style, set().union(*matching.values())) for style in range(2, 30))]:
        for meaning in some:
            said = Wording(style).reworded(meaning)
            assert unit_behind(said)[1] == unit_behind(meaning)[1] or "metres" in said, said
            assert said[0].isupper() or said.startswith(("0", "1", "yes (1)")), said


def test_styles_differ_in_order_headings_and_words():
    spec = make_spec(pathologies=FAULTS)
    texts = [describe(styled(spec, style), task_facts(spec), SAMPLE) for style in STYLES]
    orders = {tuple(section_of(line[3:]) for line in text.splitlines() if line.startswith("## ")) for text in texts}
    assert len(orders) >= 5
    assert len({line for text in texts for line in text.splitlines() if line.startswith("## ")}) >= 25
    assert len(set(texts)) == len(texts)
