"""sandmill run and sandmill agent-env, as a person or a programme calls them."""

import json

import pytest

from sandmill.models.rollout import Score
from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.files import Store
from tests.invoking import TASK, run
from tests.publishing import publish_numbers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    create_agent_env()
    folder = tmp_path_factory.mktemp("run")
    publish_numbers(Store(str(folder / "micro")), range(2))
    run("pull", folder / "micro", "--to", folder / "pulled", "--task", TASK)
    return folder / "pulled" / TASK


GOOD = "open('submission.csv', 'w').write('id,late\\nc0,0.1\\nd0,0.9\\ne0,0.2\\nf0,0.8\\n')"
SCRIPTS = {
    "good": (GOOD, "ok", 1.0),
    "crash after writing": (GOOD + "\n1/0", "runtime_error", 0.0),
    "invalid": ("open('submission.csv', 'w').write('id,late\\nc0,0.1\\n')", "invalid_submission", 0.0),
    "nothing": ("print({'reward': 1.0})", "no_submission", 0.0),
    "answers by a guessed path": ("open('../private/answers.csv')", "runtime_error", 0.0),
    "link": ("import os; os.symlink('public/sample_submission.csv', 'submission.csv')", "tamper", 0.0),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_run_is_one_object_with_result_and_reward(name, task, tmp_path):
    code, outcome, reward = SCRIPTS[name]
    (tmp_path / "s.py").write_text(code)
    ran = run("run", task, tmp_path / "s.py", "--backend", "warm" if name == "good" else "subprocess")
    assert ran.exit_code == 0, ran.output
    facts = json.loads(ran.stdout)
    assert facts["outcome"] == outcome
    assert facts["reward"] == reward or (name == "good" and 0 < facts["reward"] <= 1)
    assert {*Score.model_fields, "result"} == set(facts)
    assert facts["mask"] is False
    assert facts["result"]["isolation"] == ("warm" if name == "good" else "none")
    assert (facts["score"] is None) == (outcome != "ok")


def test_a_person_may_give_a_script_the_texts(task, tmp_path):
    (tmp_path / "s.py").write_text("print(open('public/description.md').read()[:2])")
    command = ("run", task, tmp_path / "s.py", "--backend", "subprocess")
    facts = [json.loads(run(*command, *more).stdout)["result"] for more in ((), ("--with-text",))]
    assert [one["outcome"] for one in facts] == ["runtime_error", "no_submission"]
    assert facts[1]["stdout"] == "# \n"


def test_agent_env_is_shown_to_a_person_and_to_a_programme(task):
    assert "numpy 2." in run("agent-env", "create").stdout
    facts = json.loads(run("agent-env", "create", "--json").stdout)
    assert facts["packages"]["numpy"].startswith("2.")


def test_limits_can_be_given(task, tmp_path):
    code = "import os; print(len(os.sched_getaffinity(0))); x = bytearray(300 << 20)"
    (tmp_path / "s.py").write_text(code)
    ran = run("run", task, tmp_path / "s.py", "--backend", "subprocess", "--cores", 1, "--memory-mb", 128)
    result = json.loads(ran.stdout)["result"]
    assert (result["outcome"], result["stdout"]) == ("oom", "1\n")
    assert run("run", task, tmp_path / "s.py", "--memory-mb", 1).exit_code == 2
