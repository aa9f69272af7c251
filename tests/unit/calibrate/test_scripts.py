"""Generated scripts: short, clean, alone, and they score what is recorded."""

import ast
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.rungs import GradedTest, ScoredScript
from sandmill.calibrate.scripts.choose import write_ladder
from sandmill.calibrate.scripts.findings import FeatureSource, write_feature
from sandmill.kinds.script_text import WIDTH, fold
from sandmill.models.calibration import LADDER
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission
from tests.data import SCRIPTS
from tests.unit.calibrate.tables import Written, days, of_all_skills, then_newer, write_table

CASES = {
    "probabilities": ("binary", "roc_auc"),
    "log loss of two": ("binary", "log_loss"),
    "labels of two": ("binary", "mcc"),
    "probabilities of classes": ("multiclass", "log_loss"),
    "rare labels": ("multiclass", "f1_macro"),
    "balanced labels": ("multiclass", "balanced_accuracy"),
    "lists of classes": ("multiclass", "map_at_k"),
    "grades": ("ordinal", "qwk"),
    "probabilities of labels": ("multilabel", "log_loss_columns"),
    "sets": ("multilabel", "f1_samples"),
    "sets of common labels": ("multilabel", "f1_micro"),
    "numbers": ("regression", "rmse"),
    "relative numbers": ("regression", "mape"),
    "counts": ("count", "rmsle"),
    "rates": ("count", "poisson_deviance"),
    "several numbers": ("multi_target", "rmsle_columns"),
}
"""Target and metric, one for every way to answer."""
OFTEN = ("grades", "numbers")
EACH_CASE = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if case in OFTEN else pytest.mark.slow) for case in CASES]
)

