"""Splits lie in files of their own, so that no reader mixes tasks to train on with tasks that are held out."""

from pathlib import Path

import polars as pl
import pytest
import yaml

from sandmill.errors import RequestError, StoreError
from sandmill.report.card import dataset_card
from sandmill.store.files import Store
from sandmill.store.secret import SECRET_PATH, release_secret
from tests.factories import make_task
from tests.publishing import fill_splits, publish_shards
from tests.report_records import make_counts

SPLITS = {0: "train", 1: "validation", 2: "train", 3: "held_out_domain"}, {4: "train", 5: "held_out_motif"}
EXPECTED = {"train": 3, "validation": 1, "held_out_domain": 1, "held_out_motif": 1}


@pytest.fixture
def version(tmp_path) -> Path:
    """Publish tasks of four splits out of two shards, with their card."""
    store = Store(str(tmp_path / "micro"))
    counts = make_counts(make_task(number).record for number in range(6))
    refs = [fill_splits(store, splits) for splits in SPLITS]
    manifest, _ = publish_shards(store, refs, card=lambda manifest: dataset_card(manifest, counts))
    return tmp_path / "micro" / manifest.version


def _configs(version: Path) -> dict[str, dict[str, str]]:
    """Patterns of the files by config and split, as the card gives them to a loader."""
    matter = yaml.safe_load((version / "README.md").read_text().split("---\n")[1])
    return {
        one["config_name"]: {file["split"]: file["path"] for file in one["data_files"]} for one in matter["configs"]
    }


def test_the_files_that_the_card_names_hold_one_split_each_and_all_tasks_together(version):
    configs = _configs(version)
    assert {split: pl.read_parquet(version / path).height for split, path in configs["tasks"].items()} == EXPECTED
    for split, path in configs["tasks"].items():
        assert set(pl.read_parquet(version / path)["split"]) == {split}
    files = {split: set(pl.read_parquet(version / path)["task_id"]) for split, path in configs["files"].items()}
    assert {split: len(ids) for split, ids in files.items()} == EXPECTED
    assert len(set().union(*files.values())) == 6


def test_a_secret_is_made_once_and_kept(store):
    first = release_secret(store, None)
    assert len(first) >= 32
    assert release_secret(Store(store.root), None) == first
    assert bytes.fromhex(store.read(SECRET_PATH).decode()) == first


def test_an_operators_secret_is_used_and_not_stored(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(bytes(range(200, 240)))
    store = Store(str(tmp_path / "micro"))
    assert release_secret(store, path) == bytes(range(200, 240))
    assert store.list() == []


def test_a_copy_of_the_stored_key_is_the_same_secret(tmp_path):
    store = Store(str(tmp_path / "micro"))
    stored = release_secret(store)
    copy = tmp_path / "copy"
    copy.write_text((tmp_path / "micro" / SECRET_PATH).read_text() + "\n")
    assert release_secret(Store(str(tmp_path / "other")), copy) == stored


def test_a_short_or_missing_secret_file_is_a_request_error(tmp_path):
    short = tmp_path / "short"
    short.write_bytes(b"hunter2")
    with pytest.raises(RequestError, match="saw 7 bytes; expected at least 32 bytes"):
        release_secret(Store(str(tmp_path)), short)
    with pytest.raises(RequestError, match="no such file"):
        release_secret(Store(str(tmp_path)), Path("/no/such/key"))


@pytest.mark.parametrize(("content", "said"), [(b"abcd", "holds 2 bytes"), (b"ab" * 4096, "more than 4096 bytes")])
def test_a_damaged_stored_secret_is_never_replaced(store, content, said):
    store.write(SECRET_PATH, content)
    with pytest.raises(StoreError, match=said):
        release_secret(store)
    assert store.read(SECRET_PATH) == content
