"""Lines of published scripts that are too long are broken without a change of what they say."""

import ast

from sandmill.calibrate.scripts.layout import fold

LONG = "least_of_call_sweep_where_call_pitch_call_length_holds_times_call_sweep_where_call_pitch_call_length_holds"


def test_a_list_with_a_name_longer_than_a_line_stays_a_list_of_the_same_names():
    names = ["engine_tone", "cut-tone_no-tone", LONG, *(f"column_{place}" for place in range(12))]
    lines = fold([f"COLUMNS = {names!r}".replace("'", '"')])
    assert len(lines) > 3
    assert ast.literal_eval("\n".join(lines).partition(" = ")[2]) == names
