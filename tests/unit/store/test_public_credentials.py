"""Readers of the public half may have credentials for it alone: no request ever names a private prefix."""

import re
from typing import Any

import pytest
import s3fs

from sandmill.store.files import Store
from sandmill.store.release import load
from tests.invoking import run
from tests.publishing import publish_numbers

_PRIVATE = re.compile(r"(?:^|/)(?:private|secret|shards|llm|reports)(?:/|$)")

_PUBLIC = re.compile(r"halves/micro/?$|halves/micro/[^/]+/(?:manifest\.json|public/[^/]+)$")


@pytest.fixture
def requests(monkeypatch) -> list[tuple[str, str]]:
    """Record (operation, key or prefix) of every request to S3. One for a private prefix is denied."""
    seen: list[tuple[str, str]] = []
    real = s3fs.S3FileSystem._call_s3

    async def recording(self: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        given = {name: value for part in (*args, kwargs) for name, value in part.items()}
        asked = str(given.get("Key") or given.get("Prefix") or "")
        seen.append((method, asked))
        if _PRIVATE.search(asked):
            raise PermissionError(f"Access Denied: {asked}")
        return await real(self, method, *args, **kwargs)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", recording)
    return seen


@pytest.fixture(scope="module")
def release(s3_root) -> str:
    root = f"{s3_root}/halves/micro"
    publish_numbers(Store(root), range(2), range(2, 4))
    return root


def test_a_pull_of_the_public_half_never_asks_for_a_private_prefix(release, requests, tmp_path):
    ran = run("pull", release, "--to", tmp_path, "--public-only")
    assert ran.exit_code == 0, ran.stderr
    assert len(list(tmp_path.glob("*/public/train.csv"))) == 4
    assert requests
    assert [asked for _, asked in requests if not _PUBLIC.search(asked)] == []


def test_a_selection_of_public_facts_never_asks_for_a_private_prefix(release, requests, tmp_path):
    arguments = ("--split", "train", "--metric", "roc_auc", "--task", load(release).task_ids[0])
    ran = run("pull", f"{release}@1", "--to", tmp_path, "--public-only", *arguments)
    assert ran.exit_code == 0, ran.stderr
    assert len(list(tmp_path.glob("*/public"))) == 1
    assert [asked for _, asked in requests if _PRIVATE.search(asked)] == []


def test_a_pull_of_both_halves_asks_and_says_what_it_lacks(release, requests, tmp_path):
    ran = run("pull", release, "--to", tmp_path)
    assert ran.exit_code == 1
    assert "the private half is not readable here" in ran.stderr
    assert "--public-only" in ran.stderr
    assert [asked for _, asked in requests if _PRIVATE.search(asked)]
    assert list(tmp_path.iterdir()) == []
