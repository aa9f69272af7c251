"""Figures of rollouts: unbiased pass@k, masked rollouts left out, and tasks sorted by what they teach."""

import random
import re
from collections.abc import Iterable, Sequence
from itertools import combinations

import pytest

from sandmill.models.reports import Medal
from sandmill.models.rollout import Action, FactCredit, RewardParts, RolloutFacts, RolloutRecord, Step, TaskPlace, Usage
from sandmill.report.rollout_checks import DOMINANT, DRIFT, IDENTICAL, SEARCH, SEARCHES, Finding, check_rollouts
from sandmill.report.rollouts import (
    Solved,
    curriculum_table,
    figure_lines,
    groups_table,
    make_curriculum,
    pass_at_k,
    pass_table,
    reward_profiles,
    rollout_figures,
    trajectory,
)
from tests.rollout_records import make_masked, make_record
from tests.sandbox_corpus import OK

PLACES = {
    name: TaskPlace(task_id=name, split="train", structure=structure, band=band, difficulty=0.5)
    for name, structure, band in (
        ("sm1", "tabular", "hard"),
        ("sm2", "tabular", "easy"),
        ("sm3", "text", "easy"),
        ("sm4", "text", "expert"),
    )
}


def fact(task_id="sm1", sample=0, reward=0.0, medal=None, **facts) -> RolloutFacts:
    given = {
        "release": "r",
        "mask": False,
        "failure": "",
        "is_valid": True,
        "gap_closed": reward,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "usd": 0.5,
        "seconds": 2.0,
    } | facts
    return RolloutFacts(task_id=task_id, sample=sample, reward=reward, medal=medal, **given)


def failed(task_id="sm1", failure="timeout", **facts) -> RolloutFacts:
    return fact(task_id, is_valid=False, gap_closed=None, failure=failure, **facts)


def masked(task_id="sm1", failure="infra_error") -> RolloutFacts:
    return failed(task_id, failure, mask=True, reward=None)


