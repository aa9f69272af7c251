"""Folders with a table: real tables profiled, and the rule that names the task."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from sandmill.errors import SeedError
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.seeds import ingest


def _frame(load):
    bunch = load()
    columns = {str(name): bunch.data[:, number] for number, name in enumerate(bunch.feature_names)}
    return pl.DataFrame(columns | {"late": bunch.target})


def _seed(source):
    return ingest((source,)).supported[0]


def _column(seed, name):
    return next(column for column in seed.profile if column.name == name)


@pytest.mark.parametrize(
    ("load", "target", "metric", "classes", "numeric", "rows"),
    [
        (load_wine, TargetKind.MULTICLASS, MetricName.ACCURACY, 3, 13, 178),
        (load_breast_cancer, TargetKind.BINARY, MetricName.ROC_AUC, 2, 30, 569),
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


def test_dependence_of_numbers_is_the_absolute_correlation(written):
    frame = _frame(load_diabetes)
    seed = _seed(written.table("diabetes", frame.write_csv()))
    for name in ("bmi", "s3"):
        expected = abs(np.corrcoef(frame[name], frame["late"])[0, 1])
        assert _column(seed, name).dependence == pytest.approx(expected, abs=1e-4)


def test_dependence_of_a_number_with_classes_is_the_correlation_ratio(written):
    frame = _frame(load_iris)
    seed = _seed(written.table("iris", frame.write_csv()))
    values, groups = frame["petal width (cm)"].to_numpy(), frame["late"].to_numpy()
    between = sum((groups == k).sum() * (values[groups == k].mean() - values.mean()) ** 2 for k in range(3))
    expected = math.sqrt(between / ((values - values.mean()) ** 2).sum())
    assert _column(seed, "petal width (cm)").dependence == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("words", [["no", "yes"], ["low", "middle", "top"]])
def test_a_column_that_names_the_class_depends_wholly_and_one_of_chance_hardly(written, words):
    rng = np.random.default_rng(5)
    codes = rng.integers(0, len(words), 2000)
    frame = pl.DataFrame(
        {
            "copy": [f"is {words[k]}" for k in codes],
            "chance": [f"level {k}" for k in rng.integers(0, 4, 2000)],
            "late": [words[k] for k in codes],
        }
    )
    seed = _seed(written.table("chance", frame.write_csv()))
    assert _column(seed, "copy").dependence == 1
    assert _column(seed, "chance").dependence < 0.08


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
    kinds = {column.name: column.kind for column in seed.profile}
    assert kinds == {
        "parcel": "identifier",
        "counter": "identifier",
        "weight": "numeric",
        "town": "categorical",
        "sent": "date",
        "note": "text",
    }
    assert _column(seed, "weight").missing_share == 0.25
    assert _column(seed, "town").missing_share == 0.25
    assert _column(seed, "town").distinct == 3
    assert seed.structure.missing_share == pytest.approx(0.125)
    assert seed.structure.pathologies == (PathologyKind.MISSING,)
    assert seed.structure.columns.model_dump() == {"numeric": 1, "categorical": 1, "date": 1, "text": 1}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"] * 30, TargetKind.BINARY),
        ([0.5, 1.5] * 30, TargetKind.BINARY),
        (["a", "b", "c"] * 20, TargetKind.MULTICLASS),
        ([1, 2, 3] * 20, TargetKind.MULTICLASS),
        ([1.0, 2.0, 3.0] * 20, TargetKind.MULTICLASS),
        ([1.5, 2.5, 3.5] * 20, TargetKind.REGRESSION),
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
    assert [column.name for column in seed.profile] == ["x"]


def test_an_unsupported_pair_sets_the_seed_aside(written):
    frame = pl.DataFrame({"x": [0, 1, 2] * 20, "late": [0, 1] * 30})
    written.file("card.yaml", written.card_text)
    one = written.table("one", frame.write_csv(), extra="metric: dice\n")
    two = written.table("two", frame.write_csv(), extra="split: temporal\n")
    intake = ingest(("card.yaml", one, two))
    assert {seed.id: seed.needs for seed in intake.unsupported} == {"one": ("metric dice",)}
    assert next(seed for seed in intake.supported if seed.id == "two").structure.split is SplitKind.TEMPORAL


def test_rare_classes_and_many_levels_are_facts(written):
    rows = 600
    frame = pl.DataFrame({"town": [f"t{n % 60}" for n in range(rows)], "late": [int(n < 30) for n in range(rows)]})
    seed = _seed(written.table("rare", frame.write_csv()))
    assert seed.structure.positive_share == pytest.approx(0.05)
    assert seed.structure.pathologies == (PathologyKind.IMBALANCE, PathologyKind.HIGH_CARDINALITY)


def test_a_column_that_is_mostly_or_wholly_empty_is_no_problem(written):
    frame = pl.DataFrame({"x": [0, 1, 2] * 20, "gone": [None] * 60, "late": [0, 1] * 30})
    assert _column(_seed(written.table("empty-column", frame.write_csv())), "gone").missing_share == 1


def test_infinite_and_enormous_numbers_do_not_stop_a_profile(written):
    frame = pl.DataFrame({"x": [1e308, -1e308, float("inf"), 2.0] * 15, "late": [0.5, 1.5, 2.5, float("nan")] * 15})
    written.table("huge", frame.write_csv())
    assert _seed("huge").structure.target is TargetKind.REGRESSION
    written.table("nan", "")
    Path("nan/table.csv").unlink()
    frame.write_parquet("nan/table.parquet")
    assert _seed("nan").profile == _seed("huge").profile


def test_names_with_quotes_brackets_and_braces_are_only_names(written):
    odd = {"a\"b'; DROP TABLE cells; --": [0, 1, 2] * 20, "{x}[1]*": ["p", "q"] * 30, "late": [0, 1] * 30}
    folder = "odd[1]{2}'*"
    written.file(f"{folder}/t[a]'*.csv", pl.DataFrame(odd).write_csv())
    written.file(f"{folder}/seed.yaml", "id: odd\ntitle: t\nsummary: s\nsource: s\nlicence: l\ntarget: late\n")
    assert [column.name for column in _seed(folder).profile] == list(odd)[:2]


def test_a_quoted_line_break_is_one_cell_and_a_byte_order_mark_is_no_part_of_a_name(written):
    body = "\ufefflate,note\n" + '0,"two\nlines"\n1,one\n' * 20
    assert [column.name for column in _seed(written.table("quoted", body)).profile] == ["note"]


def test_a_ragged_row_is_named_by_its_real_line(written):
    written.table("ragged", 'x,late\n"two\nlines",1\n3\n4,0\n"a\nb\nc",1,2\n')
    with pytest.raises(SeedError) as error:
        ingest(("ragged",))
    assert "ragged/table.csv" in str(error.value)
    assert "line 4: saw 1 cell; expected 2" in str(error.value)
    assert "line 6: saw 3 cells; expected 2" in str(error.value)


def test_a_path_with_a_star_means_only_itself(written):
    frame = pl.DataFrame({"x": [0, 1, 2] * 20, "late": [0, 1] * 30})
    written.table("odd", frame.write_csv())
    Path("odd").rename("odd*")
    alone = _seed("odd*")
    written.file("oddly/table.csv", "x,late\n" + "1,1\n0,0\n" * 500)
    assert _seed("odd*") == alone


def test_a_gap_written_as_nan_is_no_class(written):
    frame = pl.DataFrame({"x": [float(n % 2) for n in range(60)], "late": [float(n % 2) for n in range(60)]})
    written.table("gaps", "")
    Path("gaps/table.csv").unlink()
    frame.with_columns(late=pl.when(pl.int_range(60) < 4).then(float("nan")).otherwise("late")).write_parquet(
        "gaps/t.parquet"
    )
    seed = _seed("gaps")
    assert (seed.structure.target, seed.structure.positive_share) == (TargetKind.BINARY, 0.5)
    assert _column(seed, "x").dependence == 1
