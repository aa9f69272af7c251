"""Figures of rollouts: unbiased pass@k, masked rollouts left out, and tasks sorted by what they teach."""

from itertools import combinations

import pytest

from sandmill.models.reports import Medal
from sandmill.models.rollout import FactCredit, RolloutFacts, TaskPlace
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
)

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
