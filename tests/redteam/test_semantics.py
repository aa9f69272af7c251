"""Attacks on the meaning of a score: malformed submissions, and predictions that know nothing."""

import pytest

from tests.redteam.attacks import SEMANTICS
from tests.redteam.siege import Siege


@pytest.mark.parametrize("name", SEMANTICS)
def test_what_predicts_nothing_is_paid_nothing(name: str, siege: Siege):
    siege.survives(SEMANTICS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
