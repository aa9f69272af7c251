"""sandmill serve: bad arguments end with one message and exit code 2, before anything starts."""

import sys
from pathlib import Path

import pytest

from tests.invoking import refused
from tests.servers import TOKEN


@pytest.fixture
def token(tmp_path) -> Path:
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text(TOKEN)
    return path


@pytest.fixture(autouse=True)
def no_sandbox(monkeypatch):
    """A sandbox would need the agent environment. No test comes as far as starting one."""

    class Box:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def __enter__(self) -> None:
            raise AssertionError("started")

    monkeypatch.setattr("sandmill.sandbox.Sandbox", Box)


def test_a_source_without_tasks_is_refused(token, tmp_path):
    said = refused("serve", "--port", "0", "--token-file", token, tmp_path / "nothing", tmp_path / "neither")
    assert [word for word in ("nothing", "neither", "Nothing was started.") if word not in said] == []


def test_missing_packages_are_named_with_their_extra(token, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = refused("serve", "--port", "0", "--token-file", token)
    assert "pip install 'sandmill[serve]'" in said
    assert "uvicorn" in said


@pytest.mark.parametrize("more", [(), ("--ors", "--host", "0.0.0.0"), ("--ors", "--host", "localhost.example")])
def test_a_server_without_a_token_is_for_this_machine_alone(more):
    said = refused("serve", "--port", "0", *more)
    assert "only --ors on 127.0.0.1 needs none" in said


def test_an_unknown_reward_of_sessions_is_refused(tmp_path):
    said = refused("serve", "--port", "0", "--ors", "--reward", "gold", tmp_path)
    assert "gold" in said
