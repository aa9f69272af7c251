"""Descriptions: whatever a solver has to know, and nothing of how the data came about."""

import itertools
import math
import re
from itertools import chain

import pytest

from sandmill.check.description_gate import says_split
from sandmill.check.giveaways import GIVEAWAYS, secret_numbers
from sandmill.draw.describe import describe, listed
from sandmill.draw.task_facts import task_facts
from sandmill.draw.tell import house_sections
from sandmill.draw.wording import Wording, phrases
from sandmill.kinds.files.tables import TABLES
from sandmill.models.columns import Categorical, Date, Unit
from sandmill.models.layout import HEADINGS, LIBRARIES, section_of
from sandmill.models.motifs import TOLD_MOTIFS
from sandmill.models.structure import PathologyKind, SplitKind, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.support import ANSWER_FORMS
from tests.designs import make_spec

SECTIONS = ("Overview", "Files", "Columns", "Evaluation", "Environment", "Submission")
FILES = ("public/train.csv", "public/test.csv", "public/sample_submission.csv", "submission.csv")
FAULTS = (
    *(PathologyKind.MIXED_TYPES, PathologyKind.DUPLICATES, PathologyKind.LABEL_NOISE, PathologyKind.OUTLIERS),
    *(PathologyKind.TIMESTAMPS, PathologyKind.HIGH_CARDINALITY),
)
SAMPLE = b"id,y\na,1\nb,1\nc,1\nd,1\n"


@pytest.fixture(scope="module", params=list(enumerate(ANSWER_FORMS)), ids=lambda case: "-".join(case[1]))
def described(request):
    """Every target and metric, splits in turn."""
    place, (target, metric) = request.param
    split = list(SplitKind)[place % len(SplitKind)]
    spec = styled(make_spec(target, metric, place % 7, split=split, pathologies=FAULTS), 0)
    facts = task_facts(spec)
    return spec, facts, describe(spec, facts, SAMPLE)


def styled(spec, style):
    """The same design with another style of its description."""
    return spec.model_copy(update={"story": spec.story.model_copy(update={"style": style})})


def said(text):
    """Paragraphs without the example."""
    return re.sub(r"```csv.*?```\n*", "", text, flags=re.DOTALL)


def test_sections_are_those_of_a_competition_page(described):
    spec, _, text = described
    headings = [line for line in text.splitlines() if line.startswith("#")]
    of_house = set(house_sections(spec))
    assert [line for line in headings if line not in of_house] == [
        f"# {spec.story.title}",
        *(f"## {name}" for name in SECTIONS),
    ]
    assert spec.story.overview in text
    assert spec.story.row in text
    assert not re.search(r"  |\n{3,}|\bNone\b|\bnan\b|\[\]|\(\)|[{}]|,,", said(text).strip())
    assert text.endswith("\n")


def test_no_file_is_named_without_its_folder(described):
    *_, text = described
    assert re.findall(r"(?<!public/)\b(?:train|test|sample_submission)\.csv", text) == []
    assert "Write `submission.csv` into the working directory" in text
    assert "a working directory that holds the read-only folder `public`" in text


def test_every_column_has_its_meaning_and_its_kind(described):
    spec, facts, text = described
    section = text.split("## Columns")[1].split("\n## ")[0].split("\nColumns of ")[0]
    rows = dict(re.findall(r"^\| `(.+?)` \| (.+) \|$", section, flags=re.MULTILINE))
    shown = [column for column in spec.mechanism.columns if not column.in_text]
    notes = [spec.notes.name] if spec.notes else []
    assert list(rows) == ["id", *(column.name for column in shown), *notes, *facts.target_columns]
    gaps = {gap.column for gap in spec.mechanism.missing() if gap.sentinel is None}
    mixed = {fault.column: fault.suffix for fault in spec.mechanism.mixed_types()}
    for column in shown:
        row = rows[column.name]
        assert spec.story.column_meanings[column.name] in row
        kind = {Categorical: "category", Date: "date", Unit: "text"}.get(type(column.distribution))
        assert row.startswith(f"{kind or ('number' if column.decimals else 'integer')} | ")
        assert ("Some cells are empty" in row) == (column.name in gaps)
        example = "12" if column.decimals == 0 else f"{12.5:.{column.decimals}f}"
        assert (f'"{example} {mixed.get(column.name)}"' in row) == (column.name in mixed)
    for name in facts.target_columns:
        assert "Only in `public/train.csv`" in rows[name]
        assert spec.story.column_meanings.get(name, spec.story.target_meaning) in rows[name]


