"""Tables say what the rows say, in the same bytes each time."""

import pytest

from learn.tests.arms import scored_rows
from sandmill.models.reports import Medal
from sandmill_learn.summary import arms_table, contrasts_table, keep_sources, summarize

GOOD = scored_rows("grpo-gap", {"iris": 0.9, "wine": 0.7, "cars": 0.8}, medal=Medal.GOLD)
WEAK = scored_rows("sft", {"iris": 0.5, "wine": 0.6, "cars": 0.1}, medal=None)
SAMPLED = scored_rows("sft", {"iris": 0.2, "wine": 0.4}, temperature=1.0, valid=False)


def test_a_summary_of_an_arm():
    summary = summarize(GOOD)
    assert (summary.mean_gap, summary.any_medal, summary.gold, summary.valid) == (pytest.approx(0.8), 1, 1, 1)
    assert (summary.seeds, summary.families, summary.distinct_scripts) == (1, 3, 1)


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
