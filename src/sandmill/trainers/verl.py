"""verl: a reward function for `reward.custom_reward_function`, for one answer to the prompt of a row.

verl loads this file by its path, so that it imports nothing of verl.
"""

from collections.abc import Sequence
from typing import Any, Literal

from sandmill.errors import SandmillError
from sandmill.models.reports import Medal
from sandmill.play.traces import episode_ids, reward_columns
from sandmill.rewards import get_reward
from sandmill.trainers.episode import last_script, score_script
from sandmill.trainers.shared import choose_sandbox, name_release, read_reference, share_tasks

_SETTING = "reward.custom_reward_function.reward_kwargs.release"
_EPISODES = 3
"""Attempts of a masked episode. In each of them the environment repeats a run that the sandbox failed to start."""
_MEDALS = {None: 0.0, Medal.BRONZE: 1.0, Medal.SILVER: 2.0, Medal.GOLD: 3.0}


class EpisodeMasked(SandmillError):
    """The sandbox failed again and again, so that an answer has no score."""


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    *,
    release: str = "",
    reward: str = "ladder",
    timeout: float = 30.0,
    on_fault: Literal["zero", "raise"] = "zero",
    servers: Sequence[str] | str = (),
    token_file: str = "",
    **others: Any,
) -> dict[str, Any]:
    """Run the last Python block of an answer, and return its score with what verl logs and dumps.

    Every answer has the same keys, as verl's reward manager requires: `score`; `mask_sample`, 1 if the sandbox failed
    and the score means nothing; `valid`, 1 if the submission is valid; `medal`, 0 for none up to 3 for gold;
    `reward/PART` for each part of the reward; and `task_id`, `release` and `episode_id`, which verl writes to its dumps
    and leaves out of its averages.

    verl needs a number for every sample and has no way to leave one out. A masked episode is repeated. If it stays
    masked, its score is 0 and `mask_sample` is 1, unless `on_fault` is `raise`.

    Args:
        data_source: not used; the task says what is graded.
        solution_str: text of the model.
        ground_truth: id of the task, or a JSON object with `task_id` and `digest`, as `sandmill export` writes it.
        extra_info: not used.
        release: reference of the release; the environment variable SANDMILL_RELEASE if empty.
        reward: name of a preset.
        timeout: wall time of the script in seconds.
        on_fault: `raise` ends the training step at a masked episode.
        servers: addresses of `sandmill serve` that run the script. None means this machine.
        token_file: file with the token of the servers.
        others: not used; verl passes arguments of its own.

    Raises:
        InputError: no release is named, it lacks the task, or it holds another version of it; or a setting is wrong.
        SandboxUnavailable: this machine cannot run scripts, and no servers are named.
        EpisodeMasked: see `on_fault`.
    """
    tasks = share_tasks(name_release(release, _SETTING))
    task_id = read_reference(ground_truth, tasks)
    chosen, sandbox = get_reward(reward), choose_sandbox(servers, token_file)
    script = last_script(solution_str)
    for _ in range(_EPISODES):
        rollout = await score_script(tasks, task_id, script, reward=chosen, timeout=timeout, sandbox=sandbox)
        if not rollout.mask:
            break
    if rollout.mask and on_fault == "raise":
        raise EpisodeMasked(f"task {task_id}: the sandbox failed in {_EPISODES} episodes. Its log says why.")
    return {
        "score": rollout.reward.total if rollout.reward and not rollout.mask else 0.0,
        "mask_sample": float(rollout.mask),
        "valid": float(rollout.chosen is not None),
        "medal": _MEDALS[rollout.grade.medal if rollout.grade else None],
        **reward_columns(rollout.reward, chosen.part_names),
        **episode_ids(rollout),
    }