ALLOWED = {"os", "sys", "numpy", "pandas", "sklearn"}
TEST_ROWS = 900
RUN_ALL = (SCRIPTS / "run_all.txt").read_text("utf-8")
"""Runs scripts one after the other."""
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""Environment of a script. On a busy machine, threads of linear algebra wait for each other."""


def graded(written: Written, rows: int = TEST_ROWS) -> GradedTest:
    return GradedTest(written.truth, np.arange(rows) % 3 > 0, get_metric(written.facts.metric))


def ladder(written: Written) -> tuple[ScoredScript, ...]:
    return write_ladder(Panel(written.folder, written.facts).table, written.folder, graded(written))


@cache
def made(case: str) -> tuple[Written, tuple[ScoredScript, ...]]:
    """Scripts for a task; its files go with the session."""
    folder = TemporaryDirectory()
    FOLDERS.append(folder)
    target, metric = CASES[case]
    written = write_table(Path(folder.name), target, metric, of_all_skills, train=150, test=TEST_ROWS)
    return written, ladder(written)


FOLDERS: list[TemporaryDirectory[str]] = []


def run(source: str, written: Written) -> np.ndarray:
    """Run a script from its first line to its last; its answer as graders read it."""
    with TemporaryDirectory() as folder, script_surroundings(written.folder, Path(folder) / "out.csv"):
        # What the libraries are about to change would break a published script later.
        warnings.simplefilter("error", FutureWarning)
        run_source(source, {"__name__": "__main__"})
        return answer_in(Path(folder) / "out.csv", written)


def answer_in(path: Path, written: Written) -> np.ndarray:
    lines = (written.folder / "test.csv").read_text().splitlines()[1:]
    return parse_submission(path.read_bytes(), written.facts, [line.split(",")[0] for line in lines])


def final_score(answer: np.ndarray, written: Written) -> float:
    test = graded(written)
    return test.metric.rounded(test.truth[test.is_final], answer[test.is_final])


@EACH_CASE
def test_a_script_scores_what_is_recorded(case):
    written, scripts = made(case)
    assert [script.score.rung for script in scripts] == list(LADDER)
    test = graded(written)
    for script in scripts:
        answer = run(script.source, written)
        feedback = test.metric.rounded(test.truth[~test.is_final], answer[~test.is_final])
        assert (script.score.final, script.score.feedback) == (final_score(answer, written), feedback)


@EACH_CASE
def test_scripts_are_short_clean_and_their_own(case, tmp_path):
    for script in made(case)[1]:
        lines = script.source.splitlines()
        assert len(lines) <= 250
        assert max(map(len, lines)) <= WIDTH
        imported = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(script.source))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        }
        assert imported <= ALLOWED
        assert "sandmill" not in script.source.lower()
        (tmp_path / script.score.file).write_text(script.source)
    ruff = Path(sys.executable).with_name("ruff")
    subprocess.run(
        [ruff, "check", "--isolated", "--no-cache", "--select", "E,F,W", "--ignore", "E501", tmp_path], check=True
    )


@pytest.mark.parametrize("case", ["numbers", "grades"])
def test_the_scripts_of_a_task_with_a_rule_to_find_rise(case):
    sign = -1 if get_metric(CASES[case][1]).is_lower_better else 1
    reference, competent, naive = (sign * script.score.final for script in made(case)[1])
    assert reference > competent > naive


def test_the_reference_says_what_was_found():
    source = made("numbers")[1][0].source
    assert 'df["log_mass_per_volume"] = np.log(df["mass"] / df["volume"])' in source
    assert "# Ratios: the logarithm of one column over another." in source
    assert "np.sin(turn)" in source


@pytest.mark.slow
def test_a_script_needs_nothing_but_the_public_folder(tmp_path):
    """It runs in a fresh process that knows nothing of this library, from a folder named public.

    One process runs all scripts, since it takes longer to import what they need than to run them.
    """
    written, scripts = made("numbers")
    (tmp_path / "public").symlink_to(written.folder)
    for script in scripts:
        (tmp_path / script.score.file).write_text(script.source)
    files = [script.score.file for script in scripts]
    subprocess.run([sys.executable, "-I", "-c", RUN_ALL, *files], check=True, cwd=tmp_path, env=ONE_THREAD)
    for script in scripts:
        answer = answer_in(tmp_path / f"{script.score.file}.csv", written)
        assert final_score(answer, written) == script.score.final


def test_names_of_features_follow_from_training_rows_alone():
    """Answers choose among scripts; they are not read by what is written in them."""
    written, scripts = made("numbers")
    test = graded(written)
    other = GradedTest(test.truth[::-1], test.is_final, test.metric)
    again = write_ladder(Panel(written.folder, written.facts).table, written.folder, other)
    known = {line for script in scripts for line in script.source.splitlines() if "np.log(" in line}
    assert {line for script in again for line in script.source.splitlines() if "np.log(" in line} <= known


def test_untidy_cells_are_cleaned_in_the_script(tmp_path):
    def untidy(table, rng):
        table = table.assign(seen=days(len(table), rng), mass=[f"{m} kg" if m > 20 else f"{m}" for m in table["mass"]])
        table.loc[100:120, table.columns] = table.loc[0:20, table.columns].to_numpy()
        return table

    written = write_table(tmp_path, "regression", "rmse", lambda t: t["width"] + t["level"], test=TEST_ROWS, add=untidy)
    copy_rows(tmp_path / "train.csv", 20)
    reference, competent, naive = ladder(written)
    for script in (reference, competent):
        assert 'for name in ["mass"]:' in script.source
        assert 'for name in ["seen"]:' in script.source
        assert "drop_duplicates" in script.source
    assert '"mass"' not in naive.source
    assert final_score(run(reference.source, written), written) == reference.score.final


def copy_rows(path: Path, count: int) -> None:
    """Repeat the first rows of a table under other ids."""
    header, *rows = path.read_text().splitlines()
    copies = [f"{900000 + place}{row[row.index(',') :]}" for place, row in enumerate(rows[:count])]
    path.write_text("\n".join([header, *rows, *copies]) + "\n")


@pytest.mark.slow
def test_test_rows_that_are_later_than_training_are_held_at_its_end(tmp_path):
    written = write_table(tmp_path, "binary", "roc_auc", add=then_newer(150), test=TEST_ROWS)
    scripts = ladder(written)
    assert 'test["seen"] = test["seen"].clip(upper=train["seen"].max())' in scripts[1].source
    assert final_score(run(scripts[0].source, written), written) == scripts[0].score.final


def test_a_class_that_training_lacks_gets_a_column(tmp_path):
    written = write_table(tmp_path, "multiclass", "log_loss", test=TEST_ROWS)
    header, *rows = (tmp_path / "train.csv").read_text().splitlines()
    kept = [row for row in rows if not row.endswith("kind-B")]
    (tmp_path / "train.csv").write_text("\n".join([header, *kept]) + "\n")
    reference = ladder(written)[0]
    assert run(reference.source, written).shape == (TEST_ROWS, 4)


SOURCE = FeatureSource(
    numbers=("a", "b"),
    levels=(("town", "x"), ("town", ""), ("shade", "pale")),
    with_gaps=frozenset({"b"}),
    not_positive=frozenset({"b"}),
)


@pytest.mark.parametrize(
    ("recipe", "names", "lines"),
    [
        (("ratio", 0, 1.0), ("log_a_per_b",), ('df["log_a_per_b"] = np.log(df["a"] / df["b"].clip(lower=1e-9))',)),
        (("product", 0, 0.0), ("a_squared",), ('df["a_squared"] = z["a"] ** 2',)),
        (("step", 1, 2.0), ("b_above_2",), ('df["b_above_2"] = np.where(df["b"].isna(), np.nan, df["b"] > 2)',)),
        (("level", 1, 0.0), ("town_",), ('df["town_"] = 1.0 * df["town"].isna()',)),
        (
            ("cross", 0, 2.0),
            ("town_x_and_shade_pale",),
            ('df["town_x_and_shade_pale"] = 1.0 * (df["town"] == "x") * (df["shade"] == "pale")',),
        ),
    ],
)
def test_a_recipe_is_written_as_pandas(recipe, names, lines):
    feature = write_feature(recipe, SOURCE)
    assert (feature.names, feature.lines) == (names, lines)


def test_long_lines_break_within_brackets_that_hold_much_and_stay_valid():
    names = [f"column_{place}" for place in range(30)]
    lines = [
        f"NUMBERS = {names!r}",
        "found = [symbol for symbol, _ in sorted(all_counts.items(), key=lambda pair: (-pair[1], pair[0]))][:10]",
        'df["a"] = ((df["quantity"] <= 16.05) & df["second_quantity"].isin(["one", "two", "three"])).astype(float)',
    ]
    made = fold(lines)
    assert ast.dump(ast.parse("\n".join(made))) == ast.dump(ast.parse("\n".join(lines)))
    assert len(made) < 25
    assert not any(line.strip() in ("10", "float") for line in made)
