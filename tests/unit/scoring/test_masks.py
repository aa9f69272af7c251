"""Masks as runs of pixels: what is read, what is refused, and that hostile cells cost neither errors nor memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.draw.csv_files import answers_file
from sandmill.errors import InvalidSubmission
from sandmill.export.grader import compose
from sandmill.models.structure import MetricName
from sandmill.scoring.forms.runs import masks_of, runs_of
from sandmill.scoring.submission import parse_submission
from tests.many_rows import facts_for, make_many, table_of
from tests.unit.export.test_grader import assert_same, load

FACTS = facts_for("runs")
"""Pictures of 2 rows and 3 columns."""
HOSTILE = {
    "overlapping runs": ("1 3 3 1", "do not overlap"),
    "falling runs": ("5 1 1 1", "rise"),
    "a run beyond the picture": ("5 3", "from pixel 1 to pixel 6"),
    "a start beyond the picture": ("7 1", "from pixel 1 to pixel 6"),
    "a run of no pixel": ("3 0", "1 pixel or more"),
    "a huge number": ("1 9999999999", "whole numbers"),
    "a number of a thousand digits": ("1 " + "9" * 1000, "at most"),
    "a negative number": ("1 -1", "whole numbers"),
    "a fraction": ("1.0 2", "whole numbers"),
    "an underscore": ("1_0 2", "whole numbers"),
    "a digit that is no decimal": ("² 1", "whole numbers"),
    "a line end between numbers": ('"1\n2"', "whole numbers"),
    "not a number": ("nan", "whole numbers"),
    "commas": ('"1,2"', "whole numbers"),
    "many runs": ("1 1 " * 1000, "at most"),
}


def read(cell: str, row: int = 1):
    task = make_many("runs")
    lines = task.honest.decode().splitlines()
    lines[row] = lines[row].split(",")[0] + "," + cell
    content = ("\n".join(lines) + "\n").encode()
    place = task.answers.ids.index(lines[row].split(",")[0])
    return parse_submission(content, task.facts, task.answers.ids)[place]


@pytest.mark.parametrize(
    ("cell", "mask"),
    [
        ("", [0, 0, 0, 0, 0, 0]),
        ("1 6", [1, 1, 1, 1, 1, 1]),
        ("2 1 4 2", [0, 1, 0, 1, 1, 0]),
        ("1 1 2 1", [1, 1, 0, 0, 0, 0]),
        (" \t2  1 ", [0, 1, 0, 0, 0, 0]),
        ("006 01", [0, 0, 0, 0, 0, 1]),
    ],
)
def test_runs_name_pixels_from_1_and_an_empty_cell_names_none(cell, mask):
    assert read(cell).tolist() == mask


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_cell_of_no_runs_is_a_problem_that_says_what_was_expected(fault):
    cell, expected = HOSTILE[fault]
    with pytest.raises(InvalidSubmission) as caught:
        read(cell)
    assert expected in str(caught.value.problems[0])
    assert len(str(caught.value.problems[0])) < 400


@given(st.lists(st.booleans(), min_size=1, max_size=70))
def test_runs_of_a_mask_are_the_fewest_and_read_back(pixels):
    mask = np.array(pixels, dtype=np.uint8)
    runs = runs_of(mask)
    text = " ".join(map(str, runs.ravel()))
    assert masks_of([text], len(mask))[0].tolist() == mask.tolist()
    assert (runs[1:, 0] > runs[:-1].sum(axis=1)).all()


def test_cells_of_ten_megabytes_are_refused_without_memory_for_their_runs():
    task = make_many("runs")
    first, *_ = task.answers.ids
    for cell in ("1 1 " * 2_500_000, "9" * 10_000_000, " " * 10_000_000):
        content = task.honest + f"{first},{cell}\n".encode()
        tracemalloc.start()
        assert task.grade(content).problems
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * len(content)


@pytest.mark.parametrize("metric", [MetricName.DICE, MetricName.IOU_THRESHOLDS])
def test_a_grader_that_travels_scores_and_refuses_as_our_own(metric):
    task = make_many("runs")
    facts = task.facts.model_copy(update={"metric": metric})
    object.__setattr__(task, "facts", facts)
    grader, answers = load(compose(facts, task.calibration)), answers_file(facts, task.answers)
    contents = [task.honest, table_of(facts, task.answers, task.answers.truth)]
    line = task.honest.splitlines()[1].decode()
    contents += [
        task.honest.replace(line.encode(), f"{line.split(',')[0]},{cell}".encode(), 1) for cell, _ in HOSTILE.values()
    ]
    for content in contents:
        assert_same(grader.grade_bytes(content, answers), task.grade(content))
    assert [task.grade(content).score is None for content in contents] == [False, False] + [True] * len(HOSTILE)
