"""docs/data_contract.md says what schemas/ says, which the code generates."""

import re

import pyarrow.parquet as pq
import pytest

from sandmill.models.release import FORMAT_VERSION
from sandmill.store.arrow_tables import PRIVATE_TASKS, is_later
from tests.publishing import published
from tests.releases import REPOSITORY

PAGE = (REPOSITORY / "docs" / "data_contract.md").read_text(encoding="utf-8")
TABLES = {
    "public/tasks-SPLIT-*.parquet": "public_tasks",
    "public/files-SPLIT-*.parquet": "files",
    "private/tasks-SPLIT-*.parquet": "private_tasks",
    "private/files-SPLIT-*.parquet": "files",
    "durations.parquet": "durations",
    "reports/rejections-*.parquet": "rejections",
    "reports/slots-*.parquet": "slots",
}


def _section(path: str) -> str:
    return PAGE.partition(f"## `{path}`\n")[2].partition("\n## ")[0]


def _columns(path: str) -> dict[str, str]:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .+ \|$", _section(path), re.MULTILINE)
    return {name: kind.replace("\\", "").replace("list<string>", "list<item: string>") for name, kind in rows}


@pytest.mark.parametrize("path", TABLES)
def test_the_page_lists_columns_and_types_of_a_table_in_order(path):
    lines = (REPOSITORY / "schemas" / f"{TABLES[path]}.v1.arrow.txt").read_text().splitlines()
    wanted = {name: kind for name, _, kind in (line.partition(": ") for line in lines)}
    found = _columns(path)
    assert list(found) == list(wanted)
    nested = {name for name, kind in wanted.items() if "struct" in kind}
    assert {name: kind for name, kind in found.items() if name not in nested} == {
        name: kind for name, kind in wanted.items() if name not in nested
    }
    assert all("list of structs" in found[name] for name in nested)


def test_the_page_lists_every_table_that_a_version_has(tmp_path):
    release = published(tmp_path / "micro", range(2))
    paths = {part.path for part in release.manifest.parts if part.path.endswith(".parquet")}
    found = set()
    patterns = {path: path.replace("SPLIT", "*") for path in TABLES}
    for path in paths:
        (name,) = [name for name, glob in patterns.items() if re.fullmatch(glob.replace("*", ".*"), path)]
        schema = pq.read_schema(tmp_path / "micro" / release.version / path)
        assert schema.names == list(_columns(name))
        found.add(name)
    assert found == set(TABLES) - {"durations.parquet"}
    assert set(re.findall(r"^## `(.*)`$", PAGE, re.MULTILINE)) == set(TABLES)


def test_the_page_marks_columns_that_older_versions_lack_and_names_the_format():
    later = {field.name for field in PRIVATE_TASKS if is_later(field)}
    lines = _section("private/tasks-SPLIT-*.parquet").splitlines()
    assert {line.split("`")[1] for line in lines if "(*later*)" in line} == later
    assert f"which is {FORMAT_VERSION} now" in PAGE
