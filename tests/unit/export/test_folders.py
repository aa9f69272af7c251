"""Exports of tasks whose items lie in folders, or whose sample submission lies in an archive."""

from types import SimpleNamespace

from sandmill.export import mlebench
from sandmill.export.base import ExportTask, within
from sandmill.kinds.token.layout import TokenTables

TEXT = b"# Task\n\nFiles: `public/train.csv`, pictures in `public/train/`, not `public/other/`."


def exported(**files):
    record = SimpleNamespace(spec=SimpleNamespace(kind=SimpleNamespace(load=lambda part: TokenTables())))
    return ExportTask(record, {"description.md": TEXT, **files}, {})


def test_folders_of_items_keep_their_paths_and_lose_our_folder_in_texts():
    task = exported(**{"train.csv": b"", "train/a/seen.png": b"1"})
    text = task.plain_description
    assert "`train.csv`, pictures in `train/`, not `public/other/`" in text
    assert dict(within("data", task.data_files)) == {"data/train.csv": b"", "data/train/a/seen.png": b"1"}


def test_a_sample_in_an_archive_gets_a_copy_that_mle_bench_can_read():
    sample = TokenTables().pack_sample(b"id,y\na,1\n")
    path, content = mlebench._sample(exported(**{"sample_submission.csv.zip": sample}))
    assert (path, content) == ("private/sample_submission.csv", b'"id","y"\n"a","1"\n')
