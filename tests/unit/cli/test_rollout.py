"""Rollouts as a user makes them: a real release, a real server, the real sandbox."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from sandmill.llm import client as client_module
from sandmill.models.rollout import Ending
from sandmill.play.release import load
from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.files import Store
from sandmill.store.rollouts import RolloutFolder
from tests.invoking import run
from tests.llm_server import Answer, error, serve
from tests.rollout_agents import AGENTS, SAMPLE, run_code, script_for, turn_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def release(small_release):
    create_agent_env()
    return load(small_release)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 0.01)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="module")
def server(release):
    with serve(script_for(release)) as running:
        yield running


def command(release, to, base, agent="good", *more):
    return ["rollout", release.ref, "--model", agent, "--base-url", base, "--to", to, "--n", 2, *more]


def roll_out(release, to, base, agent="good", *more):
    return run(*command(release, to, base, agent, *more))


def facts(to):
    return list(RolloutFolder(Store(str(to))).facts())


def test_a_good_agent_wins_and_every_figure_is_printed(release, server, tmp_path):
    ran = roll_out(release, tmp_path / "r", server.base, "good", "--max-usd", 1, "--prices", 10, 20)
    assert ran.exit_code == 0, ran.output
    for said in (
        "4 rollouts of 2 tasks",
        "bronze or better",
        "pass@1",
        "pass@2",
        "mean gap",
        "band ",
        "seconds",
        "Medals: gold",
        "0.0240 USD",
        "Failures: none.",
    ):
        assert said in ran.stdout
    assert ran.stderr == ""
    frame = pl.read_parquet(tmp_path / "r" / "rollouts-*.parquet")
    assert len(frame) == 4
    assert frame["medal"].null_count() == 0
    assert frame["reward"].min() > 0.3


def test_a_cheating_agent_earns_what_the_sample_submission_earns(release, server, tmp_path):
    ran = roll_out(release, tmp_path / "r", server.base, "cheat", "--json")
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["all"]["medal"] == 0.0
    for record in RolloutFolder(Store(str(tmp_path / "r"))).records():
        assert record.rollout.reward.total == 0.0
        seen = "".join(message.content for message in record.messages if message.role == "user")
        assert "FOUND" not in seen
        assert "gold_threshold" not in seen


def test_a_second_run_keeps_what_is_finished_and_adds_to_it(release, tmp_path):
    with serve(script_for(release)) as server:
        assert roll_out(release, tmp_path / "r", server.base, "bad", "--max-steps", 1, "--limit", 1).exit_code == 0
        asked = len(server.received)
        again = roll_out(release, tmp_path / "r", server.base, "bad", "--max-steps", 1, "--limit", 1, "--json")
        assert (again.exit_code, json.loads(again.stdout)["kept"]) == (0, 2)
        assert len(server.received) == asked
        more = roll_out(release, tmp_path / "r", server.base, "bad", "--max-steps", 1, "--n", 3, "--json")
        assert json.loads(more.stdout)["played"] == 4
    assert len(facts(tmp_path / "r")) == 6


@pytest.mark.parametrize("status", [401, 404, 500, 400])
def test_a_model_that_never_answers_ends_the_command_with_one_error_and_writes_nothing(release, tmp_path, status):
    with serve([error(status, "no")]) as server:
        ran = roll_out(release, tmp_path / "r", server.base)
    assert ran.exit_code == 1
    assert ran.stderr.count("\n") == 1
    assert "good: " in ran.stderr
    assert "Nothing was written." in ran.stderr
    assert not (tmp_path / "r").exists()


def test_an_episode_ends_with_its_wall_clock_though_the_model_goes_on(release, tmp_path):
    def script(received):
        return Answer(text=run_code(SAMPLE), wait_s=600.0 if turn_of(received) else 0.0)

    with serve(script) as server:
        ran = roll_out(release, tmp_path / "r", server.base, "slow", "--limit", 1, "--wall-clock", 8)
        other = roll_out(release, tmp_path / "r", server.base, "slow", "--limit", 1, "--wall-clock", 9)
    assert ran.exit_code == 0, ran.output
    for record in RolloutFolder(Store(str(tmp_path / "r"))).records():
        assert (record.rollout.ending, record.rollout.mask, record.rollout.chosen) == (Ending.TIME, False, 1)
    assert (other.exit_code, "wall clock: saw 9.0; expected 8.0" in other.stderr) == (2, True)


def test_faults_of_the_server_mask_their_rollouts_and_the_next_run_plays_them_again(release, tmp_path):
    first = release.task_ids[0]
    state = {"is_down": True}

    def script(received):
        if state["is_down"] and turn_of(received) == 1 and release.prompt(first).strip() in received.prompt:
            return error(503, "overloaded", retry_after="0")
        return AGENTS["good"](received, release)

    with serve(script) as server:
        ran = roll_out(release, tmp_path / "r", server.base, "good", "--concurrency", 1, "--json")
        figures = json.loads(ran.stdout)
        assert (ran.exit_code, figures["masked"], figures["failures"]) == (0, 2, {"model_error": 2})
        assert figures["all"]["rollouts"] == 2
        assert [one.reward for one in facts(tmp_path / "r") if one.mask] == [None, None]
        state["is_down"] = False
        figures = json.loads(roll_out(release, tmp_path / "r", server.base, "good", "--json").stdout)
    assert (figures["masked"], figures["all"]["rollouts"], figures["kept"]) == (0, 4, 2)


def test_the_limit_of_dollars_holds_over_all_runs(release, tmp_path):
    """A request costs 0.001 and could cost 0.002; an episode of the good agent has three."""
    to, priced = tmp_path / "r", ("--prices", 0, 20, "--max-tokens", 100, "--concurrency", 1)
    with serve(script_for(release)) as server:
        for _ in range(2):
            ran = roll_out(release, to, server.base, "good", *priced, "--max-usd", 0.0065)
            assert ran.exit_code == 1
            assert "--max-usd is spent" in ran.stderr
            assert "3 rollouts not finished" in ran.stderr
            assert (len(server.received), len(facts(to))) == (5, 1)
            assert RolloutFolder(Store(str(to))).spent() == pytest.approx(0.005)
        assert roll_out(release, to, server.base, "good", *priced, "--max-usd", 5).exit_code == 0
    assert len(facts(to)) == 4


@pytest.mark.parametrize(
    ("more", "where"),
    [
        (("--operators", "draft=1"), "--parents beside it"),
        (("--task", "sm0"), "expected a task of this release"),
        (("--band", "expert"), "--band"),
        (("--max-usd", 1), "--prices IN OUT"),
        (("--parents", "nowhere"), "sandmill rollout wrote"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_asked(release, tmp_path, more, where):
    with serve(script_for(release)) as server:
        ran = roll_out(release, tmp_path / "r", server.base, "good", *more)
        assert server.received == []
    assert ran.exit_code == 2
    assert where in ran.stderr
    assert not (tmp_path / "r").exists()


def test_parents_enter_the_prompts_of_train_tasks_only(release, tmp_path):
    split = {row["task_id"]: row["split"] for row in release.tasks.select("task_id", "split").to_dicts()}
    with serve(script_for(release)) as server:
        assert roll_out(release, tmp_path / "first", server.base).exit_code == 0
        server.received.clear()
        parents = ("--parents", tmp_path / "first", "--operators", "improve=1,draft=0.000001", "--seed", 3)
        assert roll_out(release, tmp_path / "second", server.base, "good", *parents).exit_code == 0
        first_messages = {received.body["messages"][1]["content"] for received in server.received}
    frame = pl.read_parquet(tmp_path / "second" / "rollouts-*.parquet")
    for task_id, operator in frame.select("task_id", "operator").rows():
        assert operator == ("improve" if split[task_id] == "train" else "draft")
    # All rollouts of a task have the same prompt.
    assert len(first_messages) == 2


def test_a_killed_run_loses_at_most_what_was_in_flight(release, tmp_path):
    def script(received):
        return Answer(text="<think>a</think><answer>done</answer>", wait_s=0.3)

    to = tmp_path / "r"
    with serve(script) as server:
        words = [str(word) for word in command(release, to, server.base, "good", "--n", 20, "--concurrency", 2)]
        code = "from sandmill.cli import main; main()"
        for kill in (True, True, False):
            process = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE)
            if not kill:
                assert process.wait(300) == 0
                break
            before, asked = len(facts(to)) if to.exists() else 0, len(server.received)
            deadline = time.monotonic() + 120
            while len(server.received) < asked + 9 and time.monotonic() < deadline:
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            answered = len(server.received) - asked
            assert len(facts(to)) >= before + answered - 2 * 2
        assert len(server.received) <= 40 + 2 * 2 * 2
    stored = facts(to)
    assert len({(one.task_id, one.sample) for one in stored}) == len(stored) == 40
    assert not (to / "episodes").exists()


def test_a_curriculum_finds_the_frontier(release, tmp_path):
    """Sample 1 of the first task copies the sample submission; the second task is never solved."""
    first = release.task_ids[0]

    def script(received):
        is_first = release.prompt(first).strip() in received.prompt
        agent = "good" if is_first and received.body["seed"] % 2 else "bad"
        return AGENTS[agent](received, release)

    with serve(script) as server:
        more = ("--n", 6, "--seed", 1, "--max-steps", 3)
        assert roll_out(release, tmp_path / "r", server.base, "some", *more).exit_code == 0
    found = json.loads(run("curriculum", release.ref, tmp_path / "r", "--json").stdout)
    assert (found["always"], found["frontier"], found["never"]) == ([], [first], [release.task_ids[1]])
    assert found["reward_variance"] == [first]
    task = found["tasks"][0]
    assert (task["band"], task["rollouts"]) == (release.record(first).calibration.difficulty.band, 6)
    assert task["structure"]
    assert found["profiles"] == []
    (place,) = json.loads(run("curriculum", release.ref, tmp_path / "r", "--profiles", "--json").stdout)["profiles"]
    assert Path(place).parent == Path(release.store.root) / "profiles"
    (rewards,) = json.loads(Path(place).read_text())["rewards"].values()
    assert rewards[first]["n"] == 6
    text = run("curriculum", release.ref, tmp_path / "r").stdout
    assert "frontier: 1 task, 1 with different rewards" in text


def test_a_curriculum_of_another_release_or_of_mixed_rewards_is_refused(release, tmp_path):
    folder = RolloutFolder(Store(str(tmp_path / "r")))
    from tests.rollout_records import SETTINGS

    folder.begin(SETTINGS)
    paid = SETTINGS.model_copy(update={"release": release.version})
    for name in ("gap", "ladder"):
        RolloutFolder(Store(str(tmp_path / name))).begin(paid.model_copy(update={"reward": name}))
    for arguments, said in (
        ((tmp_path / "gap", tmp_path / "ladder"), f"reward ladder; expected gap, as in {tmp_path / 'gap'}"),
        ((tmp_path / "r",), "saw rollouts of 0001-ab12cd34; expected rollouts of"),
        ((tmp_path / "none",), "sandmill rollout wrote"),
    ):
        ran = run("curriculum", release.ref, *arguments)
        assert ran.exit_code == 2
        assert said in ran.stderr
