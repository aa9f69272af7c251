"""Attacks on the meaning of a score: malformed submissions, and predictions that know nothing."""

import pytest

from tests.redteam.attacks import INVALID, Attack, load_attacks
from tests.redteam.siege import Siege

CELLS = {
    "nan": "nan",
    "NaN": "NaN",
    "infinity": "inf",
    "overflow": "1e999",
    "complex": "1+0j",
    "hexadecimal": "0x1p3",
    "underscores": "1_000",
    "full-width digits": "０.５",
    "arabic digits": "٠.٥",
    "decimal comma": "0,5",
    "none": "None",
    "not available": "NA",
    "nothing": "",
    "a sentence": "the right answer",
    "money": "$1",
    "a list": "[0.5]",
    "zero byte": "0.5\\0",
    "a minus of typography": "−1",
    "an exponent without digits": "1e",
    "a date": "2020-01-01",
    "quotes in quotes": '"0.5"',
    "a line break": "0.5\\n0.5",
    "true": "True",
    "control characters": "\\x1b[2J1",
    "a file separator before": "\\x1c0.5",
    "a next line sign behind": "0.5\\x85",
    "a line separator behind": "0.5\\u2028",
}
"""What is a number to somebody and to us is none, or too large: every cell of a submission holds it."""

ATTACKS = {
    f"cells: {name}": Attack(f'submit("{cell}")' if '"' not in cell else f"submit('{cell}')", INVALID, (19,))
    for name, cell in CELLS.items()
} | load_attacks("semantics")


@pytest.mark.parametrize("name", ATTACKS)
def test_what_predicts_nothing_is_paid_nothing(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
