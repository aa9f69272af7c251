"""What `evaluate_policy` runs, with stand-ins for the policy, the tasks and the sandbox."""

import json
from pathlib import Path

import pytest

from learn.tests.arms import StandInPolicy, StandInRunner, StandInTask
from sandmill.cli.arguments import parse_models
from sandmill.errors import InputError
from sandmill_learn import evaluation, policy
from sandmill_learn.baselines import BASELINES
from sandmill_learn.evaluation import (
    EvaluationRequest,
    check_request,
    score_fixed_arms,
    score_policy,
    training_release,
    write_report,
)
from sandmill_learn.results import read_results

FACTS = ("target=binary", "form=label", "metric=accuracy")


class Tasks(dict):
    def tasks(self):
        return list(self.values())


def make_tasks(*names):
    return Tasks({name: StandInTask(name, FACTS, name.partition(".")[0]) for name in names})


@pytest.fixture
def request_(tmp_path):
    for name in ("policy", "tables"):
        (tmp_path / name).mkdir()
    return EvaluationRequest(
        policy=tmp_path / "policy", tasks=tmp_path / "tables", release="releases/x", executions=200, samples=3
    )


@pytest.fixture
def stand_ins(monkeypatch):
    """Executors of one runner, a policy of two answers, and a release of four tasks."""
    runner = StandInRunner(lambda task_id, text: 0.6 if text == "a" else 0.3)
    monkeypatch.setattr(evaluation, "Executor", lambda tasks, **arguments: runner)
    monkeypatch.setattr(policy.MicroPolicy, "load", lambda folder: StandInPolicy("a", "b"))
    monkeypatch.setattr(evaluation, "from_release", lambda ref, **selection: make_tasks("p", "q", "r", "s"))
    return runner


def test_a_policy_is_scored_greedily_and_in_samples(request_, stand_ins):
    rows = score_policy(request_, make_tasks("iris.d0", "iris.d1", "wine.d0"))
    assert [row.temperature for row in rows].count(0) == 3
    assert [row.temperature for row in rows].count(1) == 9
    assert {row.family for row in rows} == {"iris", "wine"}
    only_greedy = score_policy(request_.model_copy(update={"samples": 0}), make_tasks("iris.d0"))
    assert len(only_greedy) == 1


def test_the_report_holds_all_rows_and_tables(request_, stand_ins):
    tasks = make_tasks("iris.d0", "iris.d1", "wine.d0")
    others, spent = score_fixed_arms(request_, tasks)
    rows = score_policy(request_, tasks) + others
    tables = write_report(request_, rows, spent)
    assert [table.title for table in tables] == ["Arms", "Differences"]
    assert {row[1] for row in tables[1].rows} == set(BASELINES)
    folder = request_.policy / "evaluations" / "tables"
    assert read_results(folder / "results.parquet") == rows
    assert {path.suffix for path in folder.iterdir()} == {".parquet", ".md"}
    assert "best-single" in (folder / "table.md").read_text()


def test_one_table_has_scores_and_no_differences(request_, stand_ins):
    tasks = make_tasks("iris.d0")
    others, spent = score_fixed_arms(request_, tasks)
    assert [table.title for table in write_report(request_, score_policy(request_, tasks) + others, spent)] == ["Arms"]


def test_all_missing_things_are_named_at_once(tmp_path):
    request = EvaluationRequest(policy=tmp_path / "no", tasks=tmp_path / "none")
    with pytest.raises(InputError) as refused:
        check_request(request)
    assert [problem.where for problem in refused.value.problems] == ["--policy", "--tasks", "--release"]


def test_the_release_is_that_of_the_training(request_):
    unnamed = request_.model_copy(update={"release": ""})
    assert training_release(unnamed) == ""
    (unnamed.policy / "request.json").write_text(json.dumps({"release": "releases/learn@1"}))
    assert training_release(unnamed) == "releases/learn@1"
    assert training_release(request_) == "releases/x"
    check_request(unnamed)


def test_the_command_line_has_the_fields_of_the_request():
    words = ["--policy", "p", "--tasks", "t", "--baselines", "none", "--samples", "2", "--to", "out"]
    (request,) = parse_models(words, "evaluate", "", "", EvaluationRequest)
    assert (request.policy, request.baselines, request.samples, request.folder) == (Path("p"), "none", 2, Path("out"))
