"""What is measured of a table: roles, shapes, dependence, signal; the same at any size, in any form."""

import numpy as np
import polars as pl
import pytest

from sandmill.fingerprint import _content, fingerprint
from sandmill.models.profile import MOST_PROFILED
from sandmill.models.structure import TargetKind
from sandmill.seeds import ingest
from sandmill.seeds import profile as module
from sandmill.seeds.profile import profile_sample
from sandmill.seeds.table_files import open_table

ROWS = 400


def _frame(rows=ROWS, **columns):
    rng = np.random.default_rng(5)
    shared, label = rng.normal(size=rows), rng.integers(0, 3, rows)
    return pl.DataFrame(
        {
            "real": np.round(shared + 0.2 * rng.normal(size=rows), 3),
            "also": np.round(shared + 0.2 * rng.normal(size=rows) + label, 3),
            "whole": rng.poisson(4, rows),
            "two": [f"{'ab'[n % 2]}" for n in range(rows)],
            "town": [f"t{n % 5}" if n % 10 else None for n in range(rows)],
            "day": [f"2024-02-{n % 28 + 1:02d}" for n in range(rows)],
            "note": [f"left at door {n} by the man" for n in range(rows)],
            "wild": np.round(np.exp(2 * rng.normal(size=rows)), 2),
            "late": label,
        }
        | columns
    )


def _profiled(frame, kind=TargetKind.MULTICLASS, targets=("late",)):
    text = frame.select(pl.all().cast(pl.String))
    return profile_sample(text, list(targets), kind, len(frame), frame.width - len(targets))


def test_each_column_has_its_role_and_its_shape():
    profile = _profiled(_frame())
    roles = [column.role for column in profile.columns]
    assert roles == ["real", "real", "whole", "binary", "category", "date", "text", "real"]
    real, _, whole, two, town, day, _, wild = profile.columns
    assert (town.levels, two.levels, town.missing, day.levels) == (5, 2, 0.1, 28)
    assert wild.skew > 2 > abs(real.skew)
    assert wild.kurtosis > 5 > abs(real.kurtosis)
    assert whole.distinct_share < 0.15 < 0.8 < real.distinct_share
    assert (two.skew, town.kurtosis) == (None, None)


def test_dependence_and_signal_are_those_of_the_rows(real_scores):
    profile = _profiled(_frame())
    assert profile.rho_share == pytest.approx(1 / 6, abs=0.01)
    assert profile.linear_score > 0.3
    shuffled = _profiled(_frame(200, late=np.random.default_rng(9).integers(0, 2, 200)))
    assert shuffled.linear_score < 0.25 > shuffled.boosting_score
    numbers = _profiled(_frame().drop("late").rename({"also": "late"}), TargetKind.REGRESSION)
    assert numbers.linear_score > 0.4
    assert (numbers.class_shares, numbers.target_skew is None) == ((), False)


def test_labels_have_their_rates_and_a_target_that_is_no_number_or_class_has_no_score(real_scores):
    labels = pl.DataFrame({"x": range(100), "y": [0, 1] * 50, "z": [0, 0, 0, 1] * 25})
    profile = _profiled(labels, TargetKind.MULTILABEL, ("y", "z"))
    assert profile.class_shares == (0.5, 0.25)
    assert _profiled(labels, TargetKind.DISTRIBUTION, ("y", "z")).linear_score is None


def test_the_profile_is_in_the_structure_and_holds_no_name_and_no_value(written):
    seed = ingest((written.table("real", _frame().write_csv()),)).supported[0]
    profile = seed.structure.profile
    assert (profile.rows, profile.n_columns, len(profile.class_shares)) == (ROWS, 8, 3)
    text = profile.model_dump_json()
    assert [word for word in ("town", "t3", "door", "2024") if word in text] == []
    assert seed.guard is not None


def test_a_structure_without_a_profile_keeps_its_fingerprint():
    seed = ingest(()).supported[0]
    data = seed.model_dump(mode="json")
    assert (data["structure"].get("profile"), data["guard"]) == (None, None)
    assert fingerprint(seed) != fingerprint(seed.model_copy(update={"guard": "0" * 64}))
    assert "profile" not in str(_content(seed)["structure"])


def test_a_wide_table_is_profiled_by_columns_at_even_distances():
    wide = pl.DataFrame({f"c{n}": [(n * k) % 11 for k in range(60)] for n in range(300)} | {"late": [0, 1] * 30})
    profile = _profiled(wide, TargetKind.BINARY)
    assert (profile.n_columns, len(profile.columns)) == (300, MOST_PROFILED)


def test_a_long_table_is_sampled_evenly_and_the_same_each_time(written, monkeypatch):
    monkeypatch.setattr(module, "MOST_SAMPLED", 100)
    path = written.file("long.csv", "row,late\n" + "".join(f"{n},{n % 2}\n" for n in range(10_000)))
    table = open_table(path, "long.csv")
    first, again = (module.sample_table(table, ["row", "late"], ["late"], 10_000) for _ in range(2))
    assert first.equals(again)
    assert 80 <= len(first) <= 120
    rows = first["row"].cast(pl.Int64)
    assert rows.diff().drop_nulls().max() < 400


def test_of_a_huge_csv_only_the_beginning_is_read_and_a_note_says_so(written, monkeypatch):
    monkeypatch.setattr("sandmill.seeds.table_files._HEAD", 1 << 12)
    monkeypatch.setattr("sandmill.seeds.table_files.MOST_READ", 2 << 12)
    folder = written.table("huge", "x,late\n" + "".join(f"{n % 997},{n % 2}\n" for n in range(4000)))
    intake = ingest((folder,))
    assert intake.supported[0].structure.rows_train < 4000
    assert any("rows are read" in note.text for note in intake.notes)
