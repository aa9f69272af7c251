"""TRL: an environment class and a reward function for `GRPOTrainer`, and rows for its dataset."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from pydantic import ValidationError

from sandmill.errors import InputError, Problem
from sandmill.models.names import fresh_id
from sandmill.models.rollout import Act, EpisodeLimits, Rollout
from sandmill.play.env import MLEnv, run_sync
from sandmill.play.prompt import HOW_TO_ANSWER
from sandmill.play.release import Release
from sandmill.play.task import AsyncCodeRunner
from sandmill.play.traces import episode_ids, reward_columns
from sandmill.play.turns import OVER
from sandmill.rewards import Reward, get_reward
from sandmill.trainers.episode import SyncEpisode, last_script, score_script
from sandmill.trainers.shared import OpenTasks, SharedTasks, choose_sandbox, share_tasks

if TYPE_CHECKING:
    from sandmill.models.run import RunLimits

_USE_TOOLS = (
    "Solve the machine-learning task below. Call run_code to run Python scripts, submit to get feedback on the "
    "submission of the latest script, and finish to end the episode.\n\n"
)


def train_rows(
    release: Release | Path | str,
    *,
    tools: bool = False,
    timeout: float = 30.0,
    limits: "RunLimits | None" = None,
    fresh: int = 0,
    **selection: Any,
) -> list[dict[str, Any]]:
    """Return rows with the columns `prompt` (a chat) and `task_id`, for `datasets.Dataset.from_list`.

    Args:
        release: a release or its reference. The public half is enough, unless the selection needs the private one.
        tools: rows for `environment`, whose `reset` adds the text of the task. Otherwise rows for `code_reward`, with
            the whole prompt.
        timeout: wall time of one script in seconds, as passed to `code_reward`.
        limits: of the sandbox that runs the scripts; None means its defaults.
        fresh: rows of each selected task, each another draw of its design with its own rows and answers, in place of
            the published draw. True is one. All completions of a row see the same draw. Needs the private half.
        selection: arguments of `Release.select`: `split`, `band`, `metric`, `structure`, `difficulty`.

    Raises:
        RequestError: no task has the selected values.
    """
    opened = share_tasks(release).release
    rows = []
    chosen = opened.select(**selection)
    names = [fresh_id(name, group) for group in range(fresh) for name in chosen] if fresh else chosen
    for task in map(opened.task, names):
        text = _USE_TOOLS if tools else f"{task.prompt(timeout=timeout, limits=limits)}\n{HOW_TO_ANSWER}"
        rows.append({"prompt": [{"role": "user", "content": text}], "task_id": task.id})
    return rows


class Environment:
    """One agent on one task, as `GRPOTrainer` uses it. `environment` makes subclasses for a release.

    The public methods other than `reset` and `get_reward` are the tools of the model. They return a text for all
    mistakes of the model. A fault of the sandbox or of the store ends the episode without a reward.
    """

    _tasks: SharedTasks
    _reward: Reward
    _limits: EpisodeLimits
    _sandbox: AsyncCodeRunner | None = None

    def __init__(self) -> None:
        self._episode: SyncEpisode | None = None

    @property
    def rollout(self) -> Rollout | None:
        """The finished rollout; None before its end, and after a fault outside the sandbox."""
        return self._episode.rollout if self._episode else None

    def reset(self, **row: Any) -> str:
        """Begin an episode on the task of a dataset row, and return its prompt.

        Args:
            row: columns of the dataset. `task_id` names the task.

        Raises:
            InputError: the row or the release has no such task, or the release has no valid private half.
            AccessDenied, FileMissing: the private half cannot be read from here.
        """
        task_id = row.get("task_id")
        if not isinstance(task_id, str):
            problem = Problem("task_id", repr(task_id), "the id of a task", "train_rows makes such rows.")
            raise InputError("dataset row", [problem], "")
        if self._episode is not None:
            self._episode.close()
        task = self._tasks.task(task_id)
        env = MLEnv(task, reward=self._reward, limits=self._limits, sandbox=self._sandbox)
        self._episode = SyncEpisode(env)
        return self._episode.begin()

    def run_code(self, code: str) -> str:
        """Run a Python script in a new process. Write submission.csv to submit predictions.

        Args:
            code: The complete script.

        Returns:
            How the script ended, and what it printed.
        """
        return self._act(lambda: Act.run(code))

    def submit(self) -> str:
        """Get feedback on the submission of the latest script. The number of answers is limited.

        Returns:
            A rounded score with position and medal, or why there is no score.
        """
        return self._act(Act.submit)

    def finish(self, step: int = 0) -> str:
        """End the episode. One submission is graded.

        Args:
            step: Number of the step whose submission is graded. 0 means the latest valid one.

        Returns:
            A message that the episode has ended.
        """
        return self._act(lambda: Act.finish(step or None))

    def get_reward(self) -> float | None:
        """End the episode if it is not over, and return its reward. None means that TRL leaves the rollout out."""
        if self._episode is None:
            return None
        self._episode.end()
        return self._episode.reward

    def _act(self, make: Callable[[], Act]) -> str:
        if self._episode is None:
            return OVER
        try:
            return self._episode.act(make())
        except ValidationError as error:
            # The model gave an argument that the tool does not take.
            return "\n".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}." for item in error.errors())


def environment(
    release: Release | Path | str,
    *,
    reward: str | Reward = "ladder",
    sandbox: AsyncCodeRunner | None = None,
    **limits: Any,
) -> type[Environment]:
    """Return a class for `GRPOTrainer(environment_factory=...)`. Its rewards need no `reward_funcs`.

    Args:
        release: a release with its private half, or its reference. It is opened at once.
        reward: name of a preset, or a reward.
        sandbox: runs the scripts. None means the sandbox of the release.
        limits: fields of `EpisodeLimits`: `max_steps`, `max_submissions`, `time_budget`, `timeout`,
            `wall_clock`.

    Raises:
        ReleaseNotFound: the release does not exist.
        SandboxUnavailable: there is no other sandbox, and this machine cannot run scripts.
        InputError: the reward is unknown.
        ValidationError: a limit is unknown or out of range.
    """
    tasks = share_tasks(release)
    members = {
        "__doc__": Environment.__doc__,
        "_tasks": tasks,
        "_reward": staticmethod(get_reward(reward)),
        "_limits": EpisodeLimits(**limits),
        "_sandbox": sandbox or tasks.release.sandbox or choose_sandbox(),
    }
    return type("SandmillEnvironment", (Environment,), members)


@runtime_checkable
class CountedRuns(Protocol):
    """Runs answers with a time limit and a sandbox of its own, and may count or cache them."""

    async def arollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        """Return the rollout of each pair of a task id and the text of an answer, in order."""


def code_reward(
    release: Release | Path | str | OpenTasks | CountedRuns,
    *,
    reward: str | Reward = "ladder",
    timeout: float = 30.0,
    sandbox: AsyncCodeRunner | None = None,
) -> Callable[..., list[float | None]]:
    """Return a function for `GRPOTrainer(reward_funcs=...)` that runs and grades the script of each completion.

    The last Python block of a completion runs. All completions of a batch run at the same time, as many as the sandbox
    admits. A completion that a fault of the sandbox hit gets None, and TRL leaves it out.

    TRL's table of completions, which Trackio and W&B show, gets a row of `episode_ids` and `reward_columns` for each
    completion, and its metrics the mean of each `reward/PART`.

    Args:
        release: a release with its private half, or its reference, which is opened at once. Or tasks of several
            sources, with their private halves. Or an object that runs answers itself.
        reward: name of a preset, or a reward.
        timeout: wall time of one script in seconds. `CountedRuns` have their own.
        sandbox: runs the scripts. None means the sandbox of the release, or the one that all tasks of this process
            share. `CountedRuns` have their own.

    Raises:
        ReleaseNotFound: the release does not exist.
        SandboxUnavailable: there is no other sandbox, and this machine cannot run scripts.
        InputError: the reward is unknown.
    """
    chosen = get_reward(reward)
    if isinstance(release, CountedRuns):
        score_all = release.arollouts
    else:
        shared = share_tasks(release) if isinstance(release, Release | Path | str) else None
        tasks = shared or cast("OpenTasks", release)
        runner = sandbox or (shared.release.sandbox if shared else None) or choose_sandbox()

        async def score_all(pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
            settings: dict[str, Any] = {"reward": chosen, "timeout": timeout, "sandbox": runner}
            return await asyncio.gather(
                *(score_script(tasks, task_id, last_script(answer), **settings) for task_id, answer in pairs)
            )

    def sandmill_reward(
        prompts: Sequence[Any], completions: Sequence[Any], task_id: Sequence[str], **columns: Any
    ) -> list[float | None]:
        answers = [text_of(completion) for completion in completions]
        rollouts = run_sync(score_all(list(zip(task_id, answers, strict=True))))
        rewards = [chosen(rollout) for rollout in rollouts]
        earned = [reward_columns(one, chosen.part_names) for one in rewards]
        if (log_extra := columns.get("log_extra")) and rollouts:
            rows = [episode_ids(rollout) | numbers for rollout, numbers in zip(rollouts, earned, strict=True)]
            for name in rows[0]:
                log_extra(name, [row[name] for row in rows])
        if log_metric := columns.get("log_metric"):
            number = max(1, len(rollouts))
            for name in reward_columns(None, chosen.part_names):
                log_metric(name, sum(numbers[name] for numbers in earned) / number)
            log_metric("sandmill/valid_rate", sum(rollout.chosen is not None for rollout in rollouts) / number)
            log_metric("sandmill/masked_rate", sum(rollout.mask for rollout in rollouts) / number)
        return [None if one.mask else one.total for one in rewards]

    return sandmill_reward


def text_of(completion: Any) -> str:
    """Return the text of a completion: a string, or a list of messages whose last one is the answer."""
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if completion else ""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""
