"""Folders with a table: real tables profiled, the rule that names the task, and what a person should hear about."""

from pathlib import Path

import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_wine

from sandmill.errors import SeedError
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.seeds import ingest, survey
from sandmill.seeds.table_files import MAX_CELL, TABLE_SUFFIXES, open_table
from sandmill.seeds.tabular import measure


def _frame(load):
    bunch = load()
    columns = {str(name): bunch.data[:, number] for number, name in enumerate(bunch.feature_names)}
    return pl.DataFrame(columns | {"late": bunch.target})


def _seed(source):
    return ingest((source,)).supported[0]


def _measured(folder):
    """Facts of the columns of the one table in a folder."""
    (path,) = (path for path in Path(folder).iterdir() if path.suffix in TABLE_SUFFIXES)
    table = open_table(path, path.name)
    return measure(table, tuple(name for name in table.columns if name != "late"), labelled="late")


@pytest.mark.parametrize(
    ("load", "target", "metric", "classes", "numeric", "rows"),
    [
        (load_wine, TargetKind.MULTICLASS, MetricName.ACCURACY, 3, 13, 178),
        (load_diabetes, TargetKind.REGRESSION, MetricName.RMSE, None, 10, 442),
    ],
)
def test_a_real_table_names_its_own_task_in_csv_and_parquet_alike(
    written, load, target, metric, classes, numeric, rows
):
    frame = _frame(load)
    written.table("as-csv/real", frame.write_csv())
    written.table("as-parquet/real", "")
    Path("as-parquet/real/table.csv").unlink()
    frame.write_parquet("as-parquet/real/table.parquet")
    seed = _seed("as-csv/real")
    assert (seed.structure.target, seed.structure.metric, seed.structure.n_classes) == (target, metric, classes)
    assert (seed.structure.columns.numeric, seed.structure.rows_train, seed.origin) == (numeric, rows, "folder")
    assert seed == _seed("as-parquet/real")


def test_each_kind_of_column_is_recognised(written):
    frame = pl.DataFrame(
        {
            "parcel": [f"p{n}" for n in range(40)],
            "counter": list(range(40)),
            "weight": [n / 7 if n % 4 else None for n in range(40)],
            "town": ["A", "B", "C", "NA"] * 10,
            "sent": [f"2024-01-{n % 28 + 1:02d} 10:00:00 UTC" for n in range(40)],
            "note": ["please leave it at the door"] * 20 + ["ring twice and wait a while"] * 20,
            "late": [0, 1] * 20,
        }
    )
    seed = _seed(written.table("kinds", frame.write_csv()))
    columns = _measured("kinds")
    assert {name: column.kind for name, column in columns.items()} == {
        "parcel": "identifier",
        "counter": "identifier",
        "weight": "numeric",
        "town": "categorical",
        "sent": "date",
        "note": "text",
    }
    assert columns["weight"].missing_share == 0.25
    assert columns["town"].missing_share == 0.25
    assert columns["town"].distinct == 3
    assert seed.structure.missing_share == pytest.approx(0.125)
    assert seed.structure.pathologies == (PathologyKind.MISSING,)
    assert seed.structure.columns.model_dump() == {"numeric": 1, "categorical": 1, "date": 1, "text": 1}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"] * 30, TargetKind.BINARY),
        (["a", "b", "c"] * 20, TargetKind.MULTICLASS),
        (list(range(21)) * 6, TargetKind.REGRESSION),
        (list(range(20)) * 4, TargetKind.REGRESSION),
    ],
)
def test_the_target_kind_follows_the_stated_rule(written, values, kind):
    frame = pl.DataFrame({"x": [n % 7 for n in range(len(values))], "late": values})
    assert _seed(written.table("rule", frame.write_csv())).structure.target is kind


def test_what_is_declared_wins_over_what_is_inferred(written):
    frame = pl.DataFrame({"x": [0, 1, 2, 5] * 15, "row": list(range(60)), "spare": [1] * 60, "late": [1, 2, 3] * 20})
    extra = "target_kind: regression\nid_column: row\nignore: [spare]\n"
    seed = _seed(written.table("declared", frame.write_csv(), extra=extra))
    assert (seed.structure.target, seed.structure.metric) == (TargetKind.REGRESSION, MetricName.RMSE)
    assert seed.structure.columns.model_dump() == {"numeric": 1, "categorical": 0, "date": 0, "text": 0}


def test_an_unsupported_pair_sets_the_seed_aside(written):
    frame = pl.DataFrame({"x": [0, 1, 2] * 20, "late": [0, 1] * 30})
    written.file("card.yaml", written.card_text)
    one = written.table("one", frame.write_csv(), extra="metric: pinball\n")
    two = written.table("two", frame.write_csv(), extra="split: temporal\n")
    intake = ingest(("card.yaml", one, two))
    assert {seed.id: seed.needs for seed in intake.unsupported} == {"one": ("metric pinball",)}
    assert next(seed for seed in intake.supported if seed.id == "two").structure.split is SplitKind.TEMPORAL


