"""Attacks that look for answers, secrets and ways out, or meddle with the grader and with later steps.

Each is paid what a failed run is paid: nothing.
"""

import pytest

from tests.redteam.attacks import MEDDLING, SEMANTICS, Attack
from tests.redteam.siege import Siege

BACKENDS = ("warm", "warm without root")
CASES = {f"{family}: {name}": attack for family, found in MEDDLING.items() for name, attack in found.items()}


@pytest.mark.parametrize("attack", CASES.values(), ids=CASES)
def test_an_attack_is_paid_as_a_failed_run(attack: Attack, siege: Siege):
    siege.survives(attack)


@pytest.mark.parametrize("name", SEMANTICS)
def test_what_predicts_nothing_is_paid_nothing(name: str, siege: Siege):
    siege.survives(SEMANTICS[name])
