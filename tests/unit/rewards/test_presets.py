"""Formulas of the presets, their parts, and what failures and masks earn."""

from inspect import signature

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from benchmarks.reading import report_rewards
from sandmill.errors import InputError
from sandmill.models.calibration import BoardEntry, Thresholds, Tier
from sandmill.models.remote import ScoreRequest
from sandmill.models.reports import Check, Outcome
from sandmill.models.rollout import Action, Ending, Marker, Rollout, Step
from sandmill.play.env import MLEnv
from sandmill.play.score import score as score_run
from sandmill.rewards import PRESETS, PartialCreditGrpo, SandmlePaper, Sparse, get_reward
from sandmill.rewards.presets import Reward
from tests.factories import CALIBRATION
from tests.rollouts import ENDS, FAILURES, LOOSE_END, failures, grade_at, reward_of, rollout_of, successes

NAMES = {"ladder", "ladder-facts", "gap", "sandmle-paper", "sparse", "partial-credit-grpo"}

UNHURRIED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Times say nothing on a busy machine."""


def with_format(name: str, weight: float) -> Reward:
    return type(PRESETS[name])(format_weight=weight)


def test_all_presets_are_there_and_state_formula_and_source():
    assert set(PRESETS) == NAMES
    for name, reward in PRESETS.items():
        assert reward.preset == name
        assert "Source:" in type(reward).__doc__
        assert get_reward(name) is reward
        assert get_reward(reward) is reward
        assert type(reward).model_validate_json(reward.model_dump_json()) == reward


@pytest.mark.parametrize("unknown", ["gold", "", 3, None])
def test_an_unknown_preset_lists_those_that_exist(unknown):
    with pytest.raises(
        InputError, match=r"expected one of ladder, ladder-facts, gap, sandmle-paper.*partial-credit-grpo"
    ):
        get_reward(unknown)


@pytest.mark.parametrize(("share", "reward"), [(0.4, 0.4), (-3.0, 0.0), (1.2, 1.0), (0.0, 0.0)])
def test_the_gap_is_clipped(share, reward):
    assert reward_of(grade_at(share)) == pytest.approx(reward)


@pytest.mark.parametrize("oracle", [0.9, 0.1], ids=["higher is better", "lower is better"])
def test_the_gap_of_a_loose_ceiling_ends_at_its_lower_end(oracle):
    assert reward_of(grade_at(0.45, oracle=oracle, is_loose=True)) == pytest.approx(0.5)
    assert reward_of(grade_at(0.9, oracle=oracle, is_loose=True)) == 1.0
    unknown = grade_at(0.4, oracle=oracle, is_loose=True).model_copy(update={"ceiling_low": None})
    assert reward_of(unknown) == pytest.approx(0.4)


RUNGS = [(-3.0, 0.0), (0.0, 0.0), (0.2, 0.1), (0.4, 0.2), (0.6, 0.4), (0.7, 0.6), (0.8, 0.8), (1.0, 1.0), (1.2, 1.0)]
"""Shares of the gap, and what `ladder` pays for them where bronze, silver and gold are at 0.4, 0.6 and 0.8."""


@pytest.mark.parametrize("oracle", [0.9, 0.1], ids=["higher is better", "lower is better"])
@pytest.mark.parametrize(("share", "reward"), RUNGS)
def test_the_ladder_is_linear_between_its_rungs(share, reward, oracle):
    parts = PRESETS["ladder"](rollout_of(grade_at(share, oracle=oracle))).parts
    assert parts == {"ladder": pytest.approx(reward), "gap": 0.0}


def test_the_ladder_of_a_loose_ceiling_ends_at_the_best_score_that_was_reached():
    for share, reward in ((0.8, 0.8), (0.8 + (LOOSE_END - 0.8) / 2, 0.9), (LOOSE_END, 1.0), (1.0, 1.0)):
        assert reward_of(grade_at(share, is_loose=True), "ladder") == pytest.approx(reward)


@pytest.mark.parametrize(
    "change",
    [
        {"thresholds": Thresholds(gold=0.7, silver=0.7, bronze=0.6, median=0.55)},
        {"thresholds": Thresholds(gold=0.9, silver=0.7, bronze=0.6, median=0.55)},
        {"thresholds": Thresholds(gold=0.8, silver=0.7, bronze=0.5, median=0.5)},
        {"oracle": None},
        {"trivial": None},
        {"ceiling_is_loose": True, "ceiling_low": 0.81},
        {"ceiling_is_loose": True, "ceiling_low": None},
    ],
    ids=["silver", "oracle", "trivial", "no oracle", "no trivial", "low ceiling", "no ceiling"],
)
def test_without_strictly_rising_rungs_the_ladder_pays_the_gap_and_says_so(change):
    grade = grade_at(0.5).model_copy(update=change)
    assert PRESETS["ladder"](rollout_of(grade)).parts == {"ladder": 0.0, "gap": pytest.approx(reward_of(grade, "gap"))}
    failed = grade_at(None).model_copy(update={"outcome": Outcome.NO_SUBMISSION, **change})
    assert PRESETS["ladder"](rollout_of(failed)).parts == {"ladder": 0.0, "gap": 0.0}


def test_the_ladder_is_the_default_of_episodes_and_a_request_that_names_no_reward_keeps_the_gap():
    defaults = [signature(one).parameters[name].default for one, name in ((MLEnv, "reward"), (score_run, "preset"))]
    assert defaults == ["ladder", "ladder"]
    assert get_reward() is PRESETS["ladder"]
    assert ScoreRequest(code="", task_id="lamps").preset == "gap"


STEPS = {"sandmle-paper": (0.3, 0.4, 0.6, 0.8, 0.9), "sparse": (0.0, 0.0, 0.0, 0.0, 0.9)}
"""Valid, median, bronze, silver, gold."""


@pytest.mark.parametrize("oracle", [0.9, 0.1], ids=["higher is better", "lower is better"])
@pytest.mark.parametrize("name", STEPS)
def test_a_score_equal_to_a_threshold_reaches_it(name, oracle):
    for share, reward in zip((0.0, 0.2, 0.4, 0.6, 0.8), STEPS[name], strict=True):
        grade = grade_at(share, oracle=oracle)
        assert reward_of(grade, name) == pytest.approx(reward), share
        if share == 0.2:
            assert not grade.above_median


@pytest.mark.parametrize("model", [SandmlePaper, Sparse])
def test_with_the_format_weight_of_sandmle_gold_earns_one(model):
    reward = model(format_weight=0.1)(rollout_of(grade_at(0.8), format_rate=1.0))
    assert reward.total == pytest.approx(1.0)
    assert reward.parts["format"] == 0.1


def test_format_counts_only_if_it_is_asked_for_and_measured():
    grade = grade_at(0.5)
    assert "format" not in PRESETS["gap"](rollout_of(grade, format_rate=1.0)).parts
    assert with_format("gap", 0.1)(rollout_of(grade)).parts["format"] == 0.0
    assert with_format("gap", 0.06)(rollout_of(grade, format_rate=0.5)).parts["format"] == pytest.approx(0.03)
    for weight in (0.11, -0.1, float("nan")):
        with pytest.raises(ValidationError):
            with_format("gap", weight)


def test_credit_of_a_failure_grows_with_checks_and_markers():
    grade, reward = grade_at(None, Outcome.INVALID_SUBMISSION), PRESETS["partial-credit-grpo"]
    assert reward(rollout_of(grade)).total == -0.5
    assert reward(rollout_of(grade, tuple(Marker)[:3], tuple(Check)[:2])).parts == {
        "score": 0.0,
        "failure": -0.5,
        "checks": pytest.approx(0.1),
        "markers": pytest.approx(0.06),
    }
    tampered = grade_at(None, Outcome.TAMPER)
    assert reward(rollout_of(tampered, tuple(Marker), tuple(Check)[:3])).total == -0.5
    step = Step(number=1, action=Action.RUN, outcome=Outcome.TAMPER, markers=tuple(Marker))
    ungraded = Rollout(
        task_id="task", steps=(step,), ending=Ending.FINISHED, grade=grade_at(None, Outcome.NO_SUBMISSION)
    )
    assert reward(ungraded).total == -0.5


def test_a_valid_submission_earns_its_share_and_nothing_for_markers():
    for share, score in ((-4.0, 0.0), (0.6, 0.6), (1.4, 1.0)):
        rollout = rollout_of(grade_at(share), tuple(Marker))
        assert PRESETS["partial-credit-grpo"](rollout).total == pytest.approx(score)


@pytest.mark.parametrize(
    "wrong", [{"marker_credit": 5.0}, {"check_credit": 9.0}, {"failure": -0.1}, {"failure": float("-inf")}]
)
def test_weights_that_let_credit_reach_a_valid_submission_are_refused(wrong):
    with pytest.raises(ValidationError):
        PartialCreditGrpo(**wrong)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_masked_rollout_has_no_parts(name):
    masked = Rollout(task_id="task", ending=Ending.INFRA, mask=True)
    reward = with_format(name, 0.1)(masked)
    assert (reward.mask, reward.parts, reward.preset) == (True, {}, name)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_rollout_without_a_grade_is_a_failure(name):
    assert PRESETS[name](rollout_of(None)).total == reward_of(grade_at(None, Outcome.NO_CODE), name)


@UNHURRIED
@given(data=st.data(), ends=ENDS, weight=st.sampled_from([0.0, 0.1]), rate=st.none() | st.floats(0, 1))
def test_a_failure_earns_at_most_what_a_valid_sample_submission_earns(data, ends, weight, rate):
    failed = data.draw(failures(ends, rate))
    sample = data.draw(successes(ends, rate, st.floats(-0.05, 0)))
    for name in sorted(NAMES):
        reward = with_format(name, weight)
        assert reward(failed).total <= reward(sample).total + 1e-12, name
        assert set(reward(failed).parts) == set(reward(sample).parts)


@UNHURRIED
@given(data=st.data(), ends=ENDS)
def test_any_valid_submission_earns_more_than_all_credit_together(data, ends):
    name = "partial-credit-grpo"
    failed, valid = data.draw(failures(ends, None)), data.draw(successes(ends, None, st.floats(-1e6, 1e6)))
    assert PRESETS[name](failed).total < PRESETS[name](valid).total - 0.1


@UNHURRIED
@given(data=st.data(), ends=ENDS)
def test_a_better_score_never_earns_less_and_failures_never_more_than_any(data, ends):
    worse, better = sorted(data.draw(st.tuples(st.floats(-3, 3), st.floats(-3, 3))))
    for name in sorted(NAMES):
        low, high = (PRESETS[name](rollout_of(grade_at(share, Outcome.OK, *ends))).total for share in (worse, better))
        assert low <= high + 1e-9, name
        for outcome in FAILURES:
            assert reward_of(grade_at(None, outcome, *ends), name) <= low + 1e-9


def test_the_benchmark_of_reading_prints_what_the_best_blind_entry_and_the_better_readers_earn():
    finals = {Tier.READER: (0.95, 0.9, 0.6), Tier.ENSEMBLE: (0.7, 0.65), Tier.TRIVIAL: (0.5,)}
    entries = [BoardEntry(solver=tier, tier=tier, final=one, feedback=one) for tier in finals for one in finals[tier]]
    board = CALIBRATION.model_copy(
        update={
            "board": tuple(sorted(entries, key=lambda entry: -entry.final)),
            "thresholds": Thresholds(gold=0.9, silver=0.7, bronze=0.6, median=0.55),
            "trivial": 0.5,
            "oracle": 1.0,
        }
    )
    text = "\n".join(report_rewards([board, CALIBRATION], "boards"))
    assert "| ladder | 1 | 0.40 | 0.85 |" in text