def test_rare_classes_and_many_levels_are_facts(written):
    rows = 600
    frame = pl.DataFrame({"town": [f"t{n % 60}" for n in range(rows)], "late": [int(n < 30) for n in range(rows)]})
    seed = _seed(written.table("rare", frame.write_csv()))
    assert seed.structure.positive_share == pytest.approx(0.05)
    assert seed.structure.pathologies == (PathologyKind.IMBALANCE, PathologyKind.HIGH_CARDINALITY)


def test_infinite_and_enormous_numbers_do_not_stop_a_profile(written):
    frame = pl.DataFrame({"x": [1e308, -1e308, float("inf"), 2.0] * 15, "late": [0.5, 1.5, 2.5, float("nan")] * 15})
    written.table("huge", frame.write_csv())
    assert _seed("huge").structure.target is TargetKind.REGRESSION
    written.table("nan", "")
    Path("nan/table.csv").unlink()
    frame.write_parquet("nan/table.parquet")
    assert _measured("nan") == _measured("huge")


def test_names_with_quotes_brackets_and_braces_are_only_names(written):
    odd = {"a\"b'; DROP TABLE cells; --": [0, 1, 2] * 20, "{x}[1]*": ["p", "q"] * 30, "late": [0, 1] * 30}
    folder = "odd[1]{2}'*"
    written.file(f"{folder}/t[a]'*.csv", pl.DataFrame(odd).write_csv())
    written.file(f"{folder}/seed.yaml", "id: odd\ntitle: t\nsummary: s\nsource: s\nlicence: l\ntarget: late\n")
    assert _seed(folder).structure.target is TargetKind.BINARY
    assert list(_measured(folder)) == list(odd)[:2]


PRICES = pl.DataFrame(
    {
        "house": [f"h{n}" for n in range(60)],
        "area": [40.5 + n % 17 for n in range(60)],
        "town": ["A", "B", "C"] * 20,
        "price": [900.5 + 7 * (n % 17) for n in range(60)],
        "number": list(range(100, 160)),
        "same": [3] * 60,
        "remark": [f"a quiet place near stop {n} of the tram" for n in range(60)],
    }
)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_with_its_target_is_a_seed(written, suffix):
    written.file("House Prices.csv", PRICES.write_csv())
    PRICES.write_parquet("House Prices.parquet")
    seed = ingest((f"House Prices.{suffix}:price",)).supported[0]
    assert (seed.id, seed.title, seed.origin) == ("house-prices", "House Prices", "folder")
    assert (seed.structure.target, seed.structure.profile.n_columns) == (TargetKind.REGRESSION, 4)
    assert "price" in seed.summary


def test_a_colon_in_a_target_and_in_the_name_of_a_file_is_only_a_character(written):
    written.file("t.csv", PRICES.rename({"price": "price: net"}).write_csv())
    assert ingest(("t.csv:price: net",)).supported[0].structure.target is TargetKind.REGRESSION
    written.table("a", "x,late\n" + "1,0\n2,1\n" * 20)
    Path("a").rename("a.csv:b")
    assert ingest(("a.csv:b",)).supported[0].id == "a"


def test_limits_of_size_are_said(written):
    written.file("few.csv", "x,late\n1,0\n2,1\n3,0\n")
    with pytest.raises(SeedError, match="saw 3 rows with a target; expected at least 10"):
        ingest(("few.csv:late",))


def test_progress_counts_the_sources(written):
    for name in ("a", "b"):
        written.table(f"all/{name}", "x,late\n" + "1,0\n2,1\n" * 20)
    seen = []
    survey(("all",), lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2)]


ROWS = [f"{n % 7},{'ab'[n % 2]},{n % 2}" for n in range(40)]
READ = {
    "bom": b"\xef\xbb\xbf" + "\n".join(["x,k,late", *ROWS]).encode(),
    "crlf": "\r\n".join(["x,k,late", *ROWS, ""]).encode(),
    "mixed": ("x,k,late\r\n" + "\n".join(ROWS[:20]) + "\n" + "\r\n".join(ROWS[20:])).encode(),
    "quoted": ("x,k,late\n" + "\n".join(ROWS) + '\n3,"a\rb",1\n').encode(),
}
REFUSED = {
    "old-mac": ("\r".join(["x,k,late", *ROWS]).encode(), "line 1: saw a carriage return without a line feed"),
    "lone": (
        ("x,k,late\n" + "\n".join(ROWS[:20]) + "\r" + "\n".join(ROWS[20:])).encode(),
        "line 21: saw a carriage return without a line feed",
    ),
    "utf-16": ("\n".join(["x,k,late", *ROWS]).encode("utf-16"), "line 1: saw bytes that are not UTF-8"),
    "ragged": (("x,k,late\r\n" + "\n".join([*ROWS, "1,2"])).encode(), "line 42: saw 2 cells; expected 3"),
}


def _folder(written, name, content):
    folder = written.table(f"all/{name}", "")
    written.file(f"{folder}/table.csv", content)
    return folder


@pytest.mark.parametrize("name", READ)
def test_a_table_with_odd_line_ends_is_read(written, name):
    seed = ingest((_folder(written, name, READ[name]),)).supported[0]
    assert seed.structure.rows_train == 40 + (name == "quoted")
    assert seed.structure.n_classes == 2


