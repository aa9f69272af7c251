"""sandmill serve: bad arguments end with one message and exit code 2, before anything starts."""

import socket
from pathlib import Path

import pytest

from tests.servers import TOKEN
from tests.unit.cli.test_commands import run


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


def test_a_token_file_is_required(token):
    ran = run("serve", "--port", "0")
    assert (ran.exit_code, "--token-file" in ran.output) == (2, True)


@pytest.mark.parametrize("port", ["-1", "65536", "x", ""])
def test_a_bad_port_is_refused(token, port):
    ran = run("serve", "--port", port, "--token-file", token)
    assert (ran.exit_code, "--port" in ran.output) == (2, True)


def test_a_port_in_use_is_refused(token):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("serve", "--port", taken.getsockname()[1], "--token-file", token)
    assert (ran.exit_code, "Address already in use" in ran.output) == (2, True)


def test_a_token_file_that_others_read_is_refused(token):
    token.chmod(0o644)
    ran = run("serve", "--port", "0", "--token-file", token)
    assert ran.exit_code == 2
    assert "mode 0644, which lets other users read or write it" in ran.output
    assert f"chmod 600 {token}" in ran.output
    assert TOKEN not in ran.output


def test_a_source_without_tasks_is_refused(token, tmp_path):
    ran = run("serve", "--port", "0", "--token-file", token, tmp_path / "nothing", tmp_path / "neither")
    assert ran.exit_code == 2
    assert "nothing" in ran.output
    assert "neither" in ran.output
    assert "Nothing was started." in ran.output


def test_missing_packages_are_named_with_their_extra(token, monkeypatch):
    monkeypatch.setattr("sandmill.cli.serve.find_spec", lambda name: None if name == "uvicorn" else object())
    ran = run("serve", "--port", "0", "--token-file", token)
    assert (ran.exit_code, "pip install 'sandmill[serve]'" in ran.output) == (2, True)
    assert "fastapi" not in ran.output