@pytest.mark.parametrize("n", range(1, 7))
def test_pass_at_k_is_the_mean_over_all_choices_of_k_rollouts(n):
    for passed in range(n + 1):
        results = [True] * passed + [False] * (n - passed)
        for k in range(1, n + 1):
            choices = list(combinations(results, k))
            assert pass_at_k(n, passed, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_figures_by_hand():
    facts = [
        fact("sm1", 0, 0.5, Medal.GOLD),
        fact("sm1", 1, 1.4, Medal.BRONZE),
        fact("sm2", 0, -3.0),
        failed("sm2"),
        masked("sm2", "model_error"),
        failed("sm3", "no_run"),
    ]
    figures = rollout_figures(facts, PLACES)
    assert (figures.tasks, figures.masked, figures.all.rollouts) == (3, 1, 5)
    assert figures.all.valid == 3 / 5
    assert figures.all.medal == 2 / 5
    assert figures.medals == {"gold": 0.2, "silver": 0.0, "bronze": 0.2}
    assert figures.all.mean_gap == pytest.approx((0.5 + 1.0) / 5)
    assert figures.pass_at == {1: pytest.approx(1 / 3), 2: 0.5}
    assert figures.pass_at_tasks == {1: 3, 2: 2}
    assert (figures.prompt_tokens, figures.completion_tokens, figures.usd) == (600, 60, 3.0)
    assert list(figures.structures) == ["tabular", "text"]
    assert list(figures.bands) == ["easy", "hard"]
    assert figures.bands["hard"].medal == 1.0
    assert figures.failures == {"timeout": 1, "model_error": 1, "no_run": 1}


def test_nothing_and_only_masked_rollouts_have_figures():
    for facts in ([], [masked()]):
        figures = rollout_figures(facts, PLACES)
        assert (figures.all.rollouts, figures.all.valid, figures.pass_at) == (0, None, {})
        assert groups_table(figures).rows == pass_table(figures).rows == ()
        assert "none" in " ".join(figure_lines(figures)) or facts


def test_the_frontier_is_between_always_and_never():
    first = [
        *(fact("sm1", sample, 0.9, Medal.GOLD) for sample in range(2)),
        *(fact("sm2", sample, 0.1 * sample) for sample in range(2)),
        *(fact("sm3", sample, 0.5, medal) for sample, medal in enumerate((Medal.BRONZE, None))),
        masked("sm4"),
    ]
    found = make_curriculum("r@1", [first], PLACES)
    kinds = {kind: [task.task_id for task in found.of(kind)] for kind in Solved}
    assert kinds == {Solved.ALWAYS: ["sm1"], Solved.NEVER: ["sm2"], Solved.FRONTIER: ["sm3"]}
    assert {task.task_id: task.has_reward_variance for task in found.tasks} == {"sm1": False, "sm2": True, "sm3": False}
    assert curriculum_table(found.of(Solved.FRONTIER)).rows == (("sm3", "train", "text", "easy", "1/2", "0.500"),)


def test_differences_between_folders_are_no_variance_within_a_group():
    weak, strong = ([fact("sm1", sample, reward) for sample in range(2)] for reward in (0.1, 0.9))
    (task,) = make_curriculum("r@1", [weak, strong], PLACES).tasks
    assert (task.has_reward_variance, task.rollouts) == (False, 4)


def test_credits_for_stated_facts_are_means_by_kind_of_the_measured_ones():
    credits = (
        FactCredit(fact="formula:a", value=1.0),
        FactCredit(fact="formula:b", value=0.0),
        FactCredit(fact="units:c"),
        FactCredit(fact="code_value:d", value=0.25),
    )
    figures = rollout_figures([fact(credits=credits), fact(sample=1), masked()], PLACES)
    assert figures.caught == {"code_value": 0.25, "formula": 0.5}
    assert "Stated facts that submissions use: code_value 25.0%, formula 50.0%." in figure_lines(figures)
    assert not any("Stated facts" in line for line in figure_lines(rollout_figures([fact()], PLACES)))


def test_rewards_of_a_model_are_summed_up_by_preset_and_task_over_its_folders():
    first = [fact("sm1", 0, 0.1), fact("sm1", 1, 0.5), fact("sm2", 0, 0.7), masked("sm3")]
    given = [("org/a b", "gap", first), ("org/a b", "gap", [fact("sm1", 0, 0.6)]), ("other", "medal", first[:1])]
    one, other = reward_profiles("0001-ab12cd34", given)
    assert (one.path, other.path) == ("profiles/org-a-b.json", "profiles/other.json")
    assert one.rewards["gap"]["sm1"].model_dump() == {"n": 3, "mean": 0.4, "sd": 0.264575}
    assert one.rewards["gap"]["sm2"].model_dump() == {"n": 1, "mean": 0.7, "sd": None}
    assert set(one.rewards["gap"]) == {"sm1", "sm2"}
    assert set(other.rewards) == {"medal"}


def play(
    task: int, sample: int, code: str = "", parts: dict[str, float] | None = None, tokens: int = 0
) -> RolloutRecord:
    """Make a rollout with one script. Without more arguments it is honest, with a script and a length of its own."""
    noise = random.Random(f"{task}/{sample}")
    step = Step(number=1, action=Action.RUN, code=code or f"model.fit(train, depth={task}{sample})")
    return make_record(
        f"sm{task}",
        sample,
        steps=(step,),
        parts=RewardParts(preset="any", parts=parts or {"gap": noise.random(), "format": 0.1}),
        usage=Usage(completion_tokens=tokens or round(1000 * (task + 1) * noise.lognormvariate(0, 0.5))),
    )


def honest(tasks: Iterable[int] = range(6), samples: Iterable[int] = range(8)) -> list[RolloutRecord]:
    return [play(task, sample) for task in tasks for sample in samples]


def check(*folders: Sequence[RolloutRecord], is_greedy: bool = False) -> tuple[Finding, ...]:
    return check_rollouts(dict(zip("abc", folders, strict=False)), is_greedy)[1]


def test_honest_rollouts_of_many_tasks_have_no_finding():
    assert check_rollouts({"a": [*honest(), make_masked("sm1", 99)]}, False) == (48, ())
    assert check(honest(), honest(samples=range(8, 16))) == ()
    assert check([]) == ()


def test_one_script_in_half_of_the_rollouts_of_a_task_is_found():
    same = [play(1, 10 + place, f"# try {place}\ncopy(sample)  \n\n") for place in range(8)]
    (finding,) = check([*honest(), *same])
    assert (finding.kind, finding.rollouts) == (IDENTICAL, 8)
    assert finding.examples[0] == ("a", "sm1", 10)
    assert "8 of 56 rollouts (1 task)" in finding.words
    assert check([*honest(), *same[1:]]) == ()
    assert check([*honest(), *same], is_greedy=True) == ()


def test_one_script_for_three_tasks_is_found_also_at_temperature_zero():
    same = [play(task, 20, "copy(sample)") for task in range(3)]
    (finding,) = check([*honest(), *same], is_greedy=True)
    assert (finding.kind, finding.examples) == (IDENTICAL, (("a", "sm0", 20), ("a", "sm1", 20), ("a", "sm2", 20)))
    assert check([*honest(), *same[1:]]) == ()


def test_a_part_that_no_score_pays_is_found_when_it_is_most_of_the_reward():
    (finding,) = check([play(task, 0, parts={"gap": 0.02, "format": 0.1}) for task in range(8)])
    assert (finding.kind, finding.rollouts) == (DOMINANT, 8)
    assert "format, which is 83% of all reward" in finding.words
    assert check([play(task, 0, parts={"gap": 0.02, "format": 0.1}) for task in range(7)]) == ()
    # What a failure costs counts too, and the score itself may be everything.
    failed = {"score": 0.0, "failure": -0.5, "checks": 0.25}
    assert check([play(task, 0, parts=failed) for task in range(8)]) == ()
    assert check([play(task, 0, parts={"ladder": 1.0, "gap": 0.0}) for task in range(8)]) == ()


@pytest.mark.parametrize("factor", [2.5, 0.4])
def test_lengths_that_drift_within_and_between_folders_are_found(factor):
    def lengthen(records: Sequence[RolloutRecord], first: int) -> list[RolloutRecord]:
        return [
            record
            if record.rollout.sample < first
            else play(
                int(record.rollout.task_id[2:]),
                record.rollout.sample,
                tokens=round(factor * record.rollout.usage.completion_tokens),
            )
            for record in records
        ]

    (within,) = check(lengthen(honest(), 4))
    assert (within.kind, within.rollouts) == (DRIFT, 24)
    assert "as long as early samples" in within.words
    later = honest(samples=range(8, 16))
    (between,) = check(honest(), lengthen(later, 0))
    assert (between.kind, between.rollouts) == (DRIFT, 48)
    assert "as long as those of a" in between.words
    assert float(between.words.split(" are ")[1].split()[0]) == pytest.approx(factor, rel=0.4)


def test_other_tasks_in_the_last_folder_are_no_drift():
    assert check(honest(range(3)), honest(range(3, 6))) == ()


@pytest.mark.parametrize(
    ("code", "way"),
    [
        ("pd.read_csv('answers.csv')", "name answers"),
        ("for f in ('private', 'x'): open(f)", "leave their folder"),
        ("open('../labels')", "leave their folder"),
        ("here = Path(__file__).parent.parent", "leave their folder"),
        ("for folder, _, names in os.walk('/'): pass", "search the machine"),
        ("open('/proc/1/environ')", "search the machine"),
        ("os.system('find / -name x')", "search the machine"),
        ("print(gc.get_objects())", "read memory or frames"),
        ("print(os.environ)", "list the environment"),
        ("x = 1\nfrom urllib.request import urlopen", "use the network"),
        ("import sandmill", "import sandmill"),
    ],
)
def test_a_script_that_looks_for_answers_is_found(code, way):
    (finding,) = check([*honest(), play(1, 50, code)])
    assert (finding.kind, finding.rollouts, finding.examples) == (SEARCH, 1, (("a", "sm1", 50),))
    assert f"({way} 1)" in finding.words
    assert way in SEARCHES


HONEST = [
    "os.environ['OMP_NUM_THREADS'] = '2'",
    "train = pd.read_csv('public/train.csv')",
    "sub.to_csv('submission.csv', index=False)",
    "answers = model.predict(test)",
    "for path in Path('public').rglob('*.wav'): pass",
    "names = glob.glob('public/images/*.png')",
    "tmp = tempfile.mkdtemp(dir='/tmp')",
    "ratio = a/var",
    "cut = thresholds[0]  # solution of the private part",
]


@pytest.mark.parametrize("code", [*HONEST, *OK.values()])
def test_honest_scripts_look_for_nothing(code):
    assert [name for name, pattern in SEARCHES.items() if re.search(pattern, code)] == []


def test_facts_credit_steps_and_messages_come_in_order():
    record = make_record(reward=0.3, medal="bronze")
    rollout = record.rollout.model_copy(
        update={"facts": (FactCredit(fact="formula:bmi", value=0.5),), "episode_id": "e1"}
    )
    (title, facts), *rest = trajectory(record.model_copy(update={"rollout": rollout}))
    assert title == "sm1, rollout 0: reward 0.300"
    for line in ("medal             bronze", "outcome           ok", "episode id        e1", "chosen            1"):
        assert line in facts
    texts = dict(rest)
    assert list(texts)[:4] == ["credit", "steps", "message 1, system", "message 2, assistant"]
    assert "reward/gap        0.300" in texts["credit"]
    assert "fact formula:bmi  0.500" in texts["credit"]
    assert "Valid submission. Score: 0.3" in texts["steps"]
    assert "runtime_error" in texts["steps"]
    assert texts["step 3, code"] == "1/0"
    assert "a\r\nb" in texts["step 1, standard output"]


def test_code_that_a_message_holds_is_not_repeated():
    record = make_record()
    said = record.messages[1].model_copy(update={"content": "```python\n1/0\n```"})
    titles = dict(trajectory(record.model_copy(update={"messages": (said,)})))
    assert "step 3, code" not in titles
    assert "step 1, code" in titles


def test_a_masked_rollout_has_no_credit():
    (title, facts), *rest = trajectory(make_masked(error="no answer"))
    assert title == "sm1, rollout 0: masked, no reward"
    assert "no answer" in facts
    assert "credit" not in dict(rest)
