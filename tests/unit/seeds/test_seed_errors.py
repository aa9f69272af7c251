"""Every message that a person may get, word for word."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sandmill.errors import SeedError
from sandmill.seeds import ingest, survey
from sandmill.seeds.document import MAX_NODES
from sandmill.seeds.source_files import MAX_SHOWN
from sandmill.seeds.table_files import MAX_COLUMNS, MAX_DECODED

GOLDEN = Path(__file__).parents[2] / "golden" / "seeds"

ROWS = "x,y,late\n" + "".join(f"{n % 5},w{n % 3},{n % 2}\n" for n in range(30))


def _error(sources):
    with pytest.raises(SeedError) as error:
        ingest(sources)
    assert error.value.exit_code == 2
    return error.value


def _card_fields(written):
    card = written.card_text.replace("binary", "binry").replace("  metric: roc_auc\n", "  metrc: roc_auc\n")
    written.file("card.yaml", card.replace("id: parcel-delays", "id: Parcel Delays") + "origin: folder\nsauce: x\n")
    return ("card.yaml",)


def _card_values(written):
    text = written.card_text.replace("title: Late parcels", "title: 2024").replace(
        "summary: Tell", "summary: [Tell]\nx: T"
    )
    structure = "  n_classes: 3\n  missing_share: 1.5\n  rows_train: -4\n  columns: {numric: 2, date: many}\n"
    written.file("card.yaml", text.replace("source:", structure + "  pathologies: [missing, drft]\nsource:"))
    return ("card.yaml",)


def _card_contradiction(written):
    written.file("card.yaml", written.card_text.replace("binary", "multiclass"))
    return ("card.yaml",)


def _yaml(written):
    written.file("cards/anchors.yaml", "a: &a [x, x]\nb: *a\n")
    written.file("cards/deep.yaml", "id: " + "[" * 5000)
    written.file("cards/empty.yaml", "")
    written.file("cards/list.yaml", "- a\n- b\n")
    written.file("cards/open.yaml", "id: [a, b\ntitle: x\n")
    written.file("cards/tag.yaml", "id: !!python/object/apply:os.system [touch ran]\n")
    written.file("cards/twice.yaml", written.card_text + "id: again\n")
    written.file("cards/two.yaml", "id: a\n---\nid: b\n")
    written.file("cards/utf8.yaml", b"id: a\ntitle: \xff\n")
    return ("cards",)


def _texts(written):
    long = written.card_text.replace("Late parcels", "L" * 201).replace("Tell which", "Tell" + " which" * 500)
    written.file("card.yaml", long.replace("our own depot", '"our\\x1b[2Jdepot"'))
    return ("card.yaml",)


def _paths(written):
    written.file("cards/a.yaml", written.card_text)
    written.file("table.csv", ROWS)
    written.file("tables/table.csv", ROWS)
    written.file("other/notes.txt", "")
    written.file("other/more.txt", "")
    Path("void").mkdir()
    return ("card", "table.csv", "tables", "other", "void", "s3://bucket/seeds", "", "a\0b")


def _repeated(written):
    for name in ("a", "b"):
        written.file(f"{name}.yaml", written.card_text)
    return ("a.yaml", "b.yaml", "a.yaml")


def _unsupported(written):
    written.file("cards/a.yaml", written.card_text.replace("tabular", "time_series"))
    written.competition("parcels", "accuracy")
    return ("cards", "parcels")


def _table_columns(written):
    extra = "id_column: z\nignore: [late, xx]\n"
    return (written.table("one", ROWS, target="lat", extra=extra), written.table("two", ROWS, target="something"))


def _table_shapes(written):
    written.table("blank", "")
    written.table("doubled", "x,X,late\n1,2,3\n")
    written.table("header", "x,late\n")
    written.table("latin", "x,late\n1,0\n")
    written.file("latin/table.csv", b"x,late\n1,0\n\xe9,1\n")
    written.table("nameless", "x,,late\n1,2,3\n")
    written.table("ragged", ROWS + "1,2\n" + "1,2,3,4\n" * 6)
    written.table("semicolons", "x;late\n1;0\n")
    written.table("several", ROWS)
    written.file("several/another.csv", ROWS)
    written.table("without", ROWS)
    Path("without/table.csv").unlink()
    written.table("not-parquet", ROWS)
    Path("not-parquet/table.csv").rename("not-parquet/table.txt")
    names = "blank doubled header latin nameless ragged semicolons several without not-parquet"
    return tuple(names.split())


def _table_targets(written):
    names = "late,x\n" + "".join(f"name {n},{n % 4}\n" for n in range(30))
    return (
        written.table("constant", "x,late\n" + "1,5\n" * 30),
        written.table("declared", ROWS, target="y", extra="target_kind: regression\n"),
        written.table("metric", ROWS, extra="target_kind: sequence\n"),
        written.table("names", names),
        written.table("alone", "late\n" + "0\n1\n" * 15),
    )


def _competitions(written):
    written.competition("grader", "auc-rok")
    for name in ("absent", "broken"):
        written.competition(name)
    Path("absent/description.md").unlink()
    written.file("broken/config.yaml", "id: broken\ngrader: {}\n")
    written.file("broken/description.md", "# Only a heading\n")
    return ("absent", "broken", "grader")


CASES = {
    "card-fields": _card_fields,
    "card-values": _card_values,
    "card-contradiction": _card_contradiction,
    "yaml": _yaml,
    "texts": _texts,
    "paths": _paths,
    "repeated": _repeated,
    "unsupported": _unsupported,
    "table-columns": _table_columns,
    "table-shapes": _table_shapes,
    "table-targets": _table_targets,
    "competitions": _competitions,
}


@pytest.mark.parametrize("name", CASES)
def test_a_message_names_every_place_what_was_seen_and_what_was_expected(written, name):
    message = f"{_error(CASES[name](written))}\n"
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        golden.write_text(message, encoding="utf-8")
    assert message == golden.read_text(encoding="utf-8")
    assert not Path("ran").exists()


def test_a_large_card_is_refused_unread(written):
    written.file("card.yaml", written.card_text + "#" * 256 * 1024)
    assert "more than 256 kB; expected at most 256 kB" in str(_error(("card.yaml",)))


def test_a_wide_card_is_refused_before_a_tree_is_made_of_it(written):
    written.file("card.yaml", written.card_text + f"profile: [{'1,' * MAX_NODES}]\n")
    (problem,) = _error(("card.yaml",)).problems
    assert problem.saw == f"more than {MAX_NODES} fields and values"
    assert problem.expected == f"at most {MAX_NODES}"
    assert problem.where.startswith("line ")


def test_a_message_lists_no_more_problems_of_one_file_than_a_person_reads(written):
    written.file("card.yaml", written.card_text.replace("  metric:", "  pathologies: [" + "1," * 1000 + "]\n  metric:"))
    problems = _error(("card.yaml",)).problems
    assert len(problems) == MAX_SHOWN + 1
    assert problems[-1].saw == f"{1000 - MAX_SHOWN} more problems"


@pytest.mark.parametrize("giant", ["0x" + "f" * 200_000, "1" + ":59" * 60_000], ids=["hexadecimal", "to base 60"])
def test_a_giant_number_is_a_problem_with_its_line_whatever_its_spelling(written, giant):
    written.file("card.yaml", written.card_text.replace("target: binary", f"target: {giant}"))
    error = _error(("card.yaml",))
    assert [problem.where.rpartition(", ")[2] for problem in error.problems] == ["structure.target"]
    assert error.problems[0].where.startswith("line ")
    assert len(str(error)) < 1000


@pytest.mark.parametrize(
    "name", ["description.md", "config.yaml", "prepared", "prepared/public", "prepared/public/train.csv"]
)
def test_a_part_of_a_competition_that_is_a_link_is_not_read(written, name):
    written.file("many/card.yaml", written.card_text)
    folder = Path(written.competition("many/linked"))
    for table in ("train", "test", "sample_submission"):
        written.file(f"{folder}/prepared/public/{table}.csv", "id,late\n1,yes\n2,no\n")
    (folder / name).rename("moved")
    (folder / name).symlink_to(Path("moved").absolute())
    (aside,) = survey(("many",)).unsupported
    assert "saw a link" in "; ".join(aside.needs)
    assert name.rpartition("/")[2] in "; ".join(aside.needs)


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


def _nested(rows: int, word: str):
    return pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2, pa.int8()), pa.array([word, word[:-1]]))


def test_few_bytes_that_stand_for_very_many_rows_are_refused(written, monkeypatch):
    rows = 1002
    monkeypatch.setattr("sandmill.seeds.table_files.MAX_PARQUET_ROWS", rows - 2)
    _parquet(written, {"late": _nested(rows, "yes")})
    with pytest.raises(SeedError, match=f"saw {rows} rows; expected at most {rows - 2}"):
        ingest(("seed",))


def test_one_word_of_a_dictionary_that_stands_in_very_many_rows_is_refused(written):
    word = "a" * 100_000
    rows = 2 * MAX_DECODED // len(word)
    _parquet(written, {"x": _nested(rows, word), "late": _nested(rows, "yes")})
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