def test_the_metric_its_formula_and_its_direction_are_stated(described):
    _, facts, text = described
    metric = get_metric(facts.metric)
    evaluation = text.split("## Evaluation")[1].split("## Submission")[0]
    assert metric.title in evaluation
    assert metric.definition in evaluation
    assert ("Lower is better." if metric.is_lower_better else "Higher is better.") in evaluation
    assert ("Higher is better." in evaluation) != metric.is_lower_better


def test_the_split_is_stated_where_a_solver_has_to_know_it(described):
    spec, _, text = described
    unit = spec.mechanism.unit_column()
    sentences = {
        SplitKind.GROUPED: f"No `{unit}` of `public/train.csv` occurs in `public/test.csv`.",
        SplitKind.TEMPORAL: "all rows of `public/test.csv` are later than those of `public/train.csv`.",
        SplitKind.STRATIFIED: "The classes occur about as often in `public/train.csv` as in `public/test.csv`.",
    }
    for split, sentence in sentences.items():
        assert (sentence in text) == (split is spec.split)


def test_the_form_of_a_submission_is_stated(described):
    spec, facts, text = described
    submission = text.split("## Submission")[1]
    rows = spec.sizes.feedback + spec.sizes.final
    assert f"a header and {rows} rows" in submission
    assert "```csv\n" + "\n".join(SAMPLE.decode().splitlines()[:4]) + "\n```" in submission
    wanted = {
        "probability": "a probability from 0 to 1",
        "label": "0 or 1" if len(facts.classes) == 2 else f"one of {', '.join(facts.classes)}",
        "class_probabilities": "sum to 1",
        "label_probabilities": "a probability from 0 to 1",
        "label_list": "separated by spaces; an empty cell names none",
        "ranked_list": f"up to {facts.list_length} classes, separated by spaces, the likeliest first",
        "value": "a finite number",
        "values": "finite numbers",
    }[facts.encoding]
    assert wanted in submission
    assert ("0 or more" in submission) == get_metric(facts.metric).is_nonnegative
    if facts.target is not TargetKind.MULTILABEL and facts.encoding != "values":
        assert f"`{facts.target_column}`" in text


def test_nothing_is_said_of_how_the_data_came_about(described):
    spec, facts, text = described
    lowered = " ".join(text.replace(get_metric(spec.metric).definition, "").lower().split())
    assert not [phrase for phrase in GIVEAWAYS if phrase in lowered]
    assert not set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", text)) & secret_numbers(spec)
    kinds = {term.motif.motif for term in spec.mechanism.terms if not isinstance(term.motif, TOLD_MOTIFS)}
    kinds -= {"band", "curve", "ratio", "difference"}
    assert not [kind for kind in kinds if kind.replace("_", " ") in lowered]
    assert "duplicate" not in lowered or "duplicate" in facts.classes
    assert spec.seed_id not in text


def test_equal_designs_are_described_in_equal_words_whatever_is_hidden():
    spec = make_spec(pathologies=FAULTS)
    weights = [term.model_copy(update={"weights": (1.0,), "center": 0.5}) for term in spec.mechanism.terms]
    other = spec.model_copy(update={"mechanism": spec.mechanism.model_copy(update={"terms": tuple(weights)})})
    assert describe(spec, task_facts(spec), SAMPLE) == describe(other, task_facts(other), SAMPLE)


