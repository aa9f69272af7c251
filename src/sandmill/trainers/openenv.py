"""A server for OpenEnv 0.10: each session plays episodes of a release, and all sessions share one sandbox."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sandmill.errors import InputError, Problem, require_extra
from sandmill.models.rollout import Act, Action, EpisodeLimits
from sandmill.play.env import MLEnv
from sandmill.play.task import AsyncCodeRunner
from sandmill.play.traces import reward_columns
from sandmill.trainers.episode import SyncEpisode
from sandmill.trainers.shared import SharedTasks, graded_tasks

with require_extra("openenv", __name__):
    from openenv.core.env_server import Action as ClientAction
    from openenv.core.env_server import ConcurrencyConfig, Environment, Observation, State, create_app

if TYPE_CHECKING:
    from fastapi import FastAPI

NAME = "sandmill"
"""Name of the environment in the routes of the task API."""
ALL = "all"


class MLAction(ClientAction):
    """What an agent does in one step."""

    kind: Literal["run", "submit", "finish"]
    code: str = Field(default="", description="The whole script, for `run`")
    step: int | None = Field(default=None, ge=1, description="For `finish`: the step whose submission counts")


class MLObservation(Observation):
    """What a step showed. The agent may see `text`; reward and metadata are for the trainer.

    Before the end the reward is None, and `metadata` holds the task's id. At the end `metadata` holds `mask` too. If
    it is true, the sandbox failed: the reward is None, and the rollout must be left out of the loss.
    """

    text: str


class MLState(State):
    """Progress of a session."""

    task_id: str = ""


class MLEnvironment(Environment[MLAction, MLObservation, MLState]):
    """Plays episodes one after the other. The server makes one object for each session."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        tasks: SharedTasks,
        chosen: dict[str, tuple[str, ...]],
        reward: str,
        limits: EpisodeLimits,
        sandbox: AsyncCodeRunner | None = None,
    ) -> None:
        """Use `build_app`. `chosen` holds the ids of the selected tasks of each split."""
        super().__init__()
        self._tasks, self._chosen = tasks, chosen
        self._reward, self._limits, self._sandbox = reward, limits, sandbox
        self._episode: SyncEpisode | None = None
        self._state = MLState()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task_id: str | None = None,
        split: str = ALL,
        index: int | None = None,
        **_: Any,
    ) -> MLObservation:
        """Begin an episode of the task with this id, or at this index of a split, or that a seed selects.

        Raises `InputError` if there is no such task.
        """
        self.close()
        ids = self._ids(split)
        place = index if index is not None else (seed or 0) % len(ids)
        if task_id is not None and task_id not in self._chosen[ALL]:
            raise _error("task_id", repr(task_id), "a selected task of the release")
        if task_id is None and not 0 <= place < len(ids):
            raise _error("index", str(place), f"0 to {len(ids) - 1}")
        chosen = task_id or ids[place]
        env = MLEnv(self._tasks.task(chosen), reward=self._reward, limits=self._limits, sandbox=self._sandbox)
        self._episode = SyncEpisode(env)
        prompt = self._episode.begin()
        env.episode_id = episode_id or env.episode_id
        self._state = MLState(episode_id=env.episode_id, task_id=chosen)
        return self._observe(self._episode, prompt)

    def step(self, action: MLAction, timeout_s: float | None = None, **_: Any) -> MLObservation:
        """Do one action. The limits of the episode bound its time; `timeout_s` is ignored.

        An action that names a step without a valid submission costs no step. As many of them as the episode has steps
        end it. Raises `InputError` if no episode has begun in this session, or it is over.
        """
        if self._episode is None:
            hint = "Requests over HTTP have no session: use the WebSocket."
            raise _error("episode", "a step before reset", "reset first", hint)
        if self._episode.is_over:
            raise _error("episode", "a step after the end", "reset first")
        self._state.step_count += 1
        act = Act(action=Action(action.kind), code=action.code, step=action.step)
        return self._observe(self._episode, self._episode.act(act))

    @property
    def state(self) -> MLState:
        """Return the progress of this session."""
        return self._state

    def close(self) -> None:
        """Remove the files of an unfinished episode."""
        if self._episode is not None:
            self._episode.close()

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return list(self._chosen)

    def num_tasks(self, split: str) -> int:
        """Return the number of selected tasks of a split."""
        return len(self._ids(split))

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the public names of the tasks of a split."""
        return [{"id": task_id, "index": index} for index, task_id in enumerate(self._ids(split))]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return the public name of one task."""
        return self.list_tasks(split)[index]

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Return the public names of a range of tasks."""
        return self.list_tasks(split)[start:stop]

    def _ids(self, split: str) -> tuple[str, ...]:
        if split not in self._chosen:
            raise _error("split", repr(split), f"one of {', '.join(self._chosen)}")
        return self._chosen[split]

    def _observe(self, episode: SyncEpisode, text: str) -> MLObservation:
        metadata: dict[str, Any] = {"task_id": self._state.task_id}
        if not episode.is_over:
            return MLObservation(text=text, metadata=metadata)
        rollout = episode.rollout
        metadata |= {"mask": episode.is_masked, "truncated": rollout is None or rollout.truncated, **episode.failure}
        metadata |= {**reward_columns(rollout.reward if rollout else None), **episode.env.ids}
        return MLObservation(text=text, done=True, reward=episode.reward, metadata=metadata)


def _error(where: str, saw: str, expected: str, hint: str = "") -> InputError:
    return InputError(NAME, [Problem(where, saw, expected, hint)], "")


def build_app(
    release: Path | str,
    *,
    split: str | tuple[str, ...] = (),
    band: str | tuple[str, ...] = (),
    metric: str | tuple[str, ...] = (),
    structure: str | tuple[str, ...] = (),
    reward: str = "ladder",
    limits: EpisodeLimits | None = None,
    sessions: int = 64,
    session_timeout: float = 1800.0,
    sandbox: AsyncCodeRunner | None = None,
) -> "FastAPI":
    """Return the server as an ASGI application, as `app` of `server/app.py` or for uvicorn.

    Args:
        release: reference of the release; its private half must be readable.
        split: only tasks of these splits; likewise `band`, `metric` and `structure`.
        band: see `Release.select`.
        metric: see `Release.select`.
        structure: see `Release.select`.
        reward: name of a reward.
        limits: of an episode.
        sessions: most sessions at a time.
        session_timeout: seconds after which a session without messages is closed. Without it, the sessions of
            clients that disappear would be kept for ever.
        sandbox: runs the code. None means one sandbox that all tasks of this process share.

    Raises:
        InputError: if the private half cannot be read, or no task is selected.
    """
    tasks = graded_tasks(release)
    ids = tasks.release.select(split=split, band=band, metric=metric, structure=structure)
    split_of = dict(tasks.release.facts.select("task_id", "split").iter_rows())
    chosen = {ALL: ids} | {
        name: tuple(task_id for task_id in ids if split_of[task_id] == name)
        for name in dict.fromkeys(split_of[task_id] for task_id in ids)
    }
    factory = partial(MLEnvironment, tasks, chosen, reward, limits or EpisodeLimits(), sandbox)
    app: FastAPI = create_app(
        factory,
        MLAction,
        MLObservation,
        env_name=NAME,
        state_cls=MLState,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=session_timeout),
    )
    return app
