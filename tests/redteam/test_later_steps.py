"""Attacks on the end of a run and on later steps. Each is paid what a failed run is paid: nothing."""

import pytest

from sandmill.models.reports import Outcome
from tests.redteam.attacks import load_attacks
from tests.redteam.siege import Siege

BACKENDS = ("warm", "warm without root")


def all_were_run(results):
    assert {result.outcome for result in results} <= {Outcome.OK, Outcome.NO_SUBMISSION}, results


def the_first_was_run(results):
    all_were_run(results[:1])


ATTACKS = load_attacks("later_steps", all_were_run, the_first_was_run)


@pytest.mark.parametrize("name", ATTACKS)
def test_who_meddles_with_later_steps_is_paid_as_a_failed_run(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
