"""The reference solution is what the panel ran, byte for byte, and needs nothing of ours."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate import PANEL, run_panel, standalone_script
from sandmill.metrics.submission import parse_submission
from sandmill.models.package import LIST_LENGTH
from tests.unit.calibrate.tables import Written, days, write_table

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
    return parse_submission(path.read_bytes(), written.brief, list(ids))


@pytest.mark.parametrize(
    ("target", "metric"),
    [("binary", "accuracy"), ("multiclass", "log_loss"), ("regression", "rmse")],
)
def test_every_script_repeats_its_panel_entry_in_a_fresh_process(tmp_path: Path, target: str, metric: str):
    written = write_table(tmp_path / "public", target, metric, train=80, test=150)
    names = [entry.name for entry in PANEL]
    for name in names:
        (tmp_path / f"{name}.py").write_text(standalone_script(name, written.told))
    subprocess.run([sys.executable, "-I", "-c", _RUN_ALL, written.folder, tmp_path, *names], check=True, cwd=tmp_path)
    for run in run_panel(written.folder, written.told):
        assert submitted(tmp_path / f"{run.name}.csv", written).tobytes() == run.prediction.tobytes(), run.name


@pytest.mark.parametrize(
    ("target", "metric"),
    [
        ("binary", "f1"),
        ("multiclass", "map_at_k"),
        ("ordinal", "qwk"),
        ("multilabel", "roc_auc_columns"),
        ("multilabel", "f1_macro"),
        ("multilabel", "f1_micro"),
        ("multi_target", "rmsle_columns"),
        ("count", "poisson_deviance"),
    ],
)
def test_scripts_write_every_encoding_as_the_panel_says(tmp_path: Path, target: str, metric: str):
    def add(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        return table.assign(seen=days(len(table), rng))

    written = write_table(tmp_path / "public", target, metric, train=80, test=150, classes=5, add=add)
    names = ["prior", "linear", "forest_tuned", "encoding_search", "auto_forest", "cutoff_search"]
    for name in names:
        (tmp_path / f"{name}.py").write_text(standalone_script(name, written.told))
    subprocess.run([sys.executable, "-I", "-c", _RUN_ALL, written.folder, tmp_path, *names], check=True, cwd=tmp_path)
    for run in run_panel(written.folder, written.told, names):
        read = submitted(tmp_path / f"{run.name}.csv", written)
        assert read.shape == run.prediction.shape
        assert np.array_equal(read, run.prediction), run.name


def test_an_empty_set_of_labels_is_an_empty_cell(tmp_path: Path):
    written = write_table(tmp_path, "multilabel", "hamming_loss", train=80, test=200, classes=5)
    (tmp_path / "solution.py").write_text(standalone_script("linear_tuned", written.told))
    subprocess.run([sys.executable, "-I", "solution.py"], check=True, cwd=tmp_path)
    (run,) = run_panel(written.folder, written.told, ["linear_tuned"])
    assert (run.prediction.sum(axis=1) == 0).any()
    assert np.array_equal(submitted(tmp_path / "submission.csv", written), run.prediction)


def test_a_list_ends_where_classes_do(tmp_path: Path):
    written = write_table(tmp_path, "multiclass", "map_at_k", train=60, test=100, classes=3)
    written = replace(written, brief=written.brief.model_copy(update={"list_length": None}))
    (tmp_path / "solution.py").write_text(standalone_script("linear", written.told))
    subprocess.run([sys.executable, "-I", "solution.py"], check=True, cwd=tmp_path)
    (run,) = run_panel(written.folder, written.told, ["linear"])
    assert run.prediction.shape == (100, LIST_LENGTH)
    assert (run.prediction[:, 3:] == -1).all()
    assert np.array_equal(submitted(tmp_path / "submission.csv", written), run.prediction)


def test_a_script_run_without_arguments_reads_and_writes_where_it_stands(tmp_path: Path):
    written = write_table(tmp_path, "multiclass", "accuracy", train=60, test=100)
    (tmp_path / "solution.py").write_text(standalone_script("linear_tuned", written.told))
    subprocess.run([sys.executable, "-I", "solution.py"], check=True, cwd=tmp_path)
    (run,) = run_panel(written.folder, written.told, ["linear_tuned"])
    assert np.array_equal(submitted(tmp_path / "submission.csv", written), run.prediction)


def test_a_script_holds_only_what_its_solver_needs(tmp_path: Path):
    told = write_table(tmp_path, train=50, test=100).told
    assert "solve_columns" not in standalone_script("stack", told)
    scripts = {entry.name: standalone_script(entry.name, told) for entry in PANEL}
    assert "sklearn" not in scripts["prior"]
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
