"""Attacks that look for a way out: sockets, namespaces, rights, the kernel. Each is paid what a failed run is paid: nothing."""

import pytest

from tests.redteam.attacks import load_attacks
from tests.redteam.siege import Siege

BACKENDS = ("warm", "warm without root")


ATTACKS = load_attacks("ways_out")


@pytest.mark.parametrize("name", ATTACKS)
def test_who_looks_for_a_way_out_finds_none(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
