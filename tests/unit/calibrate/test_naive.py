"""Naive entries see as little as they say, and stay away where they have nothing to see."""

from dataclasses import fields
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate import PANEL, run_panel
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.scripts.findings import ColumnSet, Feature, PanelFindings
from sandmill.calibrate.scripts.members import ScriptModel
from sandmill.calibrate.scripts.write import narrowed
from sandmill.calibrate.solvers.naive import single_columns
from sandmill.models.calibration import Tier
from sandmill.models.channel import Cue
from tests.unit.calibrate.tables import Written, off_the_board, standard, write_table

NAIVE = [entry.name for entry in PANEL if entry.tier is Tier.NAIVE]
NUMBERS = ("width", "height", "mass", "volume", "hour", "level")
WORDS = ("town", "shade")
KINDS = (
    ("binary", "roc_auc"),
    ("multiclass", "log_loss"),
    ("ordinal", "log_loss"),
    ("multilabel", "roc_auc_columns"),
    ("regression", "rmse"),
    ("count", "poisson_deviance"),
    ("multi_target", "mae_columns"),
)
EACH_KIND = pytest.mark.parametrize(
    ("target", "metric"),
    [pytest.param(*kind, marks=[pytest.mark.slow] if place % 3 else []) for place, kind in enumerate(KINDS)],
)


def of_numbers(table: pd.DataFrame) -> Any:
    """A rule of three numbers."""
    return 2 * standard(table["width"]) + 1.5 * standard(table["level"]) + standard(table["hour"])


def write(folder: Path, target: str = "regression", metric: str = "rmse", **changes: Any) -> Written:
    facts = {"rule": of_numbers, "train": 100, "test": 200, "classes": 3, "missing": 0.0}
    return write_table(folder, target, metric, **(facts | changes))


def without(names: tuple[str, ...], written: Written) -> None:
    """Drop columns of both files."""
    for name in ("train.csv", "test.csv"):
        frame = pd.read_csv(written.folder / name, dtype={"row_id": str})
        frame.drop(columns=list(names)).to_csv(written.folder / name, index=False)


@EACH_KIND
def test_naive_entries_are_all_different(tmp_path: Path, target: str, metric: str):
    written = write(tmp_path, target, metric, train=120)
    runs = run_panel(written.folder, written.facts, [*NAIVE, "linear", "binned_columns"])
    assert [run.name for run in runs if not run.has_run] == []
    twins = [
        (one.name, other.name) for one, other in combinations(runs, 2) if np.allclose(one.prediction, other.prediction)
    ]
    assert twins == []


@pytest.mark.parametrize(
    ("left_out", "idle"),
    [(NUMBERS, {"numbers_only", "nearest_by_numbers", "binned_columns"}), (WORDS, {"encoding_search"})],
    ids=["without numbers", "without categories"],
)
def test_entries_stay_away_where_there_is_nothing_to_see(tmp_path: Path, left_out: tuple[str, ...], idle: set[str]):
    written = write(tmp_path)
    without(left_out, written)
    runs = run_panel(written.folder, written.facts, [*NAIVE, "binned_columns", "encoding_search"])
    assert off_the_board(runs) == idle
    assert {run.name for run in runs if not run.has_run} == idle


@EACH_KIND
def test_every_column_is_a_prediction_both_ways_without_a_model(target: str, metric: str, tmp_path: Path):
    written = write_table(tmp_path, target, metric, of_numbers)
    panel = Panel(tmp_path, written.facts)
    found = list(single_columns(panel.table, NUMBERS[:-1]))
    assert len(found) == (0 if target == "multiclass" else 2 * (len(NUMBERS) - 1))
    shape = panel.run(["prior"])[0].prediction.shape
    assert all(answer.shape == shape for answer in found)
    if target == "binary":
        width = pd.read_csv(tmp_path / "test.csv")["width"]
        ranks = width.fillna(width.median()).rank(pct=True)
        assert max(np.corrcoef(answer, ranks)[0, 1] for answer in found) > 0.99


COLUMNS = ("light", "size", "glow", "warmth")
DECODE = [
    "def decode(df):",
    '    """Turn codes into names."""',
    "    df = df.copy()",
    '    df["shape"] = df["shape"].map(dict(enumerate(["disc", "ring"])))',
    "    return df",
    "",
    "",
    "train, test = decode(train), decode(test)",
]
STATED = [
    "def add_stated(df):",
    '    """Add the quantities that the description defines."""',
    "    df = df.copy()",
    '    quotient = df["light"] / df["size"]',
    '    df["ratio"] = np.log(quotient)',
    '    quotient = df["glow"] / df["warmth"]',
    '    df["other"] = np.log(quotient)',
    "    return df",
    "",
    "",
    "train, test = add_stated(train), add_stated(test)",
]


def found_with(*features: Feature, cues: tuple[str, ...] = (*COLUMNS, "shape")) -> PanelFindings:
    given: dict[str, Any] = {
        "numbers": (*COLUMNS, "ratio", "other"),
        "categories": ("shape",),
        "cues": tuple(Cue(column=name, measure="scene.light", text=f"What {name} is.") for name in cues),
        "reading": (*DECODE, *STATED),
        "columns": {"sparse": ColumnSet("FEW", features, 1.0, len(features)), "base": ColumnSet("", (), 1.0, 5)},
    }
    return PanelFindings(**{field.name: None for field in fields(PanelFindings)} | given)


def model(columns: str) -> ScriptModel:
    return ScriptModel("linear", "a model", columns, (), lambda table: table)


RATIO = Feature("number", ("ratio",), ())
FLAG = Feature("level", ("shape_ring",), ('df["shape_ring"] = 1.0 * (df["shape"] == "ring")',))


def test_measures_that_no_feature_needs_are_left_out_with_the_quantities_made_of_them():
    few = narrowed(found_with(RATIO), [model("sparse")])
    assert [cue.column for cue in few.cues] == ["light", "size"]
    assert (few.numbers, few.categories) == (("light", "size", "ratio"), ())
    text = "\n".join(few.reading)
    assert not any(name in text for name in ("decode", "other", "glow"))
    names = {"train": {"light": 6.0, "size": 2.0}, "test": {"light": 1.0, "size": 4.0}, "np": _Numbers}
    exec(text, names)
    assert (names["train"]["ratio"], names["test"]["ratio"]) == (3.0, 0.25)  # type: ignore[index]


def test_a_script_with_a_model_of_all_columns_stays_whole():
    found = found_with(RATIO)
    assert narrowed(found, [model("sparse"), model("base")]) is found


def test_a_category_keeps_the_lines_that_name_its_codes():
    few = narrowed(found_with(FLAG), [model("sparse")])
    assert [cue.column for cue in few.cues] == ["shape"]
    assert few.reading[: len(DECODE)] == tuple(DECODE)
    assert "add_stated" not in "\n".join(few.reading)


class _Numbers:
    @staticmethod
    def log(value: float) -> float:
        return value
