"""The export for mle-bench against its contract: files, keys, rank rule, graders, and the shim in a real process."""

import dataclasses
import importlib.util
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pandas as pd
import pytest
import yaml

from sandmill.errors import InputError
from sandmill.export.export import export as export_release
from sandmill.export.mlebench import export
from sandmill.models.reports import Medal
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.medals import above_median, medal_of
from sandmill.scoring.submission import read_answers
from sandmill.scoring.support import ANSWER_FORMS
from sandmill.store.release import load
from tests.client_stubs.mlebench.grade_helpers import rank_score
from tests.export_tasks import HIGHER, LOWER, MANIFEST, Exported, make_exported, secret_texts, write_export
from tests.submission_mutants import mutate

STUBS = Path(__file__).parents[2] / "client_stubs"
PAIRS = [
    HIGHER,
    LOWER,
    *(pytest.param(pair, marks=pytest.mark.slow) for pair in sorted(ANSWER_FORMS) if pair not in (HIGHER, LOWER)),
]
MUTANTS = 30
CODE = ("config.yaml", "description.md", "grade.py", "grader.py", "prepare.py", "leaderboard.csv", "checksums.yaml")


def read_csv(content: bytes | Path) -> pd.DataFrame:
    """Read a table as mle-bench does, also an empty one."""
    try:
        return pd.read_csv(io.BytesIO(content) if isinstance(content, bytes) else content, float_precision="round_trip")
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


@pytest.fixture
def competitions(tmp_path, monkeypatch) -> Path:
    """Folder of competitions that can be imported as `mlebench.competitions`."""
    monkeypatch.syspath_prepend(str(STUBS))
    for name in [name for name in sys.modules if name.split(".")[0] == "mlebench"]:
        monkeypatch.delitem(sys.modules, name)
    folder = tmp_path / "competitions"
    package = importlib.import_module("mlebench.competitions")
    monkeypatch.setattr(package, "__path__", [str(folder)])
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "mlebench"]:
        del sys.modules[name]


def written(folder: Path, pair=HIGHER) -> Exported:
    """Make a task and write its export."""
    one = make_exported(pair)
    write_export(export([one.task], MANIFEST), folder)
    return one


def test_the_files_are_those_of_mle_bench(tmp_path):
    one, other = make_exported(HIGHER), make_exported(LOWER)
    paths = write_export(export([one.task, other.task], MANIFEST), tmp_path)
    name = one.task.task_id
    assert {path for path in paths if name in path} == {
        *(f"competitions/{name}/{file}" for file in (*CODE, "kernels.txt")),
        *(f"data/{name}/prepared/public/{file}" for file in one.task.public),
        *(f"data/{name}/prepared/private/{file}" for file in ("answers.csv", "gold_submission.csv", "solution.py")),
    }
    assert "shim.py" in paths
    assert len(paths) == 1 + 2 * 15


def test_the_configuration_has_the_keys_that_mle_bench_reads(tmp_path):
    one = written(tmp_path)
    name = one.task.task_id
    config = yaml.safe_load((tmp_path / "competitions" / name / "config.yaml").read_text())
    assert (config["id"], config["name"], config["competition_type"]) == (name, "Late parcels", "simple")
    assert config["description"] == f"mlebench/competitions/{name}/description.md"
    assert config["text_visible"] is True
    assert config["grader"] == {"name": "roc_auc", "grade_fn": f"mlebench.competitions.{name}.grade:grade"}
    assert config["preparer"] == f"mlebench.competitions.{name}.prepare:prepare"
    assert set(config["dataset"]) == {"answers", "sample_submission", "gold_submission"}
    assert all((tmp_path / "data" / path).is_file() for path in config["dataset"].values())


