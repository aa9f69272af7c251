"""Media: rules, labels and texts are what a person who looks at the items, or listens to them, would believe."""

import re
from functools import cache
from itertools import product

import numpy as np
import pytest

from sandmill.design import design_task
from sandmill.design.prose import Pen
from sandmill.design.prose.forms import define_quotient, say_quantity
from sandmill.design.told import with_told_forms
from sandmill.draw.describe import columns_section
from sandmill.draw.task_facts import task_facts
from sandmill.draw.wording import Wording
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.traits import scaled
from sandmill.models.base import Band
from sandmill.models.hints import Form
from sandmill.models.kind import kind_of
from sandmill.models.motifs import Formula, columns_of
from sandmill.models.plan import Slot
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds

SEEDS = {
    kind.name: seed
    for seed in bundled_seeds().supported
    if (kind := kind_of(seed.structure)) and kind.design and kind.measures
}
PLACES = (0.0, 0.3, 0.6, 0.9)
LEVELS = ("plain", "prose", "spread", "contested")
OF_RECORDS = re.compile(r"\b(recorded|written down|down as|given as|Look up|types in|on the form)\b")
SPOKEN_OF = re.compile(r"\bthe ([a-z]+)")
"""What a text speaks of as known."""
UNIT = re.compile(r"\b(angstrom|degrees|months|weeks|days|years|grams|millimetres)\b")
OF_A_STATE = {"normal", "borderline", "wrong", "safe", "short", "high", "deep", "very"}


@cache
def media_of(kind):
    choose = kind_of(SEEDS[kind].structure).load("design").choose_medium
    return {medium.domain.name: medium for medium in map(choose, PLACES)}


@cache
def designs_of(kind):
    return [
        design_task(
            Slot(number=n, seed=SEEDS[kind], band=Band.HARD, reading=level, place=place),
            Streams(SECRET, f"{kind} {n}"),
            0.7,
        )
        for n, (place, level) in enumerate(zip(PLACES, LEVELS, strict=True))
    ]


def described(spec, style):
    return columns_section(spec, task_facts(spec), layout_of(spec), Wording(style))


@pytest.mark.parametrize("kind", SEEDS)
def test_facts_name_only_what_the_description_explains_and_speak_of_no_records(kind):
    for spec in designs_of(kind):
        listed = described(spec, 1)
        for text in (passage.text for hint in spec.hints for passage in hint.passages):
            assert all(f"`{name}`" in listed for name in re.findall(r"`([a-z_0-9]+)`", text)), text
            assert not OF_RECORDS.search(text), text


def test_a_pen_without_records_asks_for_nothing_that_is_written_down():
    pens = [Pen("plain", np.random.default_rng(number), {}, has_records=False) for number in range(150)]
    fields = {"x": "`dots`", "w": "`lid` is wide", "c": "`lid`", "l": "wide", "n": "0.4", "over": "o", "upto": "u"}
    said = {pen.say(name, **fields) for pen in pens for name in ("counts", "limit", "is_one_of", "is_none_of")}
    assert len(said) > 60
    assert not [text for text in said if OF_RECORDS.search(text)]


@pytest.mark.parametrize("kind", SEEDS)
def test_no_rule_reads_what_nobody_would_believe_to_matter(kind):
    for spec in designs_of(kind):
        unread = set(media_of(kind)[spec.domain].unread)
        assert unread.isdisjoint(name for term in spec.mechanism.terms for name in columns_of(term.motif))
        assert unread.isdisjoint({spec.mechanism.subgroup.by} if spec.mechanism.subgroup else ())


def test_corners_sides_and_ink_decide_nothing():
    absurd = {"letter", "marker", "half", "notch", "paint_line", "ink_line", "truck_whistle", "broken_corner", "coast"}
    found = set()
    for medium in (medium for kind in SEEDS for medium in media_of(kind).values()):
        there = absurd & {word.name for word in medium.domain.categorical}
        assert there <= set(medium.unread), medium.domain.name
        found |= there
    assert found == absurd


@pytest.mark.parametrize("kind", SEEDS)
def test_labels_can_occur_together_and_name_nothing_that_items_show(kind):
    for medium in media_of(kind).values():
        words = (*medium.domain.numeric, *medium.domain.categorical)
        shown = {part for word in words for part in word.name.split("_")}
        for label in (label for several in medium.domain.targets.multilabel for label in several.labels):
            assert OF_A_STATE.isdisjoint(label.split("_")), label
            assert kind not in ("image_notes", "audio_pairs") or label not in shown, label


@pytest.mark.parametrize("kind", [kind for kind in SEEDS if "image" in kind])
def test_a_large_number_always_shows_much_of_what_it_names(kind):
    for spec in designs_of(kind):
        assert not any(one.is_turned for one in spec.channel.seen)
        assert all("smaller" not in cue.text for cue in spec.channel.cues)


