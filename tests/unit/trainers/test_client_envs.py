"""The lists of packages of clients, without installing them."""

import re
import sys

import pytest

from tests.clients.envs import Client, find_python, known_clients, main

PIN = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?==[\w.+!]+( ; .+)?")


@pytest.mark.parametrize("name", known_clients())
def test_a_list_is_complete_pins_without_an_address_and_has_a_test(name):
    client = Client(name)
    lines = [line for line in client.requirements.read_text().splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    assert re.fullmatch(r"3\.[0-9]+", client.header["python"])
    assert (client.requirements.parent.parent / f"test_{name}.py").is_file()


def test_an_environment_is_ready_only_if_it_was_made_to_its_end_from_this_list(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.clients.envs.REQUIREMENTS", tmp_path)
    monkeypatch.setattr("tests.clients.envs.PLACE", tmp_path / "made")
    (tmp_path / "nothing.txt").write_text(f"# python: {sys.version_info[0]}.{sys.version_info[1]}\n")
    client, ran = Client("nothing"), []
    monkeypatch.setattr("tests.clients.envs.subprocess.run", lambda command, **_: ran.append(command))
    monkeypatch.setattr("tests.clients.envs.find_python", lambda version: sys.executable)
    client.make()
    assert client.is_ready
    assert "-r" in ran[1]
    client.make()
    assert len(ran) == 2
    client.requirements.write_text("# python: 3.9\n")
    assert not client.is_ready


def test_an_unknown_client_and_a_missing_python_are_said():
    with pytest.raises(SystemExit, match=r"Unknown client nonsense; expected .*harbor"):
        main(["nonsense"])
    with pytest.raises(SystemExit, match=r"No Python 9\.9"):
        find_python("9.9")
