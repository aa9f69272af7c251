"""What one seed can cost in time, memory and disclosure, however it was made."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sandmill.errors import SeedError
from sandmill.seeds import ingest, survey
from sandmill.seeds.table_files import MAX_COLUMNS, MAX_DECODED

SECRET = "The key of the safe is 4711."


def _needs(folder: str) -> str:
    """Reasons why a competition is set aside that lies beside another."""
    (aside,) = survey((str(Path(folder).parent),)).unsupported
    return "; ".join(aside.needs)


def _two_competitions(written) -> str:
    written.file("many/card.yaml", written.card_text)
    return written.competition("many/linked")


@pytest.mark.parametrize("name", ["description.md", "config.yaml"])
def test_a_file_of_a_competition_that_is_a_link_is_not_read(written, name):
    folder = Path(_two_competitions(written))
    private = written.file("private.txt", (folder / name).read_text() + SECRET)
    (folder / name).unlink()
    (folder / name).symlink_to(private.absolute())
    assert f"{name} fixed (saw a link" in _needs(str(folder))


@pytest.mark.parametrize("name", ["prepared", "prepared/public", "prepared/public/train.csv"])
def test_prepared_data_that_are_a_link_are_not_read(written, name):
    folder = Path(_two_competitions(written))
    for table in ("train", "test", "sample_submission"):
        written.file(f"elsewhere/public/{table}.csv", "id,late\n1,yes\n2,no\n")
        written.file(f"elsewhere/{table}.csv", "id,late\n1,yes\n2,no\n")
    if name.endswith("train.csv"):
        for table in ("test", "sample_submission"):
            written.file(f"{folder}/prepared/public/{table}.csv", "id,late\n1,yes\n2,no\n")
    goal = {"prepared": "elsewhere", "prepared/public": "elsewhere", "prepared/public/train.csv": "elsewhere/train.csv"}
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(Path(goal[name]).absolute())
    assert "saw a link" in _needs(str(folder))


@pytest.mark.parametrize("name", ["seed.yaml", "table.csv"])
def test_a_file_of_a_folder_with_a_table_that_is_a_link_is_not_read(written, name):
    folder = Path(written.table("seed", "x,late\n1,yes\n2,no\n"))
    (folder / name).rename("moved")
    (folder / name).symlink_to(Path("moved").absolute())
    with pytest.raises(SeedError, match=r"saw a link; expected a regular file in the folder itself"):
        ingest((str(folder),))


def test_a_link_among_many_seeds_is_skipped_and_one_that_is_given_is_read(written):
    written.file("many/card.yaml", written.card_text)
    card = written.file("elsewhere.yaml", written.card_text.replace("parcel-delays", "other"))
    Path("many/linked.yaml").symlink_to(card.absolute())
    intake = survey(("many",))
    assert [skipped.source for skipped in intake.skipped] == ["many/linked.yaml"]
    assert [seed.id for seed in survey(("many/linked.yaml",)).supported] == ["other"]


def _parquet(written, columns) -> None:
    written.table("seed", "x\n1\n")
    Path("seed/table.csv").unlink()
    pq.write_table(pa.table(columns), "seed/table.parquet", compression="zstd")


def _repeated(rows: int, word: str):
    return pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2, pa.int8()), pa.array([word, word[:-1]]))


def test_few_bytes_that_stand_for_very_many_rows_are_refused(written, monkeypatch):
    rows = 1002
    monkeypatch.setattr("sandmill.seeds.table_files.MAX_PARQUET_ROWS", rows - 2)
    _parquet(written, {"late": _repeated(rows, "yes")})
    with pytest.raises(SeedError, match=f"saw {rows} rows; expected at most {rows - 2}"):
        ingest(("seed",))


def test_one_word_of_a_dictionary_that_stands_in_very_many_rows_is_refused(written):
    word = "a" * 100_000
    rows = 2 * MAX_DECODED // len(word)
    _parquet(written, {"x": _repeated(rows, word), "late": _repeated(rows, "yes")})
    assert Path("seed/table.parquet").stat().st_size < 1 << 16
    with pytest.raises(SeedError, match="saw more than 512 MB of cells, unpacked"):
        ingest(("seed",))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_with_too_many_columns_is_told_their_number(written, suffix):
    names = [f"c{number}" for number in range(MAX_COLUMNS)] + ["late"]
    if suffix == "csv":
        written.table("seed", f"{','.join(names)}\n{','.join('1' * len(names))}\n")
    else:
        _parquet(written, {name: [1] for name in names})
    with pytest.raises(SeedError, match=f"saw {len(names)} columns; expected at most {MAX_COLUMNS}"):
        ingest(("seed",))
