"""Lines of published scripts: long ones are broken without a change of what they say, and decisions run anywhere."""

import ast
from types import SimpleNamespace

import numpy as np
import pytest

from sandmill.calibrate.scripts.choose import _decided, _libraries
from sandmill.kinds.script_text import fold

LONG = "least_of_call_sweep_where_call_pitch_call_length_holds_times_call_sweep_where_call_pitch_call_length_holds"


def test_a_list_with_a_name_longer_than_a_line_stays_a_list_of_the_same_names():
    names = ["engine_tone", "cut-tone_no-tone", LONG, *(f"column_{place}" for place in range(12))]
    lines = fold([f"COLUMNS = {names!r}".replace("'", '"')])
    assert len(lines) > 3
    assert ast.literal_eval("\n".join(lines).partition(" = ")[2]) == names


@pytest.mark.parametrize("decision", ["grades by rank", "expected grade"])
def test_a_decision_finds_its_packages_where_the_lines_before_it_import_none(decision):
    grades = ("low", "middle", "high")
    facts = SimpleNamespace(metric="qwk", encoding="label", is_wide=False, classes=grades)
    said = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])
    names = {**_libraries(), "said": said, "y": np.array([0, 1, 2]), "CLASSES": list(grades)}
    assert _decided(SimpleNamespace(facts=facts), decision, names).tolist() == [0, 2, 1]
