"""Training of micro policies and of language models, with torch and TRL."""

import json
import subprocess
import sys

import pytest

from learn.tests.toy import FACTS, TEXTS, ToyExecutor, teach, toy_language, toy_tasks
from sandmill.errors import InputError
from sandmill_learn import grpo, rejection, sft
from sandmill_learn.policy import MicroPolicy, build_tokenizer
from sandmill_learn.records import REPEATABLE, read_curves
from sandmill_learn.settings import GrpoSettings, PolicySize, RejectionSettings, SftSettings
from tests.releases import REPOSITORY

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = pytest.mark.slow

SIZE = PolicySize(hidden=32, layers=2, heads=2, inner=64, positions=64)
TAUGHT = SftSettings(steps=60, batch=16, learning_rate=3e-3, fact_dropout=0.1, report_every=20)


@pytest.fixture(autouse=True)
def _toy_teacher(monkeypatch):
    monkeypatch.setattr(
        sft,
        "teacher_examples",
        lambda policy, tasks: [(task.facts, script) for task in tasks for script in teach(task)],
    )
    monkeypatch.setattr(rejection, "teacher_examples", sft.teacher_examples)


def make_policy(seed=0):
    return MicroPolicy.create(toy_language(), seed, facts=FACTS, size=SIZE)


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    folder = tmp_path_factory.mktemp("taught")
    policy = make_policy()
    examples = [(task.facts, script) for task in toy_tasks() for script in teach(task)]
    fitting = sft.Fitting.start(policy, 0, "sft")
    losses = [fitting.fit(examples, 16, 3e-3 * sft.rate_at(step, 60), 0.1) for step in range(60)]
    policy.save(folder / "policy")
    return folder, losses


def load(taught):
    return MicroPolicy.load(taught[0])


def test_answers_are_the_exact_texts_of_fragments():
    policy = make_policy()
    ids = policy.answer_ids(TEXTS)
    assert policy.text_of(ids) == "".join(TEXTS.values())
    assert policy.tokenizer.batch_decode([ids], skip_special_tokens=True) == ["".join(TEXTS.values())]
    assert policy.names_of(ids) == tuple(TEXTS)


def test_prompts_are_read_as_the_tokenizer_reads_them():
    policy = make_policy()
    facts = ["metric=auc", "never=seen", "rows=50-99"]
    assert policy.prompt_ids(facts) == policy.tokenizer(" ".join(facts)).input_ids
    assert policy.prompt_ids(["never=seen"]) == policy.prompt_ids(["metric=auc"], lambda: True)


@pytest.mark.parametrize("facts", [["a b"], ["a", "a"], ["```python\n"], [""], ["<pad>"]])
def test_words_that_cannot_be_told_apart_are_refused(facts):
    with pytest.raises(InputError, match="vocabulary"):
        build_tokenizer(facts, ["```python\n"], 64)


def test_the_sampler_follows_the_model():
    policy = make_policy()
    prompts = [policy.prompt_ids(FACTS[: 1 + row % 4]) for row in range(8)]
    greedy = policy.sample_ids(prompts, temperature=0, seed=0, longest=12)
    for prompt, answer in zip(prompts, greedy, strict=True):
        ids = torch.tensor([prompt])
        wanted = policy.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False)
        assert wanted[0, len(prompt) :].tolist() == answer


def test_sampled_fragments_have_the_probabilities_of_the_model():
    policy = make_policy()
    prompt = policy.prompt_ids(FACTS[:2])
    first = [answer[0] for answer in policy.sample_ids([prompt] * 4000, temperature=2.0, seed=3, longest=1)]
    with torch.no_grad():
        wanted = torch.softmax(policy.model(torch.tensor([prompt])).logits[0, -1] / 2.0, dim=-1)
    found = torch.bincount(torch.tensor(first), minlength=len(wanted)) / 4000
    assert float((found - wanted).abs().max()) < 0.03


def test_equal_seeds_give_equal_answers_whatever_comes_after():
    policy = make_policy()
    assert make_policy(1).sample([FACTS[:2]], n=3, seed=5) != policy.sample([FACTS[:2]], n=3, seed=5)
    (answers,) = policy.sample([FACTS[:2]], n=3, seed=5)
    assert policy.sample([FACTS[:2], FACTS[:3]], n=3, seed=5)[0] == answers
    assert len(set(policy.sample([FACTS[:2]], n=2, temperature=0)[0])) == 1


def test_a_policy_is_read_back(taught, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    policy = load(taught)
    policy.save(tmp_path / "policy")
    policy.save(tmp_path / "policy")
    again = MicroPolicy.load(tmp_path)
    assert again.sample([FACTS[:2]], n=4, seed=1) == policy.sample([FACTS[:2]], n=4, seed=1)
    model, tokenizer = (
        kind.from_pretrained(str(tmp_path / "policy")) for kind in (AutoModelForCausalLM, AutoTokenizer)
    )
    assert sum(weights.numel() for weights in model.parameters()) == policy.parameters
    assert tokenizer.decode(policy.answer_ids(TEXTS), skip_special_tokens=True) == "".join(TEXTS.values())
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]


def test_a_folder_without_a_policy_is_refused(tmp_path):
    with pytest.raises(InputError, match="no micro policy"):
        MicroPolicy.load(tmp_path)
    (tmp_path / "vocabulary.json").write_text("{}")
    with pytest.raises(InputError, match=r"MicroPolicy\.save"):
        MicroPolicy.load(tmp_path)


