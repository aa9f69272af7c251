"""Credit for stated facts in episodes and rewards: for the trainer alone, and not to be had without the facts."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sandmill
from sandmill.errors import InputError
from sandmill.models.columns import Unit
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Act, FactCredit, Rollout
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.env import MLEnv
from sandmill.play.explain import visible_cells
from sandmill.play.score import score
from sandmill.play.task import EpisodeTask
from sandmill.rewards import LadderFacts, get_reward
from tests.hinted_designs import small_rendered
from tests.rollouts import grade_at, rollout_of
from tests.task_folders import write_rendered
from tests.unit.play.runner import PreparedRunner, result_of, sample_of

TASK = (TargetKind.REGRESSION, MetricName.RMSE)
ORACLE = small_rendered(0, TASK).oracle


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rendered(tmp_path_factory.mktemp("hinted"), small_rendered(0, TASK))


@pytest.fixture(scope="module")
def opened(folder: Path) -> EpisodeTask:
    return sandmill.open_task(folder)


def with_numbers(folder: Path, numbers: object) -> bytes:
    sample = pd.read_csv(folder / "public" / "sample_submission.csv", dtype=str)
    sample[sample.columns[1]] = numbers
    return sample.to_csv(index=False).encode()


def mean_of(credits: tuple[FactCredit, ...]) -> float:
    return float(np.mean([one.value for one in credits if one.value is not None]))


def test_cells_of_the_files_are_those_that_were_drawn() -> None:
    for slot in (0, 1, 3):
        made = small_rendered(slot, TASK)
        cells = visible_cells(made.package.spec, made.package.facts, made.package.public)
        for column in made.package.spec.mechanism.columns:
            if not isinstance(column.distribution, Unit):
                assert np.allclose(cells[column.name], made.test_draw.observed[column.name], equal_nan=True)
        for term in made.package.spec.mechanism.terms:
            if term.motif.motif == "aggregate":
                assert np.allclose(cells[term.motif.key], made.test_draw.observed[term.motif.key])


def test_the_oracle_uses_all_facts_and_a_constant_none(opened: EpisodeTask, folder: Path) -> None:
    best = opened.explain_submission(with_numbers(folder, ORACLE))
    nothing = opened.explain_submission(sample_of(folder))

    assert [one.fact for one in best] == [one.fact for one in nothing]
    assert mean_of(best) == 1.0
    assert mean_of(nothing) == 0.0
    assert "aggregate" in {one.kind for one in best}


def test_without_a_valid_submission_nothing_is_caught(opened: EpisodeTask) -> None:
    for submission in (None, b"id,nothing\n", result_of(Outcome.TIMEOUT)):
        assert mean_of(opened.explain_submission(submission)) == 0.0


def test_the_public_half_alone_explains_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "public").symlink_to(folder / "public")

    with pytest.raises(InputError, match="Pull it with"):
        sandmill.open_task(tmp_path).explain_submission(b"")


def test_tasks_whose_facts_do_not_matter_have_no_credit(tmp_path: Path) -> None:
    folder = write_rendered(tmp_path, small_rendered(5, TASK))

    assert sandmill.open_task(folder).explain_submission(sample_of(folder)) == ()


def played(folder: Path, submission: bytes, reward: str = "ladder-facts") -> tuple[list[str], Rollout]:
    """Submit once for feedback and finish; return all that the agent sees, and the rollout."""

    async def play() -> tuple[list[str], Rollout]:
        box = PreparedRunner([result_of(submission=submission)])
        async with MLEnv(sandmill.open_task(folder, sandbox=box), reward=reward, max_submissions=1) as env:
            seen = [(await env.reset())[0]]
            for act in (Act.run("1"), Act.submit(), Act.finish()):
                text, pay, _, _, info = await env.step(act)
                seen.append(text)
                assert "rollout" in info or pay == 0.0
            assert env.rollout
            return seen, env.rollout

    return asyncio.run(play())


def test_the_credit_is_a_part_of_the_reward_and_never_in_an_observation(folder: Path) -> None:
    seen, rollout = played(folder, with_numbers(folder, ORACLE))

    assert rollout.facts
    assert rollout.reward
    assert rollout.reward.parts["facts"] == pytest.approx(0.2)
    assert rollout.reward.total == pytest.approx(rollout.reward.parts["ladder"] + 0.2)
    for text in seen:
        assert not any(one.fact in text for one in rollout.facts)
    (step,) = [one for one in rollout.steps if one.feedback]
    assert "facts" not in json.dumps(step.model_dump(mode="json"))


def test_other_rewards_measure_no_facts(folder: Path) -> None:
    assert played(folder, with_numbers(folder, ORACLE), "ladder")[1].facts == ()


def test_feedback_rows_do_not_count(opened: EpisodeTask, folder: Path) -> None:
    """Predictions that use the facts on feedback rows alone catch nothing."""
    final = opened.private.answers.is_final
    noise = np.random.default_rng(0).normal(ORACLE.mean(), ORACLE.std(), len(ORACLE))

    assert mean_of(opened.explain_submission(with_numbers(folder, np.where(final, noise, ORACLE)))) == 0.0
    assert mean_of(opened.explain_submission(with_numbers(folder, np.where(final, ORACLE, noise)))) == 1.0


@pytest.mark.parametrize("kind", ["constant", "noise", "far", "row order", "raw columns", "products"])
def test_no_credit_is_faked(kind: str, opened: EpisodeTask, folder: Path) -> None:
    """Answers that a script without the facts can write earn next to nothing for facts."""
    rng, rows = np.random.default_rng(1), len(ORACLE)
    test = pd.read_csv(folder / "public" / "test.csv").select_dtypes("number").fillna(0.0).rank(pct=True).to_numpy()
    test = test - test.mean(axis=0)
    pairs = test[:, :, None] * test[:, None, :]
    fakes = {
        "constant": np.full(rows, ORACLE.mean()),
        "noise": rng.normal(size=rows),
        "far": 1e9 * rng.normal(size=rows),
        "row order": np.arange(rows),
        "raw columns": test @ rng.normal(size=test.shape[1]),
        "products": pairs.reshape(rows, -1) @ rng.normal(size=pairs[0].size),
    }
    submission = with_numbers(folder, fakes[kind])
    grade, used = opened.grade(submission), opened.explain_submission(submission)
    rollout = rollout_of(grade).model_copy(update={"facts": used})

    assert get_reward("ladder-facts")(rollout).parts["facts"] <= 0.02


def test_credit_grows_with_the_gap_and_pays_nothing_below_the_trivial_score() -> None:
    used = (
        FactCredit(fact="formula:a", value=1.0),
        FactCredit(fact="units:b"),
        FactCredit(fact="formula:c", value=0.0),
    )

    def paid(share: float | None, weight: float = 0.2) -> float:
        reward = LadderFacts(facts_weight=weight)
        return reward(rollout_of(grade_at(share)).model_copy(update={"facts": used})).parts["facts"]

    assert paid(-0.1) == paid(0.0) == 0.0
    assert paid(0.05) == pytest.approx(0.05)
    assert paid(0.1) == paid(0.9) == pytest.approx(0.1)
    assert paid(0.9, 0.0) == 0.0
    assert LadderFacts()(rollout_of(grade_at(0.9))).parts["facts"] == 0.0


def test_the_score_of_a_folder_is_that_of_the_opened_task(opened: EpisodeTask, folder: Path) -> None:
    result = result_of(submission=with_numbers(folder, ORACLE))

    assert score(folder, result, "ladder-facts").reward == pytest.approx(score(folder, result).reward + 0.2)
    assert score(opened, result, "ladder-facts") == score(folder, result, "ladder-facts")
