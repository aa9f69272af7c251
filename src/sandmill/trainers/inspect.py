"""Tasks of a release for Inspect: `inspect eval sandmill/sandmill_release -T release=releases/micro --model MODEL`."""

from typing import Any

from sandmill.errors import require_extra
from sandmill.models.rollout import EpisodeLimits
from sandmill.play.env import MLEnv
from sandmill.play.traces import episode_ids, reward_columns
from sandmill.play.turns import FINISH_TOOL, RUN_TOOL, SUBMIT_TOOL, Turns
from sandmill.trainers.shared import graded_tasks

with require_extra("inspect", __name__):
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import execute_tools, get_model
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import Tool, ToolDef

MASKED = "sandbox_failed"
"""Reason of the missing score of a masked rollout."""
_EPISODES: dict[str, Turns] = {}
"""Running episodes by the unique id of their sample. They are not in the store of the sample, which is logged."""


@task
def sandmill_release(
    release: str,
    split: str | list[str] = (),  # type: ignore[assignment]
    band: str | list[str] = (),  # type: ignore[assignment]
    metric: str | list[str] = (),  # type: ignore[assignment]
    structure: str | list[str] = (),  # type: ignore[assignment]
    reward: str = "ladder",
    max_steps: int = EpisodeLimits().max_steps,
    max_submissions: int = EpisodeLimits().max_submissions,
    time_budget: float = EpisodeLimits().time_budget,
    timeout: float = EpisodeLimits().timeout,
    wall_clock: float | None = EpisodeLimits().wall_clock,
) -> Task:
    """Return the selected tasks of a release as one task of Inspect, with a sample for each.

    Args:
        release: reference of the release; its private half must be readable.
        split: only tasks of these splits; likewise `band`, `metric` and `structure`.
        band: see `Release.select`.
        metric: see `Release.select`.
        structure: see `Release.select`.
        reward: name of a reward; the score of a sample is its value.
        max_steps: actions of an episode.
        max_submissions: valid submissions that get feedback.
        time_budget: seconds of all runs of an episode together.
        timeout: seconds of one run.
        wall_clock: seconds of the whole episode; None means one hour more than `time_budget`.

    Raises:
        InputError: if the private half cannot be read, or no task is selected.
    """
    limits = EpisodeLimits(
        max_steps=max_steps,
        max_submissions=max_submissions,
        time_budget=time_budget,
        timeout=timeout,
        wall_clock=wall_clock,
    )
    opened = graded_tasks(release).release
    chosen = opened.select(split=split, band=band, metric=metric, structure=structure)
    samples = [
        Sample(
            input=opened.task(task_id).prompt(timeout=timeout, submissions=max_submissions),
            id=task_id,
            metadata={"task_id": task_id, "release": opened.ref},
        )
        for task_id in chosen
    ]
    return Task(
        dataset=MemoryDataset(samples, name="sandmill"),
        setup=begin_episode(opened.ref, reward, limits.model_dump()),
        solver=play_episode(),
        scorer=episode_reward(),
        cleanup=_close,
    )


@solver
def begin_episode(release: str, reward: str, limits: dict[str, Any]) -> Solver:
    """Begin the episode of a sample, and give its tools to the solver, also to one of `--solver`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        opened = graded_tasks(release).task(state.metadata["task_id"])
        env = MLEnv(opened, reward=reward, limits=EpisodeLimits.model_validate(limits))
        await env.reset()
        turns = _EPISODES[state.uuid] = Turns(env)
        state.tools = _tools(turns)
        return state

    return solve


@solver
def play_episode() -> Solver:
    """Ask the model until the episode is over or the model calls no tool."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        turns = _EPISODES[state.uuid]
        while not (turns.is_over or state.completed):
            state.output = await get_model().generate(state.messages, tools=state.tools)
            state.messages.append(state.output.message)
            if not state.output.message.tool_calls:
                break
            before = turns.actions
            results, _output = await execute_tools([state.output.message], state.tools)
            state.messages.extend(results)
            if turns.actions == before:
                # Inspect refused the calls itself. They count as invalid actions, so that the loop ends.
                await turns.reject("")
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def episode_reward() -> Scorer:
    """Grade the episode in this process. A masked rollout has no score, and Inspect leaves it out of all metrics."""

    async def score(state: TaskState, target: Target) -> Score:
        rollout = await _EPISODES[state.uuid].env.stop()
        if rollout.mask or rollout.reward is None:
            return Score.unscored(reason=MASKED, explanation="The sandbox failed, so this rollout is masked.")
        grade = rollout.grade
        facts = {
            "ending": rollout.ending.value,
            "outcome": grade.outcome.value if grade else None,
            "gap_closed": grade.gap_closed if grade else None,
            "medal": grade.medal.value if grade and grade.medal else None,
            **episode_ids(rollout),
            **reward_columns(rollout.reward),
        }
        return Score(value=rollout.reward.total, metadata=facts)

    return score


async def _close(state: TaskState) -> None:
    if turns := _EPISODES.pop(state.uuid, None):
        await turns.env.close()


def _tools(turns: Turns) -> list[Tool]:
    async def run_code(code: str) -> str:
        return await turns.call("run_code", {"code": code})

    async def submit() -> str:
        return await turns.call("submit", {})

    async def finish(step: int | None = None) -> str:
        return await turns.call("finish", {"step": step})

    named = {"step": "Number of a step with a valid submission; the latest if left out"}
    return [
        ToolDef(run_code, "run_code", RUN_TOOL, {"code": "The whole script"}).as_tool(),
        ToolDef(submit, "submit", SUBMIT_TOOL).as_tool(),
        ToolDef(finish, "finish", FINISH_TOOL, named).as_tool(),
    ]
