"""What can be checked of the container images where no container engine runs."""

import ast
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.releases import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
IMAGES = sorted((REPOSITORY / "docker").glob("*.Dockerfile"))

pytestmark = pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.stem)


def _instructions(image: Path) -> list[tuple[str, str]]:
    """Each instruction with its arguments. Lines that end in a backslash go on."""
    lines = [line for line in image.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def _all(image: Path, name: str) -> list[str]:
    return [rest for word, rest in _instructions(image) if word == name]


def test_copied_files_exist_and_are_in_the_build_context(image):
    rules = [line for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for arguments in _all(image, "COPY"):
        *sources, _ = arguments.split()
        for source in sources:
            assert (REPOSITORY / source).exists(), source
            assert any(fnmatch(source.rstrip("/"), rule[1:]) for rule in rules), source


def test_installations_are_pinned_and_name_extras_that_exist(image):
    installed = [command for command in _all(image, "RUN") if "pip install" in command]
    assert installed
    default = dict(rest.split("=", 1) for rest in _all(image, "ARG"))
    for command in installed:
        assert "-c constraints.txt" in command
        (extras,) = re.findall(r'"\.\[(.+?)\]"', command)
        named = default["EXTRAS"] if extras == "${EXTRAS}" else extras
        assert set(named.split(",")) <= set(PROJECT["optional-dependencies"])
    assert "sandmill agent-env create" in _all(image, "RUN")


def test_the_process_is_not_root(image):
    words = _instructions(image)
    (user,) = _all(image, "USER")
    assert user not in ("root", "0")
    assert [word for word, _ in words[words.index(("USER", user)) :]] in (["USER", "CMD"], ["USER", "EXPOSE", "CMD"])


def test_a_worker_of_builds_has_all_that_flows_import_and_read(image):
    if image.stem != "build-worker":
        pytest.skip("only workers run flows")
    copied = {source.rstrip("/") for arguments in _all(image, "COPY") for source in arguments.split()[:-1]}
    imported: set[str] = set()
    for path in [*(REPOSITORY / "flows").glob("*.py"), *(REPOSITORY / "tasks").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    assert {name for name in imported if (REPOSITORY / name).is_dir()} <= copied
    assert {"src", "flows", "tasks", "expectations", "prefect.yaml", "constraints.txt"} <= copied
