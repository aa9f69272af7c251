"""The language model: weights, training pass, sampler, pool of scripts, grades, rewards and texts."""

import json
import shutil
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from sandmill_learn.lm.designs import Design  # noqa: E402
from sandmill_learn.lm.evaluate import interval  # noqa: E402
from sandmill_learn.lm.folder import Record, read_parts, write_parts  # noqa: E402
from sandmill_learn.lm.generate import Limits, Sampler  # noqa: E402
from sandmill_learn.lm.grading import Graded, Grader, Table, ladder_of, reading_of  # noqa: E402
from sandmill_learn.lm.grpo import GrpoSettings, advantages_of, imitated, train_grpo  # noqa: E402
from sandmill_learn.lm.llama import Llama, Shape  # noqa: E402
from sandmill_learn.lm.prepare import bars_of, copy_code, take_facts_out  # noqa: E402
from sandmill_learn.lm.scripts import Pool  # noqa: E402
from sandmill_learn.lm.sft import schedule  # noqa: E402
from sandmill_learn.lm.texts import Source, exchange  # noqa: E402
from sandmill_learn.lm.weights import dequantise, load_transformers  # noqa: E402

SHAPE = Shape(layers=2, hidden=32, heads=4, kv_heads=2, inner=48, vocab=61, theta=1e4, epsilon=1e-5)
END = 2


def test_blocks_of_gguf_files_become_numbers():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 16, 32)
    packed = (codes[:16] | (codes[16:] << 4)).astype(np.uint8)
    content = np.array([0.5, -1.0], np.float16).tobytes() + packed.tobytes()
    np.testing.assert_allclose(dequantise(content, "Q4_1", [1, 32])[0], 0.5 * codes - 1.0)
    signed = rng.integers(-128, 128, 32).astype(np.int8)
    content = np.array([0.25], np.float16).tobytes() + signed.tobytes()
    np.testing.assert_allclose(dequantise(content, "Q8_0", [4, 8]).ravel(), 0.25 * signed)
    with pytest.raises(ValueError, match="Q2_K"):
        dequantise(b"", "Q2_K", [1])


def test_large_files_travel_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("sandmill_learn.lm.folder.PART_BYTES", 4)
    assert [part.name for part in write_parts(tmp_path / "w", b"123456789")] == ["w.00", "w.01", "w.02"]
    assert read_parts(tmp_path / "w") == b"123456789"
    (tmp_path / "w.01").unlink()
    with pytest.raises(FileNotFoundError, match=r"w\.02"):
        read_parts(tmp_path / "w")


def test_the_training_pass_is_that_of_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=61,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    other = transformers.LlamaForCausalLM(config).eval()
    other.save_pretrained(tmp_path)
    model = load_transformers(tmp_path)
    prompt, answers = [5, 9, 11, 30], [[7, 8, 9], [3, END]]
    prompts, groups = [prompt, prompt[:2]], [answers, [[8], [6, 5, 4, 3]]]
    found, entropy = model.answer_logprobs(prompts, groups)
    wanted = []
    for prompt, answer in [(prompt, answer) for prompt, group in zip(prompts, groups, strict=True) for answer in group]:
        logits = other(torch.tensor([prompt + answer])).logits.detach()[0, len(prompt) - 1 : -1].log_softmax(-1)
        wanted += [float(logits[place, token]) for place, token in enumerate(answer)]
    np.testing.assert_allclose(found.detach().numpy(), wanted, atol=1e-5)
    assert ((entropy > 0) & (entropy < np.log(61))).all()


def test_a_greedy_sample_is_the_most_likely_token_of_the_training_pass():
    model = Llama.random(SHAPE, seed=1)
    with torch.no_grad():
        for values in model.qkv:
            values.mul_(20)
    prompts = [[4, 5, 6, 7, 8], [9, 10, 11]]
    sampler = Sampler(model, Limits(2, 3, 8, 6), END)
    for prompt, group in zip(prompts, sampler.sample(prompts, 0.0), strict=True):
        assert group[0] == group[1] == group[2]
        tokens = torch.tensor([group[0]])
        hidden = model.answer_hidden(torch.tensor([prompt]), torch.tensor([len(prompt)]), tokens)
        logits = model.logits(hidden)[0]
        assert logits.argmax(-1).tolist() == group[0]


def test_samples_follow_the_probabilities_of_the_model_and_new_weights():
    model = Llama.random(SHAPE, seed=2)
    with torch.no_grad():
        model.embedding.mul_(40)
    prompt = [4, 5, 6]
    sampler = Sampler(model, Limits(1, 4000, 8, 1), END)
    torch.manual_seed(0)
    (group,) = sampler.sample([prompt], 1.0)
    hidden = model.answer_hidden(torch.tensor([prompt]), torch.tensor([3]), torch.tensor([[1]]))
    chances = model.logits(hidden)[0, 0].softmax(-1).detach().numpy()
    found = np.bincount([answer[0] for answer in group], minlength=SHAPE.vocab) / len(group)
    np.testing.assert_allclose(found, chances, atol=0.04)
    with torch.no_grad():
        model.embedding.zero_()
    sampler.refresh()
    (group,) = sampler.sample([prompt], 1.0)
    assert len({answer[0] for answer in group}) > 50
    with pytest.raises(ValueError, match="longest 9"):
        sampler.sample([[1] * 9], 1.0)


