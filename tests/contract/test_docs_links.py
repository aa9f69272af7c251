"""Links between documentation pages have existing targets, and the index lists every page."""

import re
from pathlib import Path

import pytest

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
