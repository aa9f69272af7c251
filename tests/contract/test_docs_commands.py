"""No command of README.md and docs/ is out of date: each is classified, and its arguments are those of today."""

import re
from importlib.util import find_spec

import pytest

from sandmill.cli.app import COMMANDS, _load_command
from sandmill.cli.arguments import parse_models
from sandmill.models.request import AuditRequest, BuildRequest, RefreshRequest, RunSettings
from tests.contract.test_repository import EXTRAS
from tests.docs_commands import PAGES, Command, all_commands, blocks
from tests.releases import REPOSITORY

ALL = all_commands()
PLACEHOLDERS = {"MODEL": "openai/name", "URL": "http://127.0.0.1:1/v1"}
FLOWS = {
    "build_release": (BuildRequest, RunSettings),
    "audit_release": (AuditRequest,),
    "refresh_curriculum": (RefreshRequest, RunSettings),
}
"""The models that are the options of each flow."""


def _those(pattern: str) -> list[Command]:
    return [command for command in ALL if re.match(pattern, " ".join(command.words))]


def test_every_command_of_the_documentation_has_a_line_in_the_table():
    assert [f"{command}: {command.text}" for command in ALL if command.way is None] == [], (
        "Say in tests/docs_commands.py what the tests do with these commands."
    )
    assert len(ALL) > 70


def test_no_command_hides_in_a_block_without_a_language():
    found = []
    for page in PAGES:
        for first, text in blocks(page, "", "text"):
            found += [f"{page}:{first}: {line}" for line in text.splitlines() if re.match(r"\$ |sandmill [a-z]", line)]
    assert found == []


@pytest.mark.parametrize("command", _those("sandmill "), ids=str)
def test_the_arguments_of_a_sandmill_command_parse(command):
    _, name, *arguments = [PLACEHOLDERS.get(word, word) for word in command.words]
    assert name in COMMANDS
    _load_command(name).make_context(name, arguments)


@pytest.mark.parametrize("command", _those(r"python -m flows\."), ids=str)
def test_the_arguments_of_a_flow_parse(command):
    _, _, module, *arguments = command.words
    flow = module.removeprefix("flows.")
    parse_models(arguments, module, "", "", *FLOWS[flow])


def test_every_module_that_is_run_exists():
    for command in _those("python -m "):
        assert find_spec(command.words[2]), command


def test_every_target_of_make_exists():
    targets = set(re.findall(r"^([a-z-]+):.*##", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    assert {command.words[1] for command in _those("make ")} <= targets


def test_every_dockerfile_exists():
    for command in _those("docker build "):
        assert (REPOSITORY / command.words[3]).is_file(), command


def test_every_extra_that_is_named_exists():
    texts = [(REPOSITORY / page).read_text() for page in PAGES]
    named = {
        name for text in texts for match in re.findall(r"sandmill\[([a-z,0-9]+)\]", text) for name in match.split(",")
    }
    assert {"trl", "serve", "rollout", "s3"} <= named <= set(EXTRAS)


@pytest.mark.slow
def test_the_arguments_of_prefects_commands_parse():
    from prefect.cli._app import _app

    id = "01234567-89ab-cdef-0123-456789abcdef"
    for command in _those("prefect "):
        words = [id if word in ("UUID", "ID") else word for word in command.words[1:]]
        function, *_ = _app.parse_args(words, exit_on_error=False, print_error=False)
        assert callable(function), command