def _table(**changes):
    rows = "id,a,y\n" + "".join(f"t{place},{place},{2 * place}\n" for place in range(30))
    test = "id,a\n" + "".join(f"q{place},{place}\n" for place in range(20))
    fields = {
        "name": "toy",
        "group": "grpo",
        "prompt": "predict y",
        "public": {"train.csv": rows, "test.csv": test, "sample_submission.csv": "id,y\n"},
        "task": {"id_column": "id", "columns": ["y"], "classes": [], "low": None, "high": None, "cell_bytes": 32},
        "form": "value",
        "metric": "rmse",
        "truth": [2.0 * place for place in range(20)],
        "ids": [f"q{place}" for place in range(20)],
        "trivial": 20.0,
        "oracle": 0.0,
        "bars": [0.35, 0.55, 0.75, 1.0],
    }
    return Table(**(fields | changes))


@pytest.fixture
def folder(tmp_path):
    copy_code(tmp_path)
    with (tmp_path / "arrays.npz").open("wb") as file:
        oracle = np.arange(20.0)
        known = np.random.default_rng(0).normal(size=(20, 1))
        arrays = {"components": oracle[:, None], "oracle": oracle, "covariates": known, "left_out": [[False]]}
        np.savez(file, **{f"toy/{name}": values for name, values in arrays.items()})
    return tmp_path


READ = 'import pandas as pd\ntest = pd.read_csv("public/test.csv")\ntest["y"] = {}\n'
WRITE = 'test[["id", "y"]].to_csv("submission.csv", index=False)\n'


def test_scripts_run_within_limits_and_are_graded(folder, monkeypatch):
    monkeypatch.setattr("sandmill_learn.lm.scripts.CPU_SECONDS", 2)
    monkeypatch.setattr("sandmill_learn.lm.scripts.WALL_SECONDS", 60.0)
    table = _table()
    scripts = {
        "right": READ.format('2 * test["a"]') + WRITE,
        "half": READ.format('test["a"]') + WRITE,
        "nothing": "x = 1\n",
        "wrong": "import missing_module\n",
        "columns": READ.format("1") + 'test.to_csv("submission.csv", index=False)\n',
        "endless": "while True: pass\n",
        "large": "x = bytearray(5 << 30)\n",
    }
    with Pool(folder, {"toy": table}, workers=2) as pool:
        found = dict(zip(scripts, pool.run(("toy", script) for script in scripts.values()), strict=True))
        assert pool.run([("toy", scripts["right"])])[0] == found["right"]
        assert pool.executed == len(scripts)
    assert (found["right"].gap, found["right"].medal, found["right"].ladder) == (1.0, 3, 1.0)
    assert found["right"].caught[0] == pytest.approx(1.0, abs=0.01)
    assert 0 < found["half"].gap < 1
    assert not found["half"].problem
    assert found["nothing"].problem == "no submission.csv"
    assert "missing_module" in found["wrong"].problem
    assert "header" in found["columns"].problem
    assert "processor time" in found["endless"].problem
    assert "MemoryError" in found["large"].problem
    assert found["large"].reward("ladder-facts") < 0 < found["half"].reward("gap") < 1


def test_rewards_pay_for_facts_only_above_the_trivial_score(folder):
    grader = Grader(folder, {"toy": _table()})
    best = grader.grade_predictions("toy", np.arange(20.0) * 2)
    assert best.reward("ladder-facts") == pytest.approx(best.reward("ladder") + 0.2, abs=0.01)
    # The order is right and the scale is not: the fact is used, and the score is worse than a constant.
    poor = grader.grade_predictions("toy", np.arange(20.0) * 9 + 5)
    assert poor.mean_caught == pytest.approx(1.0, abs=0.01)
    assert poor.reward("ladder-facts") == poor.reward("gap") == 0.0


def test_the_ladder_rises_from_the_trivial_score_to_its_end():
    bars = bars_of({"blind a": 0.2, "blind b": 0.4, "read a": 0.8})
    assert bars == [0.3, 0.4, 0.6, 0.8]
    assert [ladder_of(gap, bars) for gap in (-1, 0, 0.3, 0.4, 0.6, 0.8, 2)] == [0, 0, 0.2, 0.4, 0.8, 1, 1]
    assert bars_of({"blind a": 0.5, "blind b": 0.6}) == sorted(bars_of({"blind a": 0.5, "blind b": 0.6}))


def test_a_right_reading_counts_whatever_the_number_of_its_column():
    line = 'df["fact1"] = np.log(df["a"] / df["b"])'
    table = _table(facts=[{"kind": "formula", "lines": [line], "matters": True}])
    assert reading_of(table, line.replace("fact1", "fact3")) == (1, 1)
    assert reading_of(table, 'df["fact1"] = np.log(df["a"] / df["c"])') == (1, 0)
    assert reading_of(table, "x = 1") == (0, 0)


