"""docs/episodes.md states the presets, limits and numbers of the code, and its examples run."""

import re

import pytest

import sandmill
from sandmill.models.reports import Outcome
from sandmill.models.rollout import FactCredit, Marker
from sandmill.models.run import Isolation, RunResult
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rewards import PRESETS, instrument
from sandmill.sandbox.agent_env import create_agent_env
from tests.releases import REPOSITORY
from tests.rollouts import grade_at, rollout_of
from tests.task_folders import write_task
from tests.unit.sandbox.conftest import make_box

TEXT = (REPOSITORY / "docs" / "episodes.md").read_text()


def section(name: str) -> str:
    return TEXT.split(f"\n## {name}\n")[1].split("\n## ")[0]


def example(name: str) -> str:
    return re.search(r"```python\n(.*?)```", section(name), re.DOTALL)[1]


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return write_task(tmp_path_factory.mktemp("docs"), TargetKind.BINARY, MetricName.ROC_AUC)


def test_the_table_has_every_preset_and_its_range():
    rows = [line.strip("| ").split(" | ") for line in section("Rewards").splitlines() if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == list(PRESETS)
    facts = (FactCredit(fact="formula:a", value=1.0),)
    best = rollout_of(grade_at(1.0)).model_copy(update={"facts": facts})
    worst = rollout_of(grade_at(None, Outcome.NO_CODE))
    for name, *_, span, _source in rows:
        low, high = map(float, span.split(" to "))
        reward = PRESETS[name.strip("`")]
        assert (reward(worst).total, reward(best).total) == (low, pytest.approx(high))


def test_every_marker_and_the_limits_are_stated():
    assert all(f"`{marker}`" in section("Markers") for marker in Marker)
    assert f"{instrument._MOST_CODE:,} characters" in section("Markers")


def test_the_example_of_rewards_runs(task):
    sample = (task / "public" / "sample_submission.csv").read_bytes()
    result = RunResult(outcome=Outcome.OK, isolation=Isolation.NONE, submission=sample)
    names = {
        "rollout": rollout_of(grade_at(0.9), format_rate=1.0),
        "task": task,
        "result": result,
        "sandmill": sandmill,
    }
    exec(example("Rewards"), names)
    assert names["parts"].total == pytest.approx(1.0)
    assert names["final"].reward == 0.0


@pytest.mark.slow
def test_the_example_of_markers_runs(task):
    create_agent_env()
    code = "import shutil\nprint(1)\nshutil.copy('public/sample_submission.csv', 'submission.csv')\n1 / 0\n"
    with make_box("warm") as box:
        names = {"box": box, "code": code, "task": task}
        exec(example("Markers"), names)
    assert names["markers"] == (Marker.IMPORTS, Marker.SUBMISSION_WRITTEN)
    assert names["stdout"] == "1\n"
    assert names["token"] not in names["stderr"]