@pytest.mark.parametrize("name", REFUSED)
def test_one_that_readers_disagree_about_is_named_by_its_line(written, name):
    content, message = REFUSED[name]
    with pytest.raises(SeedError) as error:
        ingest((_folder(written, name, content),))
    assert message in str(error.value)


def test_a_broken_table_in_a_folder_is_set_aside_and_the_others_are_read(written):
    for name, content in {"mixed": READ["mixed"], "old-mac": REFUSED["old-mac"][0]}.items():
        _folder(written, name, content)
    intake = ingest(("all",))
    assert [seed.id for seed in intake.supported] == ["mixed"]
    assert [seed.id for seed in intake.unsupported] == ["old-mac"]
    assert "line 1: saw a carriage return" in intake.unsupported[0].needs[0]


MAIN = "id,x,town,late\n" + "".join(f"r{n},{n % 7},{'AB'[n % 2]},{n % 2}\n" for n in range(40))


def _traits(source):
    profile = ingest((source,)).supported[0].structure.profile
    return profile.extra_files, profile.has_dictionary, profile.has_child


def seed_beside(written, extra="table: table.csv\nid_column: id\n"):
    return written.table("many", MAIN, extra=extra)


def test_a_table_with_several_rows_for_an_id_is_a_child(written):
    folder = seed_beside(written)
    written.file(f"{folder}/calls.csv", "id,minutes\n" + "".join(f"r{n % 9},{n}\n" for n in range(50)))
    assert _traits(folder) == (1, False, True)
    written.file(f"{folder}/calls.csv", "id,minutes\n" + "".join(f"r{n},{n}\n" for n in range(40)))
    assert _traits(folder) == (1, False, False)


def test_a_table_of_column_names_and_a_codebook_are_dictionaries(written):
    folder = seed_beside(written)
    written.file(f"{folder}/meanings.csv", "column,meaning\nx,a number\ntown,a town\n")
    assert _traits(folder) == (1, True, False)
    written.file(f"{folder}/meanings.csv", "code,meaning\nA,Aberdeen\nB,Berlin\n")
    assert _traits(folder) == (1, False, False)
    written.file(f"{folder}/codebook.md", "x is a number\n")
    written.file(f"{folder}/notes.md", "thanks to all\n")
    assert _traits(folder) == (2, True, False)


def test_of_several_tables_the_one_with_the_target_must_be_named(written):
    folder = seed_beside(written, "")
    written.file(f"{folder}/calls.csv", "id,minutes\nr1,3\n")
    with pytest.raises(SeedError, match=r"saw 2 tables: calls\.csv, table\.csv; expected one") as error:
        ingest((folder,))
    assert "Name the one with the target under table" in str(error.value)
    with pytest.raises(SeedError, match=r'expected the table "other\.csv"'):
        ingest((seed_beside(written, "table: other.csv\n"),))


def _small(rows=60, **columns):
    return pl.DataFrame({"x": [n % 7 for n in range(rows)], "late": [n % 2 for n in range(rows)]} | columns)


def _notes(source):
    return [note.text for note in ingest((source,)).notes]


def test_rows_without_a_target_are_left_out_and_counted(written):
    late = [None if n < 6 else n % 2 for n in range(60)]
    gaps = ["" if n < 6 else "z" for n in range(60)]
    folder = written.table("few", _small(late=late, gaps=gaps, t=list(range(60))).write_csv())
    assert _notes(folder) == ['6 of 60 rows have no value of the target "late" and are left out']
    seed = ingest((folder,)).supported[0]
    assert seed.structure.rows_train == 54
    assert seed.structure.positive_share == 0.5
    assert seed.structure.missing_share == 0
    assert _notes(written.table("none", _small().write_csv())) == []


def test_a_target_that_a_third_of_the_rows_lack_is_a_problem(written):
    late = [None if n % 3 == 0 else n % 2 for n in range(60)]
    with pytest.raises(SeedError, match='no value in 20 of 60 rows of "late"'):
        ingest((written.table("third", _small(late=late).write_csv()),))


HUGE = "a" * (MAX_CELL + 1)
CELLS = {
    "plain": f"x,late\n1,0\n{HUGE},1\n",
    "quoted": f'x,late\n1,0\n"{"a,b" * (MAX_CELL // 2)}",1\n',
    "never closed": f'x,late\n1,0\n"{"a,b" * (MAX_CELL // 2)}',
}


@pytest.mark.parametrize("name", CELLS)
def test_a_giant_cell_is_named_by_its_line(written, name):
    with pytest.raises(SeedError, match="line 3: saw a cell of more than 1 MB"):
        ingest((written.table("giant", CELLS[name]),))


def test_a_giant_cell_of_a_parquet_table_is_named_by_its_column(written):
    written.table("giant", "")
    Path("giant/table.csv").unlink()
    _small(rows=2, note=["a", HUGE]).write_parquet("giant/table.parquet")
    with pytest.raises(SeedError, match='saw a cell of more than 1 MB in the column "note"'):
        ingest(("giant",))
