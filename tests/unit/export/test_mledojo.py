"""The export for MLE-Dojo against its contract: files, one metric class, plain floats, HumanRank positions."""

import importlib.util
import inspect
import io
import sys
from pathlib import Path

import pandas as pd
import pytest

from sandmill.export.mledojo import export
from sandmill.scoring.support import ANSWER_FORMS
from tests.export_tasks import HIGHER, LOWER, SETTINGS, make_exported, secret_texts, write_export

STUBS = Path(__file__).parents[2] / "client_stubs"
PAIRS = sorted(ANSWER_FORMS)


@pytest.fixture
def get_metric(monkeypatch, tmp_path):
    """Export a task, and load its metric by path, as MLE-Dojo does. Returns task, metric and answers."""
    monkeypatch.syspath_prepend(str(STUBS))
    base = importlib.import_module("mledojo.metrics.base")

    def load(pair):
        one = make_exported(pair)
        write_export(export([one.task], SETTINGS), tmp_path)
        path = tmp_path / "competitions" / one.task.task_id / "utils" / "metric.py"
        spec = importlib.util.spec_from_file_location("metric", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        derived = [
            one for _, one in inspect.getmembers(module, inspect.isclass) if issubclass(one, base.CompetitionMetrics)
        ]
        (only,) = [one for one in derived if one is not base.CompetitionMetrics]
        answers = tmp_path / "data" / one.task.task_id / "data" / "private" / "test_answer.csv"
        return one, only(), pd.read_csv(answers)

    yield load
    for name in [name for name in sys.modules if name.split(".")[0] == "mledojo"]:
        del sys.modules[name]


def read(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content))


def human_rank(score: float, board: Path, higher: bool) -> float:
    """Position score of MLE-Dojo: the second column of the file, sorted; a tie takes the better place."""
    scores = sorted(pd.read_csv(board).iloc[:, 1], reverse=higher)
    place = next(
        (i for i, other in enumerate(scores, 1) if (score >= other if higher else score <= other)), len(scores) + 1
    )
    return (len(scores) - place + 1) / len(scores)


def test_the_files_are_those_of_mle_dojo(tmp_path):
    one = make_exported()
    paths, name = write_export(export([one.task], SETTINGS), tmp_path), one.task.task_id
    boards = ("private_leaderboard.csv", "public_leaderboard.csv")
    tables = ("train.csv", "test.csv", "sample_submission.csv")
    assert set(paths) == {
        *(f"competitions/{name}/utils/{file}" for file in ("metric.py", "prepare.py")),
        *(f"competitions/{name}/info/{file}" for file in ("description.txt", *boards)),
        *(f"data/{name}/data/public/{file}" for file in ("description.txt", *tables)),
        *(f"data/{name}/data/private/{file}" for file in ("test_answer.csv", *boards)),
    }


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_metric_gives_our_score_as_a_plain_float_for_every_metric(pair, get_metric):
    one, metric, truth = get_metric(pair)
    assert metric.higher_is_better is not one.calibration.is_lower_better
    for content in (one.honest, one.sample):
        metric.validate_submission(read(content), truth)
        score = metric.evaluate(truth, read(content))
        assert type(score) is float
        assert score == pytest.approx(one.grade(content).score, abs=1.01e-5)


@pytest.mark.parametrize("pair", [HIGHER, LOWER], ids="-".join)
def test_an_invalid_submission_raises_in_the_validation(pair, get_metric):
    one, metric, truth = get_metric(pair)
    refused = importlib.import_module("mledojo.metrics.base").InvalidSubmissionError
    for content in filter(None, one.invalid().values()):
        with pytest.raises(refused, match=r"\w"):
            metric.validate_submission(read(content), truth)


@pytest.mark.parametrize("pair", [HIGHER, LOWER], ids="-".join)
def test_both_leaderboards_give_our_position_score(pair, tmp_path):
    one = make_exported(pair)
    write_export(export([one.task], SETTINGS), tmp_path)
    private = tmp_path / "data" / one.task.task_id / "data" / "private"
    for content in (one.honest, one.sample):
        grade = one.grade(content)
        for board in ("private_leaderboard.csv", "public_leaderboard.csv"):
            found = human_rank(grade.score, private / board, higher=not grade.is_lower_better)
            assert found == pytest.approx(grade.position_score)


def test_the_public_folder_holds_nothing_private(tmp_path):
    one = make_exported()
    write_export(export([one.task], SETTINGS), tmp_path)
    public = tmp_path / "data" / one.task.task_id / "data" / "public"
    text = b"\n".join(path.read_bytes() for path in public.rglob("*"))
    assert not [secret for secret in secret_texts(one) if secret in text]
    assert "public/" not in (public / "description.txt").read_text()
