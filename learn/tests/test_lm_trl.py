"""GRPO with TRL: the same rewards as the own trainer, a random model on the CPU."""

import json
from concurrent.futures import Future

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from learn.tests.models import write_model, write_tokenizer  # noqa: E402
from sandmill_learn.lm.folder import Record  # noqa: E402
from sandmill_learn.lm.grading import Graded, Table  # noqa: E402
from sandmill_learn.lm.settings import parse  # noqa: E402
from sandmill_learn.lm.trl import make_reward, train_with_trl  # noqa: E402
from sandmill_learn.lm.weights import load_transformers  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class StubPool:
    """The share of the gap of a script follows from its number of letters."""

    executed = 0

    def __init__(self):
        self.seen = []

    def submit(self, name, script):
        self.seen.append((name, script))
        share = len(script) % 5 / 4
        future = Future()
        future.set_result(Graded(True, gap=share, ladder=share, caught=[0.5]))
        return future


def _tables():
    fields = {"public": {}, "task": {}, "truth": [], "ids": [], "bars": []}
    fields |= {"form": "value", "metric": "rmse", "trivial": 0.0, "oracle": 1.0}
    return {
        name: Table(name=name, group="grpo", prompt=f"predict {name}", **fields) for name in ("one", "two", "three")
    }


def test_a_script_is_paid_up_to_the_closing_fence(tmp_path):
    pool = StubPool()
    reward = make_reward("ladder-facts", pool, Record(tmp_path))
    assert reward(completions=["abc```\nmore", ""], table=["one", "two"]) == [0.75 + 0.1, 0.0]
    assert pool.seen == [("one", "abc"), ("two", "")]


def test_the_model_of_a_folder_is_trained_and_can_be_scored(tmp_path):
    torch.manual_seed(0)
    write_tokenizer(tmp_path / "tokenizer.json")
    model = write_model(tmp_path / "tokenizer.json", tmp_path / "model")
    before = load_transformers(model).state_dict()
    pool = StubPool()
    given = ["trl", "--model", str(model), "--work", str(tmp_path / "work"), "--out", str(tmp_path), "--steps", "2"]
    given += ["--prompts", "2", "--samples", "4", "--answer-tokens", "8", "--grpo-learning-rate", "1e-2"]
    train_with_trl(parse(given), _tables(), pool, Record(tmp_path))
    after = torch.load(tmp_path / "work" / "grpo-trl-ladder-facts.pt")
    assert before.keys() == after.keys()
    assert any(bool((before[name] != after[name]).any()) for name in before)
    # Two updates of two groups of four scripts.
    assert len(pool.seen) == 16
    assert {name for name, _ in pool.seen} <= {"one", "two", "three"}
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["valid"] for row in rows] == [1.0, 1.0]


@pytest.mark.parametrize(("given", "problem"), [(["--model", "packed"], "folder"), (["--reward", "rejection"], "gap")])
def test_other_models_and_rewards_are_refused(given, problem, tmp_path):
    with pytest.raises(ValueError, match=problem):
        train_with_trl(parse(["trl", "--model", str(tmp_path), *given]), {}, StubPool(), Record(tmp_path))
