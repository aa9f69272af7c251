"""Attacks on the grader and on its input. Each is paid what a failed run is paid: nothing."""

import pytest

from tests.redteam.attacks import load_attacks
from tests.redteam.siege import Siege

BACKENDS = ("warm", "warm without root")


ATTACKS = load_attacks("tampering")


@pytest.mark.parametrize("name", ATTACKS)
def test_who_tampers_is_paid_as_a_failed_run(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
