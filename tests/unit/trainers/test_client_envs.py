"""The lists of packages of clients, without installing them."""

import re

import pytest

from tests.clients.envs import Client, known_clients

PIN = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?==[\w.+!]+( ; .+)?")


@pytest.mark.parametrize("name", known_clients())
def test_a_list_is_complete_pins_without_an_address_and_has_a_test(name):
    client = Client(name)
    lines = [line for line in client.requirements.read_text().splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    assert re.fullmatch(r"3\.[0-9]+", client.header["python"])
    assert (client.requirements.parent.parent / f"test_{name}.py").is_file()
