"""Decisions of published scripts run whatever the lines before them import."""

from types import SimpleNamespace

import numpy as np
import pytest

from sandmill.calibrate.scripts.choose import _decided, _libraries


@pytest.mark.parametrize("decision", ["grades by rank", "expected grade"])
def test_a_decision_finds_its_packages_where_the_lines_before_it_import_none(decision):
    grades = ("low", "middle", "high")
    facts = SimpleNamespace(metric="qwk", encoding="label", is_wide=False, classes=grades)
    said = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])
    names = {**_libraries(), "said": said, "y": np.array([0, 1, 2]), "CLASSES": list(grades)}
    assert _decided(SimpleNamespace(facts=facts), decision, names).tolist() == [0, 2, 1]