@pytest.mark.parametrize("rule", ["ranks", "milestones"])
@pytest.mark.parametrize("pair", [HIGHER, LOWER], ids="-".join)
def test_thresholds_and_medals_of_the_rank_rule_are_ours(pair, rule, tmp_path):
    one = make_exported(pair)
    calibration, lower = one.calibration, one.calibration.is_lower_better
    if rule == "milestones":
        bars = calibration.thresholds
        bars = bars.model_copy(update={"gold": round(bars.gold + (-0.01234 if lower else 0.01234), 5)})
        calibration = calibration.model_copy(update={"rule": rule, "thresholds": bars})
    record = one.task.record.model_copy(update={"calibration": calibration})
    write_export(export([dataclasses.replace(one.task, record=record)], MANIFEST), tmp_path)
    scores = pd.read_csv(tmp_path / "competitions" / one.task.task_id / "leaderboard.csv")["score"].tolist()
    assert scores == sorted(scores, reverse=not lower)
    ours = calibration.thresholds
    for bar in ours.model_dump().values():
        for score in (round(bar - 1e-5, 5), bar, round(bar + 1e-5, 5)):
            theirs = rank_score(score, scores)
            assert theirs["is_lower_better"] is lower
            assert {name: theirs[f"{name}_threshold"] for name in ours.model_dump()} == ours.model_dump()
            medal = medal_of(score, ours, lower)
            assert [name for name in ("gold", "silver", "bronze") if theirs[f"{name}_medal"]] == (
                [medal] if medal else []
            )
            assert theirs["above_median"] is above_median(score, ours, lower)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_median_is_exactly_ours_also_where_the_mean_of_the_middle_rows_has_more_decimals(pair, tmp_path):
    one = written(tmp_path, pair)
    board = pd.read_csv(tmp_path / "competitions" / one.task.task_id / "leaderboard.csv")["score"]
    entries, median = [entry.final for entry in one.calibration.board], one.calibration.thresholds.median
    assert board.median() == median
    moved = [(ours, theirs) for ours, theirs in zip(entries, board, strict=True) if ours != theirs]
    assert len(moved) in (0, 2)
    assert all(theirs == median for _, theirs in moved)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_grade_gives_our_score_as_a_python_float_for_every_metric(pair, tmp_path, competitions):
    one = written(tmp_path, pair)
    grade = importlib.import_module(f"mlebench.competitions.{one.task.task_id}.grade").grade
    answers, gold = (
        read_csv(tmp_path / "data" / one.task.task_id / "prepared" / "private" / name)
        for name in ("answers.csv", "gold_submission.csv")
    )
    scores = [grade(read_csv(content), answers.copy()) for content in (one.honest, one.sample)]
    assert scores == pytest.approx([one.grade(one.honest).score, one.grade(one.sample).score], abs=1.01e-5)
    assert {type(score) for score in scores} == {float}
    thresholds, lower = one.calibration.thresholds, one.calibration.is_lower_better
    assert medal_of(grade(gold, answers.copy()), thresholds, lower) == "gold"
    assert medal_of(scores[1], thresholds, lower) is None


@pytest.mark.parametrize("pair", [HIGHER, LOWER], ids="-".join)
def test_an_invalid_submission_raises_the_exception_of_mle_bench(pair, tmp_path, competitions):
    one = written(tmp_path, pair)
    grade = importlib.import_module(f"mlebench.competitions.{one.task.task_id}.grade").grade
    refused = importlib.import_module("mlebench.grade_helpers").InvalidSubmissionError
    answers = read_csv(tmp_path / "data" / one.task.task_id / "prepared" / "private" / "answers.csv")
    for content in one.invalid().values():
        with pytest.raises(refused, match=r"\w"):
            grade(read_csv(content), answers)
    with pytest.raises(refused):
        grade(read_csv(one.honest).assign(**{one.facts.target_column: float("nan")}), answers)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_broken_files_get_the_verdict_of_our_own_grader(pair, tmp_path, competitions):
    one = written(tmp_path, pair)
    spec = importlib.util.spec_from_file_location("shim", tmp_path / "shim.py")
    shim = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shim)
    registry = shim.register()
    assert registry.list_competition_ids() == [one.task.task_id]
    competition = registry.get_competition(one.task.task_id)
    assert competition.description == (competition.public_dir / "description.md").read_text()
    assert any(competition.private_dir.iterdir())
    read, submission = importlib.import_module("mlebench.utils").read_csv, tmp_path / "submission.csv"
    mutants = [mutate(one.honest, Random(f"{pair} {number}")) for number in range(MUTANTS)]
    for content in (b"", one.honest, one.honest.replace(b"\n", b"\x0c\n"), *mutants):
        submission.write_bytes(content)
        score, ours = competition.grader(read(submission), read(competition.answers)), one.grade(content)
        assert (score is None) == (ours.score is None), (content, ours.problems)
        assert score is None or score == pytest.approx(ours.score, abs=1.01e-5, rel=1e-9), content