STYLES = range(1, 60)


@pytest.mark.parametrize(
    ("target", "metric"), [("binary", "roc_auc"), ("multilabel", "f1_samples"), ("multi_target", "rmse_columns")]
)
def test_all_is_said_in_every_style(target, metric):
    for style in STYLES[::3]:
        split = (SplitKind.GROUPED, SplitKind.TEMPORAL, SplitKind.RANDOM)[style % 3]
        spec = styled(make_spec(target, metric, style % 2, split=split, pathologies=FAULTS), style)
        facts = task_facts(spec)
        text = describe(spec, facts, SAMPLE)
        prose = said(text)
        lines = text.splitlines()
        of_house = {part for part in house_sections(spec) if part.startswith("## ")}
        headings = [section_of(line[3:]) for line in lines if line.startswith("## ") and line not in of_house]
        assert sorted(headings) == sorted(HEADINGS), style
        assert of_house <= set(lines)
        for name in (facts.id_column, *(column.name for column in spec.mechanism.columns), *facts.target_columns):
            assert f"`{name}`" in prose, (style, name)
        for name in (*FILES, *facts.classes, *LIBRARIES):
            assert re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", prose), (style, name)
        assert get_metric(metric).title in prose
        assert str(spec.sizes.feedback + spec.sizes.final) in prose
        assert spec.story.overview in prose
        assert not re.search(
            r" {3}|\n{3,}|\bNone\b|\bnan\b|\[\]|\(\)|[{}]|,,|(?<!\.)\.\.(?!\.)|\.{4}", prose.strip()
        ), style


@pytest.mark.parametrize("split", [SplitKind.GROUPED, SplitKind.TEMPORAL])
def test_every_wording_of_a_split_passes_the_gate(split):
    for wording in phrases()[str(split)]:
        parts = re.split("<([^<>]*)>", wording)
        for choices in itertools.product(*(part.split("|") for part in parts[1::2])):
            text = parts[0] + "".join(chain(*zip(choices, parts[2::2], strict=True)))
            paths = {"train": "`public/train.csv`", "test": "`public/test.csv`"}
            said = text.format(**paths, **Wording(0).names_of("row"), unit="unit_id", date="seen_on")
            assert says_split(said, split, TABLES), said


def test_a_choice_inside_a_wording_varies_and_is_the_first_without_a_style():
    assert Wording(0).say("stratified", train="a", test="b", target="c").startswith("The classes occur about as often")
    texts = {Wording(style).say("grouped", train="a", test="b", unit="c", item="row") for style in range(1, 400)}
    assert len(texts) == sum(
        math.prod(len(part.split("|")) for part in re.split("<([^<>]*)>", wording)[1::2])
        for wording in phrases()["grouped"]
    )


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


def test_styles_differ_in_order_headings_and_words():
    spec = make_spec(pathologies=FAULTS)
    texts = [describe(styled(spec, style), task_facts(spec), SAMPLE) for style in STYLES]
    orders = {tuple(section_of(line[3:]) for line in text.splitlines() if line.startswith("## ")) for text in texts}
    assert len(orders) >= 5
    assert len({line for text in texts for line in text.splitlines() if line.startswith("## ")}) >= 25
    assert len(set(texts)) == len(texts)


def test_a_host_hints_at_faults_that_no_cell_shows():
    spec = styled(make_spec(slot=1, pathologies=FAULTS), 3)
    text = describe(spec, task_facts(spec), SAMPLE)
    outliers = [fault.column for fault in spec.mechanism.cell_faults() if fault.kind == "outliers"]
    assert outliers
    words = Wording(spec.story.style)
    assert words.say("slips", columns=listed(outliers)) in text
    assert words.say("copies", train="`public/train.csv`", **words.names_of("row")) in text
