"""What the figure of fidelity rests on: a frozen list with its scales, and a file that a killed run leaves whole."""

import json

import pytest

from benchmarks.fidelity import FROZEN, digest_of, frozen_scale, make_all
from benchmarks.fidelity_figures import NAMES, near_duplicates
from benchmarks.fidelity_tasks import Made, add_line, pieces_of, read_lines
from benchmarks.real_tables import LISTS
from sandmill.models.base import Band
from sandmill.models.fidelity import FidelityVector
from sandmill.models.structure import MetricName, TargetKind
from tests.designs import make_seed

SEED = make_seed(TargetKind.BINARY, MetricName.ROC_AUC)


def made(slot="a", **changes):
    fields = {"frozen": "f", "is_calibrated": False, "slot": slot, "seed": SEED.id, "wanted": Band.EASY}
    return Made(**{**fields, **changes})


@pytest.mark.parametrize("name", LISTS)
def test_the_frozen_digest_is_that_of_list_traits_and_scales(name):
    frozen = json.loads(FROZEN.read_text())[name]
    assert frozen["tables"] == [table.name for table in LISTS[name]]
    assert len(frozen["scale"]) == len(NAMES)
    assert frozen["digest"] == digest_of(name, frozen["scale"])
    assert frozen["digest"] != digest_of(name, [*frozen["scale"][1:], 1.0])


def test_tables_that_are_other_ones_stop_the_command():
    with pytest.raises(SystemExit, match="other scales"):
        frozen_scale("final", [FidelityVector(values={"n_columns": float(number)}) for number in (3, 9)])


def test_a_run_goes_on_where_a_killed_one_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.fidelity_tasks.make", lambda piece: piece.empty("made now"))
    monkeypatch.setattr("benchmarks.fidelity.WorkerPool", Inline)
    lines = tmp_path / "lines.jsonl"
    pieces = pieces_of("f", [SEED], {}, 3, is_calibrated=False)
    first, second, third = (piece.empty() for piece in pieces)
    add_line(lines, first.model_copy(update={"domain": "kept"}))
    add_line(lines, second.model_copy(update={"frozen": "other"}))
    lines.write_text(lines.read_text() + third.model_dump_json()[:40])
    found = make_all(pieces, lines, 2)
    assert [(one.slot, one.domain, one.failures) for one in found] == [
        (first.slot, "kept", ()),
        (second.slot, "", ("made now",)),
        (third.slot, "", ("made now",)),
    ]
    assert len(list(read_lines(lines))) == 4
    monkeypatch.setattr("benchmarks.fidelity_tasks.make", lambda _: pytest.fail("all are made"))
    assert make_all(pieces, lines, 2) == found


class Inline:
    """A pool that works in this process."""

    def __init__(self, _):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, function, items, _):
        return ((place, function(item)) for place, item in enumerate(items))


def test_near_duplicates_ask_the_same_by_half_the_same_rule():
    one = made(rule=("linear a", "curve b", "ratio c d"), domain="mills", target="late")
    other = made("b", rule=("linear a", "curve b", "periodic c"), domain="mills", target="late")
    assert near_duplicates([one, other]) == [(one, other)]
    assert near_duplicates([one, other.model_copy(update={"domain": "bees"})]) == []
    assert near_duplicates([one, other.model_copy(update={"rule": ("linear a", "periodic c")})]) == []
