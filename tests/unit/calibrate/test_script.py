"""The reference solution is what the panel ran, byte for byte, and needs nothing of ours."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate import PANEL, PanelRun, run_panel, standalone_script
from sandmill.calibrate.panel import NOTHING_FOUND, Panel
from sandmill.calibrate.solvers.columns import solve_column
from sandmill.calibrate.solvers.search import ratio_search
from sandmill.metrics.submission import parse_submission
from sandmill.models.package import LIST_LENGTH
from tests.unit.calibrate.tables import Written, days, of_all_skills, then_newer, write_table

_RUN_ALL = """
import runpy, sys
public, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
for name in names:
    sys.argv = ["solution.py", public, f"{folder}/{name}.csv"]
    runpy.run_path(f"{folder}/{name}.py", run_name="__main__")
assert not any(module.startswith("sandmill") for module in sys.modules)
"""


def submitted(path: Path, written: Written) -> np.ndarray:
    """Predictions in a submission, as the grader reads them."""
    ids = pd.read_csv(written.folder / "test.csv", dtype=str)["row_id"]
    return parse_submission(path.read_bytes(), written.facts, list(ids))


def assert_scripts_repeat(folder: Path, written: Written, runs: list[PanelRun]) -> None:
    """Run the scripts of some runs in a fresh process and compare what they write, bit for bit."""
    names = [run.name for run in runs]
    for name in names:
        (folder / f"{name}.py").write_text(standalone_script(name, written.told))
    subprocess.run([sys.executable, "-I", "-c", _RUN_ALL, written.folder, folder, *names], check=True, cwd=folder)
    for run in runs:
        read = submitted(folder / f"{run.name}.csv", written)
        assert (read.shape, read.tobytes()) == (run.prediction.shape, run.prediction.tobytes()), run.name


@pytest.mark.parametrize(
    ("target", "metric"),
    [
        ("binary", "f1"),
        ("regression", "rmse"),
        pytest.param("multiclass", "log_loss", marks=pytest.mark.slow),
        pytest.param("multilabel", "f1_macro", marks=pytest.mark.slow),
        pytest.param("multi_target", "rmsle_columns", marks=pytest.mark.slow),
    ],
)
def test_every_script_repeats_its_panel_entry_in_a_fresh_process(tmp_path: Path, target: str, metric: str):
    rule = {"rule": of_all_skills, "add": then_newer(120), "train": 120, "classes": 3, "missing": 0.05}
    written = write_table(tmp_path / "public", target, metric, test=150, **rule)
    runs = run_panel(written.folder, written.told)
    uncut = {"cutoff_search": NOTHING_FOUND} if metric not in ("f1", "f1_macro") else {}
    assert {run.name: run.failure for run in runs if not run.has_run} == uncut
    assert_scripts_repeat(tmp_path, written, [run for run in runs if run.has_run])


@pytest.mark.parametrize(
    ("target", "metric"),
    [
        ("binary", "roc_auc"),
        ("multiclass", "map_at_k"),
        ("ordinal", "qwk"),
        ("multilabel", "roc_auc_columns"),
        ("multilabel", "f1_micro"),
        ("count", "poisson_deviance"),
    ],
)
def test_scripts_write_every_encoding_as_the_panel_says(tmp_path: Path, target: str, metric: str):
    def add(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        return table.assign(seen=days(len(table), rng))

    written = write_table(tmp_path / "public", target, metric, train=80, test=150, classes=5, add=add)
    names = ["prior", "few_rows", "linear", "random_forest", "encoding_search", "auto_trees", "sparse_process"]
    assert_scripts_repeat(tmp_path, written, run_panel(written.folder, written.told, names))


def test_a_script_repeats_a_search_that_found_something_for_one_number_only(tmp_path: Path):
    written = write_table(tmp_path / "public", "multi_target", "rmse_columns", train=80, test=150, classes=2)
    train = pd.read_csv(written.folder / "train.csv", dtype={"row_id": str})
    train["size_0"] = np.random.default_rng(0).normal(size=len(train))
    train.to_csv(written.folder / "train.csv", index=False)
    panel = Panel(written.folder, written.told)
    found = [solve_column(ratio_search, part) is not None for part in panel.table.columns()]
    assert found == [False, True]
    assert_scripts_repeat(tmp_path, written, panel.run(["ratio_search"]))


def test_an_empty_set_of_labels_is_an_empty_cell(tmp_path: Path):
    written = write_table(tmp_path, "multilabel", "hamming_loss", train=80, test=200, classes=5)
    (tmp_path / "solution.py").write_text(standalone_script("linear", written.told))
    subprocess.run([sys.executable, "-I", "solution.py", "."], check=True, cwd=tmp_path)
    (run,) = run_panel(written.folder, written.told, ["linear"])
    assert (run.prediction.sum(axis=1) == 0).any()
    assert np.array_equal(submitted(tmp_path / "submission.csv", written), run.prediction)


def test_a_list_ends_where_classes_do(tmp_path: Path):
    written = write_table(tmp_path, "multiclass", "map_at_k", train=60, test=100, classes=3)
    written = replace(written, facts=written.facts.model_copy(update={"list_length": None}))
    (tmp_path / "solution.py").write_text(standalone_script("linear", written.told))
    subprocess.run([sys.executable, "-I", "solution.py", "."], check=True, cwd=tmp_path)
    (run,) = run_panel(written.folder, written.told, ["linear"])
    assert run.prediction.shape == (100, LIST_LENGTH)
    assert (run.prediction[:, 3:] == -1).all()
    assert np.array_equal(submitted(tmp_path / "submission.csv", written), run.prediction)


def test_a_script_run_without_arguments_uses_the_layout_of_the_sandbox(tmp_path: Path):
    (tmp_path / "public").mkdir()
    written = write_table(tmp_path / "public", "multiclass", "accuracy", train=60, test=100)
    (tmp_path / "solution.py").write_text(standalone_script("linear", written.told))
    subprocess.run([sys.executable, "-I", "solution.py"], check=True, cwd=tmp_path)
    (run,) = run_panel(written.folder, written.told, ["linear"])
    assert np.array_equal(submitted(tmp_path / "submission.csv", written), run.prediction)


def test_a_script_holds_only_what_its_solver_needs(tmp_path: Path):
    told = write_table(tmp_path, train=50, test=100).told
    scripts = {entry.name: standalone_script(entry.name, told) for entry in PANEL}
    assert "sklearn.tree" not in scripts["linear"]
    assert "sklearn.tree" in scripts["stack"]
    assert [name for name, text in scripts.items() if "def cut_best" in text] == ["cutoff_search"]
    for name, text in scripts.items():
        tree = ast.parse(text)
        assert ast.get_docstring(tree)
        assert "sandmill" not in text
        defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert len(defined) == len(set(defined))
        loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        assert set(defined) - loaded == set(), name


def test_a_script_for_an_unknown_solver_is_refused(tmp_path: Path):
    told = write_table(tmp_path, train=50, test=100).told
    with pytest.raises(KeyError):
        standalone_script("oracle", told)