def test_the_public_folder_holds_nothing_private_and_a_description_without_our_folders(tmp_path):
    one = written(tmp_path)
    public = tmp_path / "data" / one.task.task_id / "prepared" / "public"
    text = b"\n".join(path.read_bytes() for path in public.rglob("*"))
    assert not [secret for secret in secret_texts(one) if secret in text]
    description = (public / "description.md").read_text()
    assert "`test.csv`" in description
    for ours in ("public/", "read-only"):
        assert ours in one.task.description
        assert ours not in description


def run_shim(folder: Path, *arguments: str) -> dict:
    """Run `python shim.py grade-sample ...` outside of the export, with the package on the path."""
    environment = {**os.environ, "PYTHONPATH": str(STUBS)}
    command = [sys.executable, str(folder / "shim.py"), "grade-sample", *arguments]
    done = subprocess.run(command, cwd=folder.parent, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stderr)


@pytest.mark.slow
def test_the_shim_grades_with_an_unchanged_package_and_finds_the_data(tmp_path):
    one = make_exported(LOWER)
    write_export(export([one.task], MANIFEST), tmp_path / "out")
    submission = tmp_path / "submission.csv"
    submission.write_bytes(one.honest)
    report, grade = run_shim(tmp_path / "out", str(submission), one.task.task_id), one.grade(one.honest)
    assert (report["competition_id"], report["score"]) == (one.task.task_id, pytest.approx(grade.score))
    assert report["is_lower_better"] is True
    assert report["above_median"] is grade.above_median
    submission.write_bytes(one.invalid()["an id twice"])
    assert run_shim(tmp_path / "out", str(submission), one.task.task_id)["score"] is None


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_reference_solution_of_a_real_release_wins_gold_and_the_sample_nothing(small_release, tmp_path):
    release = load(small_release)
    export_release(release, "mlebench", tmp_path / "out")
    for task_id in release.task_ids:
        record, private = release.record(task_id), release.files("private", task_id)
        (work := tmp_path / task_id / "public").mkdir(parents=True)
        for path, content in release.files("public", task_id).items():
            (work / path).write_bytes(content)
        (work.parent / "solution.py").write_bytes(private["solution.py"])
        command = [sys.executable, "solution.py", "public", "submission.csv"]
        subprocess.run(command, cwd=work.parent, capture_output=True, check=True)
        answers = read_answers(private["answers.csv"], record.facts)
        for file, medal in ((work.parent / "submission.csv", Medal.GOLD), (work / "sample_submission.csv", None)):
            ours = grade_submission(file.read_bytes(), answers, record.facts, record.calibration)
            report = run_shim(tmp_path / "out", str(file), task_id)
            expected = {f"{one}_medal": one is medal for one in Medal} | {
                f"{bar}_threshold": value for bar, value in ours.thresholds.model_dump().items()
            }
            expected |= {name: getattr(ours, name) for name in ("score", "is_lower_better", "above_median")}
            assert {name: report[name] for name in expected} == expected
            assert ours.medal is medal


@pytest.mark.parametrize("name", ["null", "true", "01", "1e3", "NA", ""])
def test_a_class_that_pandas_would_change_is_refused(name):
    task = make_exported((TargetKind.MULTICLASS, MetricName.ACCURACY)).task
    facts = task.record.facts
    odd = facts.model_copy(update={"classes": (*facts.classes[:-1], name)})
    changed = dataclasses.replace(task, record=task.record.model_copy(update={"facts": odd}))
    with pytest.raises(InputError, match=task.task_id):
        list(export([changed], MANIFEST))