def test_a_figure_that_is_defined_is_used():
    motif = Formula(top=(("dots",),), bottom=(("size",),))
    for number in range(20):
        pen = Pen("plain", np.random.default_rng(number), {}, has_records=False)
        definition = define_quotient(pen, "dots_for_size", motif, ())
        said = say_quantity(pen, Form(name="dots_for_size", motif=motif), definition).whole
        assert said.startswith(definition[1])
        assert len(said) > len(definition[1]) + 10


@pytest.mark.parametrize(
    ("kind", "by"), [("image_labels", "seen"), ("table_image", "seen"), ("audio_archive", "heard"), ("text", "found")]
)
def test_pictures_are_seen_and_sounds_heard(kind, by):
    heads = " ".join(described(designs_of(kind)[0], style) for style in range(1, 40))
    assert f"can be {by} in" in heads
    assert not any(f"can be {other} in" in heads for other in {"seen", "heard", "found"} - {by})


@pytest.mark.parametrize(("kind", "name"), [("image_archive", "<{}>.<id>.png"), ("audio_archive", "_TRAIN_<{}>.aif")])
def test_a_label_in_a_file_name_is_said_to_be_the_target(kind, name):
    spec = designs_of(kind)[0]
    facts, layout = task_facts(spec), layout_of(spec)
    said = layout.told(facts, spec.file_sizes)[layout.train]
    assert name.format(facts.target_column) in said
    assert f"the name holds the target `{facts.target_column}`" in said


def test_scales_of_columns_are_said_as_a_person_would():
    assert scaled(0, 0.6) == "It goes from 0 to 0.6, and the value that rules use is this divided by 0.6."
    assert scaled(-42, -19) == "The value that rules use runs evenly from 0 at -42 to 1 at -19."


def stems(text):
    """The longer words of a text without the endings that a verb or a plural adds."""
    return {re.sub(r"(?<=\w{3})(?:ings?|e[ds]|[es])$", "", word) for word in re.findall("[a-z]{4,}", text.lower())}


@pytest.mark.parametrize("kind", SEEDS)
def test_a_target_speaks_of_nobody_whom_the_shortest_story_leaves_out(kind):
    for domain in (medium.domain for medium in media_of(kind).values() if medium.domain.knows.targets):
        first, *later = domain.overview
        known = stems(f"{first} {domain.title} {domain.row}")
        of_later = stems(" ".join(later)) - known - {"next"}
        targets = [target for _, some in domain.targets for target in some]
        said = {target.meaning: stems(" ".join(SPOKEN_OF.findall(target.meaning))) for target in targets}
        assert {meaning: words & of_later for meaning, words in said.items() if words & of_later} == {}


@pytest.mark.parametrize("kind", ["graph_table", "series_files", "table_geometry"])
def test_a_story_that_is_told_in_full_goes_with_every_target(kind):
    asked = "binary" if kind == "graph_table" else "regression"
    for domain in (medium.domain for medium in media_of(kind).values()):
        names = {name for target in getattr(domain.targets, asked) for name in stems(target.name)}
        assert names.isdisjoint(stems(" ".join(domain.overview))), domain.name


@pytest.mark.parametrize("kind", SEEDS)
def test_only_quantities_of_one_unit_are_added(kind):
    for medium in media_of(kind).values():
        units = {word.name: UNIT.findall(word.meaning)[-1:] for word in medium.domain.numeric}
        for factor in (factor for one in with_told_forms(medium).knows.formulas for factor in (*one.top, *one.bottom)):
            assert all(units[name] == units[factor[0]] for name in factor), (medium.domain.name, factor)
            # A share that is counted in atoms can be 0, and a quotient by it has no value.
            counted = {one.column for one in getattr(medium, "laid", ()) if one.part in ("vacancies", "share")}
            assert not counted.difference(getattr(medium, "shown", ())) & set(factor), (medium.domain.name, factor)


def test_what_is_noted_of_training_pictures_alone_is_said_to_be_in_the_table_that_holds_it():
    specs = [spec for spec in designs_of("image_notes") if spec.channel.only_in_training]
    assert specs
    for spec, style in product(specs, range(1, 20)):
        lines = [line for line in described(spec, style).splitlines() if "feeding tube" in line]
        assert len(lines) == len(spec.channel.only_in_training)
        assert all("`public/train_annotations.csv`" in line for line in lines)


@pytest.mark.parametrize("kind", ["image_tiles", "audio_pairs"])
def test_a_folder_of_items_is_not_said_to_lack_a_column(kind):
    spec = designs_of(kind)[0]
    target, folder = task_facts(spec).target_column, layout_of(spec).test
    for style in range(1, 60):
        assert not [line for line in described(spec, style).splitlines() if f"`{target}`" in line and folder in line]
