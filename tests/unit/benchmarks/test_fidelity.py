"""What the figure of fidelity rests on: a frozen list with its scales, and a file that a killed run leaves whole."""

import json

import pytest

from benchmarks.fidelity import FROZEN, digest_of
from benchmarks.fidelity_figures import NAMES
from benchmarks.real_tables import LISTS


@pytest.mark.parametrize("name", LISTS)
def test_the_frozen_digest_is_that_of_list_traits_and_scales(name):
    frozen = json.loads(FROZEN.read_text())[name]
    assert frozen["tables"] == [table.name for table in LISTS[name]]
    assert len(frozen["scale"]) == len(NAMES)
    assert frozen["digest"] == digest_of(name, frozen["scale"])
    assert frozen["digest"] != digest_of(name, [*frozen["scale"][1:], 1.0])
