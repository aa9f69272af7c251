"""Tables and charts say what the rows say, in the same bytes each time."""

from xml.etree import ElementTree

import pytest

from learn.tests.arms import scored_rows
from sandmill.models.reports import Medal
from sandmill_learn.plots import difference_plot, forest_plot, learning_curves
from sandmill_learn.summary import arms_table, contrasts_table, keep_sources, summarize

GOOD = scored_rows("grpo-gap", {"iris": 0.9, "wine": 0.7, "cars": 0.8}, medal=Medal.GOLD)
WEAK = scored_rows("sft", {"iris": 0.5, "wine": 0.6, "cars": 0.1}, medal=None)
SAMPLED = scored_rows("sft", {"iris": 0.2, "wine": 0.4}, temperature=1.0, valid=False)


def test_a_summary_of_an_arm():
    summary = summarize(GOOD)
    assert (summary.mean_gap, summary.any_medal, summary.gold, summary.valid) == (pytest.approx(0.8), 1, 1, 1)
    assert (summary.seeds, summary.families, summary.distinct_scripts, summary.entropy) == (1, 3, 1, 0)


def test_the_table_has_a_row_for_each_arm_and_temperature():
    table = arms_table([*GOOD, *WEAK, *SAMPLED], {"sft": 3072})
    assert [row[:3] for row in table.rows] == [
        ("grpo-gap", "greedy", "1"),
        ("sft", "greedy", "1"),
        ("sft", "T = 1", "1"),
    ]
    assert [row[-1] for row in table.rows] == ["-", "3072", "3072"]
    assert table.rows[2][7] == "-"
    assert all(len(row) == len(table.header) for row in table.rows)


def test_one_family_has_a_mean_and_no_interval():
    assert arms_table(scored_rows("one", {"iris": 0.25})).rows[0][3] == "0.250"


def test_a_contrast_compares_the_same_temperature():
    table = contrasts_table([*GOOD, *WEAK, *SAMPLED], "grpo-gap", ["sft", "grpo-gap", "absent"])
    assert len(table.rows) == 1
    cells = dict(zip(table.header, table.rows[0], strict=True))
    assert cells["gap [95 %]"].startswith("+0.400 [")
    assert (cells["won"], cells["lost"], cells["medals, relative"]) == ("3", "0", "-")
    assert contrasts_table([*GOOD, *SAMPLED], "grpo-gap", ["sft"], temperature=1.0).rows == ()


def test_sources_are_kept_apart():
    rows = scored_rows("a", {"x": 0.1}, source="development") + scored_rows("a", {"x": 0.2})
    assert [row.gap for row in keep_sources(rows, "final")] == [0.2]


@pytest.mark.parametrize(
    "draw",
    [
        lambda path: forest_plot(path, [*GOOD, *WEAK, *SAMPLED]),
        lambda path: forest_plot(path, []),
        lambda path: difference_plot(path, GOOD, WEAK, title="a < b & c"),
        lambda path: difference_plot(path, [], [], title="nothing"),
        lambda path: learning_curves(path, {"a": [[(0, 0.1), (8, 0.4)], [(0, 0.2)]], "b": []}, title="t", value="v"),
        lambda path: learning_curves(path, {}, title="t", value="v"),
    ],
)
def test_charts_are_valid_svg_of_equal_bytes(draw, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("one.svg", "two.svg"):
        draw(tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "nan" not in text


def test_without_matplotlib_there_is_no_chart_and_no_error(monkeypatch, tmp_path):
    monkeypatch.setattr("sandmill_learn.plots.find_spec", lambda name: None)
    forest_plot(tmp_path / "arms.svg", GOOD)
    assert list(tmp_path.iterdir()) == []