def test_exchanged_facts_name_other_columns_and_numbers_in_text_and_lines():
    class Hint:
        def __init__(self, text):
            self.text = text

        def model_copy(self, update):
            return Hint(update["text"])

    hint = Hint("Heat is `a_m` times `b_m`; above 12.5 it counts.")
    source = Source(f"Title\n\n## Notes\n\n{hint.text} Other.", "", {}, None, [hint])
    other, swap = exchange(source, ["a_m", "b_m", "c_m", "d_m"], seed=3)
    line = swap('df["fact1"] = (df["a_m"] * df["b_m"] > 12.5)')
    (text,) = [one.text for one in other.hints]
    assert text in other.description
    assert "12.5" not in text
    assert not {"a_m", "b_m"} & set(text.replace("`", " ").split())
    named = [name for name in ("c_m", "d_m") if name in text]
    assert all(f'df["{name}"]' in line for name in named)
    assert line.split("> ")[1].rstrip(")") in text


def test_some_prompts_lose_their_facts_and_their_demonstrations_use_none():
    scripts = {"blind linear": "fit(x)", "read linear": "fit(x, told)"}
    row = {
        "prompt": "told",
        "prompts": {"removed": "silent"},
        "facts": [{"kind": "formula"}],
        "components": ["formula"],
    }
    design = Design(0, "bees", False, True, row, list(scripts.values()), scripts, {"oracle": 1})
    kept = take_facts_out([design] * 5, 0.4)
    assert [one.row["prompt"] for one in kept] == ["told", "told", "silent", "told", "silent"]
    silent = kept[2]
    assert (silent.answers, silent.row["facts"], silent.arrays, silent.is_hinted) == (["fit(x)"], [], {}, False)
    assert take_facts_out([replace(design, answers=["fit(x, told)"])], 1.0)[0].row["prompt"] == "told"


def test_groups_without_variance_have_no_advantage():
    assert advantages_of([0.3, 0.3, 0.3]) == [0.0, 0.0, 0.0]
    made = advantages_of([0.0, 1.0])
    assert made == [-1.0, 1.0]
    # A spread below 0.05 is not blown up.
    assert max(advantages_of([0.5, 0.51])) < 0.2


def test_rejection_imitates_the_best_quarter_that_earns_anything():
    assert imitated([0.1, 0.4, 0.3, 0.2, 0.0, 0.0, -0.3, 0.0]) == [0, 1, 1, 0, 0, 0, 0, 0]
    assert imitated([0.0, -0.3]) == [0, 0]


def test_the_learning_rate_warms_up_and_falls():
    rates = [schedule(share) for share in (0.0, 0.03, 0.06, 0.5, 1.0)]
    assert rates[0] < rates[1] < rates[2] == pytest.approx(1.0)
    assert rates[2] > rates[3] > rates[4] == pytest.approx(0.1)


def test_intervals_are_over_tables():
    mean, low, high = interval([0.0, 1.0] * 20)
    assert mean == 0.5
    assert 0.3 < low < 0.5 < high < 0.7


def test_modules_that_travel_need_no_sandmill(folder, tmp_path):
    import subprocess
    import sys

    assert not [path for path in (folder / "lm").glob("*.py") if "sandmill_learn" in path.read_text()]
    place = tmp_path / "elsewhere"
    shutil.copytree(folder / "lm", place / "lm")
    code = "import sys, lm.run, lm.grpo; print(json.dumps([m for m in sys.modules if m.startswith('sandmill')]))"
    environment = {"PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", f"import json; {code}"]
    ended = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert json.loads(ended.stdout or "null") == [], ended.stderr


class StubWords:
    """Tokens are letters."""

    end = END

    def prompt(self, text):
        return [4, 5, 6]

    def script(self, tokens):
        return "".join(chr(97 + token) for token in tokens if token != END)


class StubPool:
    """The gap of a script is its share of the letter `h`."""

    executed = 0

    def submit(self, name, script):
        future = Future()
        future.set_result(Graded(True, gap=script.count("h") / 4, ladder=script.count("h") / 4))
        return future


@pytest.mark.parametrize("reward", ["gap", "rejection"])
def test_rewards_change_what_the_model_writes(tmp_path, reward):
    torch.manual_seed(0)
    model = Llama.random(SHAPE, seed=3)
    sampler = Sampler(model, Limits(2, 16, 8, 4), END)
    settings = GrpoSettings(seconds=300, prompts=2, samples=16, steps=30, learning_rate=1e-2, reward=reward)
    tables = [_table(name="one"), _table(name="two")]
    record = Record(tmp_path)
    assert train_grpo(model, sampler, StubWords(), StubPool(), tables, settings, record) >= 15
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert rows[0]["reward"] < 0.15
    assert max(row["reward"] for row in rows) > 0.6
    # Tokens are drawn from the probabilities that the training pass computes.
    assert rows[0]["surprise"] == pytest.approx(rows[0]["entropy"], abs=0.1)
