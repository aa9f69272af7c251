"""Ids and reward parts of an episode: columns for experiment trackers, and attributes of OpenTelemetry spans.

Nothing here holds code, output or answers. Rewards are for the trainer: keep a collector out of the reach of agents.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

from sandmill.models.reports import Outcome
from sandmill.models.rollout import RewardParts, Rollout, Step

Describe = Callable[[Step | None, Rollout | None], None]
"""Adds the results of a step, and of the episode if that is over."""


def episode_ids(rollout: Rollout) -> dict[str, str]:
    """Return the names by which a rollout is found again: of its task, of the version of the release, its own."""
    return {"task_id": rollout.task_id, "release": rollout.release, "episode_id": rollout.episode_id}


def reward_columns(reward: RewardParts | None, names: Iterable[str] = ()) -> dict[str, float]:
    """Return the parts of a reward as flat numbers `reward/PART`. Parts in `names` that it lacks are 0."""
    parts = dict.fromkeys(names, 0.0) | (dict(reward.parts) if reward else {})
    return {f"reward/{name}": value for name, value in parts.items()}


@lru_cache(maxsize=1)
def _tracer() -> Any:
    """Return the OpenTelemetry tracer of this library; None if OpenTelemetry is not installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("sandmill")


@contextmanager
def step_span(ids: Mapping[str, str], tool: str) -> Iterator[Describe]:
    """Trace one step of an episode as a span, a child of the caller's span. Without a provider nothing is recorded.

    An empty `tool` stands for the end of an episode by the trainer. Names follow the semantic conventions for
    generative AI where they have one.
    """
    if (tracer := _tracer()) is None:
        yield lambda step, rollout: None
        return
    operation = "execute_tool" if tool else "end_episode"
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.tool.name": tool,
        "gen_ai.conversation.id": ids["episode_id"],
        "sandmill.task.id": ids["task_id"],
        "sandmill.release": ids["release"],
    }
    with tracer.start_as_current_span(f"{operation} {tool}".strip(), attributes=attributes) as span:
        yield partial(_describe, span)


def _describe(span: Any, step: Step | None, rollout: Rollout | None) -> None:
    found: dict[str, str | int | float | bool] = {}
    if step is not None:
        found["sandmill.step.number"] = step.number
        if step.outcome is not None:
            found["sandmill.step.outcome" if step.outcome is Outcome.OK else "error.type"] = step.outcome.value
    if rollout is not None:
        found |= {"sandmill.episode.ending": rollout.ending.value, "sandmill.episode.mask": rollout.mask}
        if rollout.reward is not None and not rollout.mask:
            found["gen_ai.evaluation.name"] = rollout.reward.preset
            found["gen_ai.evaluation.score.value"] = rollout.reward.total
            found |= {f"sandmill.reward.{name}": value for name, value in rollout.reward.parts.items()}
    span.set_attributes(found)
