import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    """Files that are or would be committed. Compressed bytes are no text, and hold anything by chance."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        path = REPOSITORY / name
        if path.is_file() and path.suffix != ".parquet" and path.stat().st_size < 2_000_000:
            yield name, path.read_text(encoding="utf-8", errors="replace")


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


def test_the_base_install_has_only_what_loading_pulling_and_grading_need():
    base = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert base & {"pandas", "duckdb", "jinja2", "s3fs", "fsspec", "pillow"} == set()
    found = {
        "s3": {"s3fs", "fsspec"},
        "report": {"duckdb", "jinja2", "pillow"},
        "rerun": {"mimesis", "pandas", "pillow"},
    }
    for extra, names in found.items():
        assert {Requirement(line).name for line in EXTRAS[extra]} == names
    pipeline = {Requirement(line).name for line in EXTRAS["pipeline"]}
    assert {"s3fs", "duckdb", "jinja2", "pandas", "pillow"} <= pipeline


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
    assert {Path(name).suffix for name in library if not name.startswith("sandmill/samples/")} <= {
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