def test_imitation_lowers_the_loss_and_gives_valid_scripts(taught):
    losses = [loss for loss, _ in taught[1]]
    assert losses[-1] < 0.3 * losses[0]
    tasks = toy_tasks()
    answers = load(taught).sample([task.facts for task in tasks], n=4, seed=0)
    pairs = [(task.id, answer) for task, group in zip(tasks, answers, strict=True) for answer in group]
    valid = [rollout.chosen is not None for rollout in ToyExecutor(tasks).rollouts(pairs)]
    assert sum(valid) > 0.6 * len(valid)


def test_imitation_goes_on_from_its_checkpoint(tmp_path):
    whole, rows = sft.train(make_policy(), toy_tasks(), TAUGHT, seed=3, folder=tmp_path / "a")

    class Stop(Exception):
        pass

    def stop(row):
        if row.update == 40:
            raise Stop

    with pytest.raises(Stop):
        sft.train(make_policy(), toy_tasks(), TAUGHT, seed=3, folder=tmp_path / "b", listen=stop)
    seen = []
    resumed, again = sft.train(make_policy(), toy_tasks(), TAUGHT, seed=3, folder=tmp_path / "b", listen=seen.append)
    assert [row.update for row in seen] == [60]
    assert _repeatable(again) == _repeatable(rows)
    for name, weights in whole.model.state_dict().items():
        assert torch.equal(weights, resumed.model.state_dict()[name]), name


def test_grpo_raises_the_reward_and_learns_what_depends_on_facts(taught, tmp_path):
    tasks = toy_tasks()
    settings = GrpoSettings(
        updates=28, tasks=8, samples=8, longest=12, learning_rate=3e-3, validate_every=14, warmup=2, fact_dropout=0.05
    )
    policy, rows = grpo.train(
        load(taught), tasks, ToyExecutor(tasks), settings, seed=0, folder=tmp_path, validation=tasks[:4]
    )
    earned = [row.reward for row in rows if row.reward is not None]
    assert len(earned) == 28
    assert sum(earned[-5:]) / 5 > sum(earned[:5]) / 5 + 0.15
    assert rows[-1].greedy_gap > rows[0].greedy_gap or rows[0].greedy_gap == 0.9
    assert rows[-1].requested == 28 * 64 + 3 * 4 * 3
    best = max((row for row in rows if row.greedy_gap is not None), key=lambda row: row.greedy_gap + row.sampled_gap)
    answers = policy.sample([task.facts for task in tasks[:4]], n=1, temperature=0)
    gaps = [
        rollout.grade.gap_closed or 0.0
        for rollout in ToyExecutor(tasks).rollouts(
            [(task.id, answer[0]) for task, answer in zip(tasks, answers, strict=False)]
        )
    ]
    assert sum(gaps) / 4 == pytest.approx(best.greedy_gap)


def test_grpo_stops_when_all_rewards_are_equal(taught, tmp_path):
    tasks, reasons = toy_tasks(), []
    settings = GrpoSettings(updates=9, tasks=2, samples=2, longest=4, patience=3, validate_every=4, beta=0.01)
    _, rows = grpo.train(
        load(taught), tasks, ToyExecutor(tasks), settings, seed=0, folder=tmp_path, explain=reasons.append
    )
    assert rows[-1].update == 3
    assert rows[-1].kl is not None
    assert "No script was valid" in reasons[0]


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from learn.tests.toy import ToyExecutor, toy_tasks
from sandmill_learn import grpo
from sandmill_learn.records import write_curves
from sandmill_learn.policy import MicroPolicy
from sandmill_learn.settings import GrpoSettings

start, folder, last = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
tasks = toy_tasks()
settings = GrpoSettings(
    updates=8, tasks=4, samples=4, longest=12, learning_rate=3e-3, validate_every=3, warmup=2, iterations=2
)

def listen(row):
    if row.update == last:
        os.kill(os.getpid(), signal.SIGKILL)

policy, rows = grpo.train(
    MicroPolicy.load(start),
    tasks,
    ToyExecutor(tasks),
    settings,
    seed=2,
    folder=folder,
    validation=tasks[:2],
    listen=listen,
)
write_curves(folder / "curves.csv", rows)
print(policy.sample([tasks[0].facts], n=3, seed=0))
"""


@pytest.mark.timeout(900)
def test_a_training_that_was_killed_gives_the_same_curve_and_policy(taught, tmp_path):
    def train(folder, last):
        arguments = [str(REPOSITORY), str(taught[0]), str(tmp_path / folder), str(last)]
        return subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False)

    whole = train("whole", -1)
    assert whole.returncode == 0, whole.stderr
    assert train("killed", 5).returncode == -9
    assert not (tmp_path / "killed" / "curves.csv").exists()
    resumed = train("killed", -1)
    assert resumed.returncode == 0, resumed.stderr
    curves = [_repeatable(read_curves(tmp_path / folder / "curves.csv")) for folder in ("whole", "killed")]
    assert curves[0] == curves[1]
    assert resumed.stdout == whole.stdout


def test_rejection_learns_from_its_best_scripts(taught, tmp_path):
    tasks = toy_tasks()
    settings = RejectionSettings(
        rounds=3, tasks=6, samples=8, steps=15, batch=16, learning_rate=3e-3, threshold=0.5, teacher_share=0.1
    )
    _, rows = rejection.train(
        load(taught), tasks, ToyExecutor(tasks), settings, seed=0, folder=tmp_path, validation=tasks[:4]
    )
    assert rows[-1].reward > rows[0].reward + 0.1
    again = []
    _, same = rejection.train(
        load(taught), tasks, ToyExecutor(tasks), settings, seed=0, folder=tmp_path, listen=again.append
    )
    assert again == []
    assert same == rows


def _repeatable(rows):
    return [json.dumps(row.model_dump(include=set(REPEATABLE))) for row in rows]
