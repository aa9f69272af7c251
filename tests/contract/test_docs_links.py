"""Links between documentation pages have existing targets, and the index lists every page."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from sandmill.models.kind import Kind
from tests.docs_commands import PAGES
from tests.releases import REPOSITORY

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page):
    here = REPOSITORY / page
    broken = []
    for name, anchor in LINK.findall(here.read_text(encoding="utf-8")):
        target = (here.parent / name).resolve() if name else here
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(f"{name}#{anchor}")
    assert broken == []


def test_the_index_names_every_page():
    index = (REPOSITORY / "docs" / "README.md").read_text()
    names = {path.name for path in (REPOSITORY / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in names if f"({name})" not in index} == set()


LIBRARY = REPOSITORY / "src" / "sandmill"
CODE = re.compile(r"`([^`]+)`")
FUNCTION = re.compile(r"[a-z_]+(\.[A-Za-z_]+)+")
PLACE = re.compile(r"[a-z_]+(/[\w.-]+)*(/|\.py|\.md|\.json)(: [A-Za-z_]+)?")

OF_A_RELEASE = {"public/", "reports/"}


def _stages() -> str:
    return (REPOSITORY / "docs" / "stages.md").read_text(encoding="utf-8")


def _guide() -> str:
    return "".join((REPOSITORY / name).read_text(encoding="utf-8") for name in ("AGENTS.md", "docs/contributing.md"))


def _resolve(name: str) -> object:
    """Return what a dotted name of the table stands for: a part of a module or of a class."""
    parts, found = name.split("."), import_module("sandmill")
    for place, part in enumerate(parts, 1):
        if not hasattr(found, part):
            import_module(".".join(["sandmill", *parts[:place]]))
        found = getattr(found, part)
    return found


def _named_functions() -> list[str]:
    names = [name for name in CODE.findall(_stages()) if FUNCTION.fullmatch(name)]
    return sorted({name for name in names if not name.endswith(".py")})


@pytest.mark.parametrize("name", _named_functions())
def test_every_function_of_the_table_of_stages_exists(name):
    assert callable(_resolve(name))


def test_the_table_names_the_tasks_of_the_flow_in_the_order_in_which_it_calls_them():
    column = [line.split("|")[2] for line in _stages().splitlines() if line.startswith("| ")]
    named = [name for cell in column[1:] for name in CODE.findall(cell) if re.fullmatch(r"[a-z_]+", name)]
    flow = ast.parse((REPOSITORY / "flows" / "build_release.py").read_text(encoding="utf-8"))
    calls = [node for part in flow.body if isinstance(part, ast.FunctionDef) for node in ast.walk(part)]
    used = [node for node in calls if isinstance(node, ast.Name) and node.id in named]
    lines = {name: min(node.lineno for node in used if node.id == name) for name in named}
    assert sorted(named, key=lambda name: lines[name]) == named


def _named_places() -> list[str]:
    return sorted({name for name in CODE.findall(_guide()) if PLACE.fullmatch(name)} - OF_A_RELEASE)


@pytest.mark.parametrize("name", _named_places())
def test_every_file_of_the_guide_exists_with_what_it_is_said_to_hold(name):
    path, _, held = name.partition(": ")
    roots = (REPOSITORY, LIBRARY, LIBRARY / "kinds" / "audio", REPOSITORY / "tests")
    here = [root / path for root in roots if (root / path).exists()]
    assert here
    assert not held or re.search(rf"^(class )?{held}\b", here[0].read_text(encoding="utf-8"), re.MULTILINE)


def test_the_guide_names_every_part_of_a_kind():
    guide = _guide()
    parts = [name for name, field in Kind.model_fields.items() if field.annotation in (str, str | None)]
    others = {"name", "form", "id_column"}
    assert {part for part in parts if part not in others and f"`{part}`" not in guide} == set()


@pytest.mark.parametrize(("name", "most"), [("README.md", 900), ("AGENTS.md", 500)])
def test_the_first_pages_are_short(name, most):
    assert len((REPOSITORY / name).read_text(encoding="utf-8").split()) <= most
