"""SkyRL: a text environment for skyrl_gym. Needs `pip install 'sandmill[skyrl]'`."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandmill.errors import require_extra
from sandmill.models.rollout import Act, EpisodeLimits, Rollout
from sandmill.play.actions import FORMAT, parse_message
from sandmill.play.env import MLEnv
from sandmill.play.traces import reward_columns
from sandmill.trainers.episode import SyncEpisode, last_script, one_script
from sandmill.trainers.shared import choose_sandbox, name_release, read_reference, share_tasks

with require_extra("skyrl", __name__):
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

ENV_ID = "sandmill"
"""Name of the environment in skyrl_gym, and value of the column `env_class` of exported rows."""

Messages = list[dict[str, str]]


class SandmillEnv(BaseTextEnv):
    """One agent on one task. `register` makes it known to skyrl_gym.

    The single reward comes with the last step. SkyRL has no way to leave a rollout out: a masked one gets 0.0, its
    metadata have `mask_sample`, `failure_kind` and `failure_reason`, and the metric `masked` counts it. `mask` is the
    same as `mask_sample`.
    """

    def __init__(
        self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None, **registered: Any
    ) -> None:
        """Open the task of a row.

        Args:
            env_config: section of SkyRL's configuration for this environment. Arguments of `register` in it, with
                `limits` as one mapping, replace those that were registered.
            extras: columns of the row: `reward_spec` with `ground_truth`, and SkyRL's `max_turns`.
            registered: arguments of `register`, with `limits` as one mapping.

        Raises:
            InputError: no release is named, or it lacks the task; or a setting is wrong.
            SandboxUnavailable: this machine cannot run scripts, and no servers are named.
        """
        super().__init__()
        settings: dict[str, Any] = {"release": "", "reward": "ladder", "limits": {}, "servers": (), "token_file": ""}
        settings |= {**registered, **(env_config or {})}
        extras = extras or {}
        self.max_turns = int(extras.get("max_turns", 1))
        tasks = share_tasks(name_release(str(settings["release"]), "the argument release of register"))
        task = tasks.task(read_reference(extras.get("reward_spec", {}).get("ground_truth", ""), tasks))
        limits = EpisodeLimits(**(settings["limits"] or {}))
        self._is_single = self.max_turns <= 1
        if self._is_single:
            limits = one_script(limits.timeout)
        else:
            limits = limits.model_copy(update={"max_steps": min(self.max_turns, limits.max_steps)})
        sandbox = choose_sandbox(settings["servers"], settings["token_file"])
        self._episode = SyncEpisode(MLEnv(task, reward=settings["reward"], limits=limits, sandbox=sandbox))
        self._formatted = 0

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
        return [*prompt[:-1], {"role": "user", "content": f"{text}\n## How to act\n\n{FORMAT}"}], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Do the first action of a message. A message without one uses a turn."""
        episode, parsed = self._episode, parse_message(action)
        self.turns += 1
        self._formatted += parsed.is_formatted
        episode.env.format_rate = self._formatted / self.turns
        act = Act.run(last_script(action)) if self._is_single else parsed.act
        text = parsed.error if act is None else episode.act(act)
        if self.turns >= self.max_turns:
            episode.end()
        observation = {"role": "user", "content": f"<tool_response>\n{text}\n</tool_response>"}
        return BaseTextEnvStepOutput(
            observations=[] if episode.is_over else [observation],
            reward=episode.reward or 0.0,
            done=episode.is_over,
            metadata={"mask": episode.is_masked, **episode.env.ids, **episode.failure},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Return numbers of the episode. SkyRL averages them over a batch."""
        return {
            "masked": float(self._episode.is_masked),
            "valid": float(self.rollout is not None and self.rollout.chosen is not None),
            "turns": float(self.turns),
            **reward_columns(self.rollout.reward if self.rollout else None),
        }

    def close(self) -> None:
        """Remove the files of the episode. SkyRL calls this without a last step when a chat gets too long."""
        self._episode.close()


def register(
    release: str = "",
    *,
    reward: str = "ladder",
    env_id: str = ENV_ID,
    servers: Sequence[str] = (),
    token_file: str = "",
    **limits: Any,
) -> None:
    """Make the environment known to skyrl_gym in this process. A second call replaces the first.

    Args:
        release: reference of a release with its private half. It may come from SkyRL's configuration instead:
            `environment.skyrl_gym.sandmill.release`.
        reward: name of a preset.
        env_id: value of the column `env_class`.
        servers: addresses of `sandmill serve` that run scripts. None means the machine of the environment.
        token_file: file with the token of the servers.
        limits: fields of `EpisodeLimits`.
    """
    from skyrl_gym.envs.registration import deregister, registry
    from skyrl_gym.envs.registration import register as add

    if env_id in registry:
        deregister(env_id)
    kwargs = {"release": release, "reward": reward, "limits": limits, "servers": servers, "token_file": token_file}
    add(id=env_id, entry_point="sandmill.trainers.skyrl:SandmillEnv", kwargs=kwargs)
