"""Runs of `benchmarks.reading` go on from their file of lines."""

from benchmarks.reading import Line, Piece, measure_all, read_lines
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from tests.designs import make_seed
from tests.hinted_designs import BINARY


def test_a_later_line_of_a_slot_counts_and_an_incomplete_one_is_left_out(tmp_path):
    path = tmp_path / "lines.jsonl"
    lines = [Line(slot="a", reason=reason).model_dump_json() for reason in ("no_room", "no_margin")]
    path.write_text("\n".join([*lines, '{"slot": "b", "rea']))
    assert {line.slot: line.reason for line in read_lines(path)} == {"a": "no_margin"}
    assert list(read_lines(tmp_path / "none")) == []


def test_what_the_file_of_lines_has_is_not_measured_again(tmp_path):
    piece = Piece(Slot(number=0, seed=make_seed(*BINARY), band=Band.HARD), ("parser_v4",))
    path = tmp_path / "lines.jsonl"
    path.write_text(Line(slot=piece.key, reason="no_margin").model_dump_json() + "\n")
    before = path.read_bytes()
    assert [line.reason for line in measure_all([piece], path, 1)] == ["no_margin"]
    assert path.read_bytes() == before
