"""A curriculum of reading: stages from one plain fact on, and the mix that follows from what rollouts solve."""

import json
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.report.html.figure import Figure
from sandmill.report.html.page import PageHead, Section, render_page
from sandmill.report.rollouts import MASTERED, STAGES, CurriculumTask, Solved, reading_stages, reading_table

TEXTS = st.text(max_size=60) | st.sampled_from(
    ["</script><script>alert(1)</script>", "<!--", "]]>", '" onload="alert(1)', "&lt;", "a\u2028b", "'><svg/onload=x>"]
)
HEAD = PageHead(dataset="micro", version="0001-ab12cd34", edition="public")


class Seen(HTMLParser):
    """The tags of a page, and the texts within each kind of element."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.texts.setdefault(tag, []).append("")

    def handle_data(self, data):
        if self.tags:
            self.texts[self.tags[-1]][-1] += data


def read(section: Section, head: PageHead = HEAD) -> Seen:
    seen = Seen()
    seen.feed(render_page(head, [section]))
    seen.close()
    return seen


def build_of(text: str) -> Section:
    rows = ((text, 2), (text, 1))
    figures = [
        Figure(id=name, title=text, note=text or "-", sql=text, columns=(text, "count"), rows=rows)
        for name in ("funnel", "rejections")
    ]
    return Section(id="build", title="Build", figures=tuple(figures))


@settings(max_examples=20)
@given(TEXTS)
def test_text_stays_text_in_elements_and_attributes(text):
    seen, plain = read(build_of(text), HEAD.model_copy(update={"headline": (text,)})), read(build_of("text"))
    assert seen.tags == [*plain.tags[: plain.tags.index("header")], *seen.tags[seen.tags.index("header") :]]
    assert sorted(seen.tags) == sorted([*plain.tags, "p"])
    shown = text.replace("\r\n", "\n").replace("\r", "\n")
    assert {one.replace("\r\n", "\n").replace("\r", "\n").strip() for one in seen.texts["figcaption"]} == {
        shown.strip()
    }
    assert ("data-label", text.replace("_", " ")) in seen.attributes


@settings(max_examples=20)
@given(st.recursive(TEXTS | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_no_data_ends_the_element_that_holds_it(data):
    seen = read(Section(id="map", title="Map", data=[data], blocks={"detail-x": data}))
    whole, block, _program = seen.texts["script"]
    assert "<" not in whole + block
    assert (json.loads(whole), json.loads(block)) == ([data], data)


def test_a_number_that_is_not_finite_is_an_error_and_not_json_that_browsers_refuse():
    with pytest.raises(ValueError, match="not JSON compliant"):
        read(Section(id="map", title="Map", data=[float("nan")]))


def test_bars_are_as_long_as_their_numbers_and_numbers_are_set_flush_right():
    rows = (("off_band", 3), ("no_rows", 1), ("other", None))
    figure = Figure(id="funnel", title="Funnel", sql="", columns=("step", "number"), rows=rows)
    assert figure.shares == [100.0, 33.33, 0.0]
    seen = read(Section(id="build", title="Build", figures=(figure, figure.model_copy(update={"id": "costs"}))))
    assert {("width", "33.33%"), ("class", "number")} <= set(seen.attributes)
    assert [text.strip() for text in seen.texts["td"]] == ["off_band", "3", "no_rows", "1", "other", "-"]
    assert seen.texts["span"][2:4] == ["off band", "3"]


def record(task_id, level="plain", facts=1, gain=0.2, split="train"):
    hints = (SimpleNamespace(matters=True),) * facts + (SimpleNamespace(matters=False),)
    spec, measured = SimpleNamespace(reading_level=level, hints=hints), SimpleNamespace(reading_gain=gain)
    return SimpleNamespace(task_id=task_id, split=split, spec=spec, calibration=measured)


def played(task_id, solved, rollouts=10):
    kind = Solved.NEVER if not solved else Solved.ALWAYS if solved == rollouts else Solved.FRONTIER
    place = {"split": "train", "structure": "tabular", "band": "hard", "difficulty": 0.5}
    return CurriculumTask(
        task_id=task_id, **place, rollouts=rollouts, solved=solved, mean_reward=0.1, kind=kind, has_reward_variance=True
    )


RECORDS = [
    record("small", gain=0.1),
    record("large", gain=0.4),
    record("two", facts=2),
    record("free", "prose"),
    record("apart", "spread"),
    record("doubt", "contested"),
    record("blind", "none", facts=0, gain=None),
    record("held out", split="validation"),
]


def mix(stages):
    return {stage.name: stage.share for stage in stages}


def test_stages_rise_and_the_largest_gain_comes_first():
    stages = reading_stages(RECORDS, {})
    assert tuple(stage.name for stage in stages) == STAGES
    assert [stage.task_ids for stage in stages] == [("large", "small"), ("two",), ("free",), ("apart",), ("doubt",)]
    assert stages[0].median_gain == pytest.approx(0.25)
    assert mix(stages) == {"one plain fact": 0.75, "plain": 0.25, "prose": 0, "spread": 0, "contested": 0}


def test_most_of_the_mix_goes_to_the_first_stage_that_rollouts_do_not_master():
    tasks = [played("large", 9), played("small", 6), played("two", 8), played("free", int(10 * MASTERED) - 1)]
    stages = reading_stages(RECORDS, {task.task_id: task for task in tasks})
    assert stages[0].solved == pytest.approx(0.75)
    assert mix(stages) == {"one plain fact": 0.1, "plain": 0.1, "prose": 0.6, "spread": 0.2, "contested": 0}


def test_tasks_that_are_always_solved_teach_nothing():
    stages = reading_stages(RECORDS, {"large": played("large", 10), "small": played("small", 10)})
    assert stages[0].task_ids == ()
    assert mix(stages) == {"one plain fact": 0, "plain": 0.75, "prose": 0.25, "spread": 0, "contested": 0}


def test_a_model_that_masters_everything_stays_at_the_hardest_stage():
    everything = {one.task_id: played(one.task_id, 9) for one in RECORDS}
    stages = reading_stages(RECORDS, everything)
    assert max(stages, key=lambda stage: stage.share).name == "contested"
    assert sum(mix(stages).values()) == pytest.approx(1)


def test_a_release_that_states_nothing_has_no_stages():
    assert reading_stages([RECORDS[-2]], {}) == ()


def test_the_table_has_a_row_a_stage():
    table = reading_table(reading_stages(RECORDS, {"large": played("large", 5)}))
    assert table.rows[0] == ("one plain fact", "2", "0.25", "50%", "75%")
    assert table.rows[1][3] == "-"
