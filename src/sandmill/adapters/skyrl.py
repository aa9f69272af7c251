"""SkyRL: a text environment for skyrl_gym. Needs `pip install 'sandmill[skyrl]'`."""

from collections.abc import Mapping
from typing import Any

from sandmill.adapters.actions import HOW_TO_ACT, NO_ACTION, parse_action
from sandmill.adapters.episode import SyncEpisode
from sandmill.adapters.references import name_release, read_reference
from sandmill.adapters.shared import share_tasks
from sandmill.adapters.single_turn import one_script
from sandmill.episodes.env import MLEnv
from sandmill.errors import InputError, Problem
from sandmill.models.rollout import Act, EpisodeLimits, Rollout

try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ModuleNotFoundError as missing:
    _problem = Problem("skyrl-gym", "not installed", "version 0.4", "Run: pip install 'sandmill[skyrl]'")
    raise InputError("sandmill.adapters.skyrl", [_problem], "") from missing

ENV_ID = "sandmill"
"""Name of the environment in skyrl_gym, and value of the column `env_class` of exported rows."""

Messages = list[dict[str, str]]


class SandmillEnv(BaseTextEnv):  # type: ignore[misc]
    """One agent on one task. `register` makes it known to skyrl_gym.

    The single reward comes with the last step. SkyRL has no way to leave a rollout out: a masked one gets 0.0, its
    metadata have `mask`, and the metric `masked` counts it.
    """

    def __init__(
        self,
        env_config: Mapping[str, Any] | None = None,
        extras: Mapping[str, Any] | None = None,
        release: str = "",
        reward: str = "gap",
        limits: Mapping[str, Any] | None = None,
    ) -> None:
        """Open the task of a row.

        Args:
            env_config: section of SkyRL's configuration for this environment. `release`, `reward` and `limits` in it
                replace those of `register`.
            extras: columns of the row: `reward_spec` with `ground_truth`, and SkyRL's `max_turns`.
            release: reference of a release with its private half.
            reward: name of a preset.
            limits: fields of `EpisodeLimits`.

        Raises:
            InputError: no release is named, or it lacks the task.
        """
        super().__init__()
        settings = {"release": release, "reward": reward, "limits": limits or {}, **(env_config or {})}
        extras = extras or {}
        self.max_turns = int(extras.get("max_turns", 1))
        tasks = share_tasks(name_release(str(settings["release"]), "the argument release of register"))
        task = tasks.task(read_reference(extras.get("reward_spec", {}).get("ground_truth", ""), tasks))
        given = EpisodeLimits(**settings["limits"])
        single = one_script(given.timeout)
        multi = given.model_copy(update={"max_steps": min(self.max_turns, given.max_steps)})
        env = MLEnv(task, reward=settings["reward"], limits=single if self._is_single else multi)
        self._episode = SyncEpisode(env)
        self._acted = 0

    @property
    def rollout(self) -> Rollout | None:
        """The finished episode; None before its end, and after a fault outside the sandbox."""
        return self._episode.rollout

    def init(self, prompt: Messages) -> tuple[Messages, dict[str, Any]]:
        """Begin the episode.

        Args:
            prompt: chat of the row.

        Returns:
            The chat for the model, and metadata. With one turn the chat is that of the row. With several turns the last
            message is replaced by the prompt of the episode, which states its limits and the form of actions.
        """
        text = self._episode.begin()
        if self._is_single or self._episode.is_over:
            return prompt, {}
        return [*prompt[:-1], {"role": "user", "content": f"{text}\n{HOW_TO_ACT}"}], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Do the first action of a message. A message without one uses a step too."""
        episode, act = self._episode, parse_action(action)
        self.turns += 1
        self._acted += act is not None
        episode.env.format_rate = self._acted / self.turns
        text = self._do(act)
        if self.turns >= self.max_turns:
            episode.end()
        return BaseTextEnvStepOutput(
            observations=[] if episode.is_over else [{"role": "user", "content": text}],
            reward=episode.reward or 0.0,
            done=episode.is_over,
            metadata={"mask": episode.is_masked, "task_id": episode.env.task.id},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Return numbers of the episode. SkyRL averages them over a batch."""
        rollout = self.rollout
        return {
            "masked": float(self._episode.is_masked),
            "valid": float(rollout is not None and rollout.chosen is not None),
            "turns": float(self.turns),
        }

    def close(self) -> None:
        """Remove the files of the episode. SkyRL calls this without a last step when a chat gets too long."""
        self._episode.close()

    @property
    def _is_single(self) -> bool:
        return self.max_turns <= 1

    def _do(self, act: Act | None) -> str:
        if act is None:
            return f"{NO_ACTION}\n{self._episode.act(Act.run(''))}"
        try:
            return self._episode.act(act)
        except InputError as error:
            return "\n".join(map(str, error.problems))


def register(release: str = "", *, reward: str = "gap", env_id: str = ENV_ID, **limits: Any) -> None:
    """Make the environment known to skyrl_gym in this process. A second call replaces the first.

    Args:
        release: reference of a release with its private half. It may come from SkyRL's configuration instead:
            `environment.skyrl_gym.sandmill.release`.
        reward: name of a preset.
        env_id: value of the column `env_class`.
        limits: fields of `EpisodeLimits`.
    """
    from skyrl_gym.envs.registration import deregister, registry
    from skyrl_gym.envs.registration import register as add

    if env_id in registry:
        deregister(env_id)
    kwargs = {"release": release, "reward": reward, "limits": limits}
    add(id=env_id, entry_point="sandmill.adapters.skyrl:SandmillEnv", kwargs=kwargs)
