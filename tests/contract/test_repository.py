import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from email import message_from_bytes
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.releases import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
LEARN = tomllib.loads((REPOSITORY / "learn" / "pyproject.toml").read_text())["project"]


def _pins(path: Path) -> list[Requirement]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]


CONSTRAINTS = _pins(REPOSITORY / "constraints.txt")
CLIENTS = {name: _pins(REPOSITORY / "tests" / "clients" / "requirements" / f"{name}.txt") for name in EXTRAS}
"""Pins of extras whose packages do not fit into one environment with the others."""

HOSTS = re.compile(
    r"\b(?:py" + r"pi\.(?:org|python)|pythonho" + r"sted\.org|npm" + r"js\.|ana" + r"conda\.org|artifac" + r"tory)"
    r"|--(?:extra-)?index-" + r"url",
    re.IGNORECASE,
)
"""Where packages come from is the machine's to say. Written in pieces, so that this file does not name them."""

MACHINE = re.compile(r"(?<![\w.$}])/(?:work|home|ro" + r"ot|Us" + r"ers)/[\w.-]+|\b[A-Z]:\\[\w]")
"""Folders of somebody's machine."""


def _texts() -> Iterator[tuple[str, str]]:
    """Files that are or would be committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        path = REPOSITORY / name
        if path.is_file() and path.stat().st_size < 2_000_000:
            yield name, path.read_text(encoding="utf-8", errors="replace")


def test_what_the_commands_of_the_readme_write_is_not_committed():
    ignored = set((REPOSITORY / ".gitignore").read_text().splitlines())
    assert {"/releases/", "/pulled/", "/report/", "/rollouts/", "/tutorial/", "/token"} <= ignored


@pytest.mark.parametrize("pattern", [HOSTS, MACHINE], ids=["registry hosts", "machine paths"])
def test_the_repository_names_no_place_that_others_do_not_have(pattern):
    found = {f"{name}: {match[0]}" for name, text in _texts() for match in pattern.finditer(text)}
    assert sorted(found) == []


def test_constraints_pin_one_version_each_and_give_no_address():
    assert [str(pin) for pin in CONSTRAINTS if pin.url or not re.fullmatch(r"==[\w.]+", str(pin.specifier))] == []
    assert "://" not in (REPOSITORY / "constraints.txt").read_text()
    assert [str(pin) for pin in CONSTRAINTS if pin.extras] == []


@pytest.mark.parametrize(
    ("extra", "wanted"),
    [("", line) for line in PROJECT["dependencies"]]
    + [(name, line) for name in sorted(EXTRAS) for line in EXTRAS[name]]
    + [("learn", line) for line in LEARN["dependencies"]],
)
def test_every_dependency_is_pinned_to_versions_that_it_allows(extra, wanted):
    requirement = Requirement(wanted)
    if requirement.name == PROJECT["name"]:
        assert requirement.specifier.contains(PROJECT["version"])
        return
    pins = CLIENTS.get(extra) or CONSTRAINTS
    pinned = [pin for pin in pins if canonicalize_name(pin.name) == canonicalize_name(requirement.name)]
    assert pinned, f"neither constraints.txt nor the client's list pins {requirement.name}"
    for pin in pinned:
        (exact,) = pin.specifier
        assert requirement.specifier.contains(exact.version), f"{pin} is not {wanted}"


@pytest.mark.parametrize(("name", "too_new"), [("fastapi", "0.151"), ("sqlalchemy", "2.1"), ("prefect", "3.9")])
def test_versions_that_break_prefects_server_are_kept_out(name, too_new):
    (requirement,) = [r for r in map(Requirement, EXTRAS["pipeline"]) if r.name == name]
    assert not requirement.specifier.contains(too_new)
    assert not requirement.specifier.contains(f"{too_new}.5")
    (pin,) = [pin for pin in CONSTRAINTS if pin.name == name]
    (exact,) = pin.specifier
    assert Version(exact.version) < Version(too_new)
    assert Version(version(name)) < Version(too_new)


def test_the_base_install_has_nothing_of_the_pipeline():
    base = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert base & {"prefect", "great-expectations", "fastapi", "sqlalchemy", "litellm", "moto", "pytest"} == set()


def test_the_base_install_has_only_what_loading_pulling_and_grading_need():
    base = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert base & {"pandas", "duckdb", "s3fs", "fsspec", "pillow"} == set()
    for extra, names in {"s3": {"s3fs", "fsspec"}, "seeds": {"duckdb"}, "rerun": {"pandas", "pillow"}}.items():
        assert {Requirement(line).name for line in EXTRAS[extra]} == names
    pipeline = {Requirement(line).name for line in EXTRAS["pipeline"]}
    assert {"s3fs", "duckdb", "pandas", "pillow"} <= pipeline


@pytest.mark.slow
def test_what_is_uploaded_says_who_made_it_and_for_whom(wheel: Path):
    with ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        about = message_from_bytes(opened.read(name))
    assert about["Summary"]
    assert about["Author"]
    assert about["License-Expression"] == "Apache-2.0"
    assert about["Requires-Python"] == ">=3.11"
    assert about["Description-Content-Type"] == "text/markdown"
    assert "rl-environments" in about["Keywords"]
    assert "Typing :: Typed" in about.get_all("Classifier")
    assert about.get_payload().startswith("# Sandmill")


@pytest.mark.slow
def test_the_distributions_pass_the_check_of_uploads(wheel: Path, sdist: Path):
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("PASSED") == 2


def test_the_wheel_is_the_library_and_nothing_else(wheel: Path):
    with ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if not name.endswith("/")]
    # verifiers finds a taskset only by the name of a top-level package.
    library = [name for name in names if name.startswith(("sandmill/", "sandmill_verifiers/"))]
    about = [name for name in names if name not in library]
    assert all(name.startswith("sandmill-") and ".dist-info/" in name for name in about), about
    committed = {
        path.relative_to(REPOSITORY / "src").as_posix()
        for package in ("sandmill", "sandmill_verifiers")
        for path in (REPOSITORY / "src" / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert set(library) == committed
    assert "sandmill/py.typed" in library
    assert {Path(name).suffix for name in library} <= {
        ".py",
        ".yaml",
        ".typed",
        ".md",
        ".json",
        ".css",
        ".js",
        ".html",
        ".txt",
    }
    for folder in ("seeds/cards", "kinds/table/domains"):
        assert [name for name in library if name.startswith(f"sandmill/{folder}/") and name.endswith(".yaml")]
    assert any(name.endswith("/licenses/LICENSE") for name in about)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_says_what_takes_minutes_before_it_begins(target):
    command = ["make", "--dry-run", "--always-make", "--no-print-directory", target]
    # A make that runs these tests hands its own flags on.
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    ran = subprocess.run(command, cwd=REPOSITORY, env=clean, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    said = [place for place, line in enumerate(lines) if line.startswith("echo") and "minutes" in line]
    for word, before in (("GB", "-m venv .venv"), ("", {"demo": "flows.build_release", "test": "pytest"}[target])):
        begins = next(place for place, line in enumerate(lines) if before in line)
        assert any(place < begins and word in lines[place] for place in said), before
    assert target == "test" or said[0] == 1, "the whole time, first"


@pytest.mark.slow
def test_the_source_distribution_can_build_releases(sdist: Path):
    with tarfile.open(sdist) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {
        "flows/build_release.py",
        "tasks/building.py",
        "expectations/tasks.json",
        "schemas/manifest.v1.json",
        "prefect.yaml",
        "constraints.txt",
        "Makefile",
        "pyproject.toml",
        "tests/conftest.py",
        "src/sandmill/seeds/cards/spaceship-titanic.yaml",
    } <= names
    assert [name for name in names if name.startswith((".venv", ".git/", "releases/")) or "__pycache__" in name] == []
