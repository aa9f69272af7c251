"""Check the arguments of `sandmill rollout`, and open what they name, before anything is asked or written."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from sandmill.errors import InputError, Problem, shorten
from sandmill.fingerprint import fingerprint
from sandmill.models.rollout import Rollout, RolloutSettings, TaskPlace
from sandmill.models.run import RunLimits
from sandmill.play.operators import OperatorMix
from sandmill.play.release import Release, load
from sandmill.store.files import Store
from sandmill.store.rollouts import RolloutFolder, check_release

if TYPE_CHECKING:
    from sandmill.llm import ChatClient

_SOURCE, _FOOTER = "sandmill rollout", "Nothing was asked, and nothing was written."
_RETRIES = 4
"""Retries of a request to the model after transient errors."""


@dataclass(frozen=True)
class RolloutPlan:
    """What is played, and where it is stored."""

    release: Release
    task_ids: tuple[str, ...]
    settings: RolloutSettings
    folder: RolloutFolder
    places: Mapping[str, TaskPlace]
    parents: Sequence[Rollout]


def require_litellm() -> None:
    """Refuse to go on without LiteLLM.

    Raises:
        InputError: names the extra.
    """
    if find_spec("litellm") is None:
        hint = "Install it with: pip install 'sandmill[rollout]'"
        raise InputError(_SOURCE, [Problem("litellm", "no such package", "LiteLLM", hint)], _FOOTER)


def prepare(
    ref: str,
    to: str,
    wanted: Mapping[str, Collection[str]],
    task_ids: Sequence[str],
    limit: int | None,
    operators: str | None,
    parents: str | None,
    **settings: Any,
) -> RolloutPlan:
    """Open the release, select its tasks, and check the folder of the rollouts.

    Args:
        ref: of the release.
        to: folder of the rollouts.
        wanted: values of `Release.select`.
        task_ids: only these tasks; empty for all.
        limit: most tasks.
        operators: as given on the command line.
        parents: folder of earlier rollouts.
        settings: further fields of `RolloutSettings`.

    Raises:
        InputError: if an argument is wrong, or other settings made the folder.
        AccessDenied: if the private half of the release cannot be read.
    """
    from sandmill.rewards import get_reward

    mix = _read_operators(operators, parents)
    get_reward(settings["reward"])
    release = load(ref)
    places = release.places()
    release.check_ids(task_ids)
    chosen = [one for one in release.select(**wanted) if not task_ids or one in task_ids]  # type: ignore[arg-type]
    if not chosen:
        problem = Problem("selection", "no task that has all of these values", "at least one task")
        raise InputError(release.ref, [problem], f"List the tasks with: sandmill show {release.ref}")
    earlier, digest = _open_parents(release, parents)
    common = {"release": release.version, "operators": mix, "parents": digest, "memory_mb": RunLimits().memory_mb}
    made = RolloutSettings.model_validate(settings | common)
    folder = RolloutFolder(Store(to))
    folder.check(made)
    return RolloutPlan(release, tuple(chosen[:limit]), made, folder, places, earlier)


def _read_operators(operators: str | None, parents: str | None) -> dict[str, float]:
    """Return the weights of operators; none without parents."""
    if parents is None:
        if operators is not None:
            problem = Problem("--operators", "no --parents", "--parents beside it", "Operators need earlier rollouts.")
            raise InputError(_SOURCE, [problem], _FOOTER)
        return {}
    if operators is None:
        return OperatorMix().model_dump()
    pairs = [part.partition("=") for part in operators.split(",")]
    weights = {"draft": "0", "improve": "0"} | {name.strip(): weight for name, _, weight in pairs}
    try:
        mix = OperatorMix.model_validate(weights).model_dump()
    except ValidationError:
        mix = {}
    if not any(mix.values()):
        expected = "weights such as draft=0.5,improve=0.5 of draft, improve, debug and crossover"
        raise InputError(_SOURCE, [Problem("--operators", shorten(repr(operators)), expected)], _FOOTER)
    return mix


def _open_parents(release: Release, parents: str | None) -> tuple[Sequence[Rollout], str]:
    """Return earlier rollouts and their content hash.

    Raises:
        InputError: if the folder holds no rollouts, or those of another release.
    """
    if parents is None:
        return (), ""
    folder = RolloutFolder(Store(parents))
    check_release(release, [folder])
    rollouts = sorted((record.rollout for record in folder.records()), key=lambda one: (one.task_id, one.sample))
    scripts = [[one.task_id, one.sample, *(step.code for step in one.steps)] for one in rollouts]
    return rollouts, fingerprint(scripts)


def open_client(
    plan: RolloutPlan,
    base_url: str | None,
    concurrency: int,
    timeout_s: float,
    max_usd: float | None,
    prices: tuple[float, float] | None,
) -> "ChatClient":
    """Make the client of the model.

    Raises:
        InputError: if a key is missing in the environment, or a price that --max-usd needs is not known.
    """
    from sandmill.llm import Budget, ChatClient
    from sandmill.llm.provider import missing_keys
    from sandmill.models.llm import LlmSettings, ModelChoice

    name = plan.settings.model
    if base_url and not name.startswith("openai/"):
        name = f"openai/{name}"
    problems = []
    if not base_url and (keys := missing_keys(name)):
        saw, hint = f"no {' and no '.join(keys)} in the environment", "For a server of your own, give --base-url."
        problems.append(Problem("--model", saw, f"the key of {plan.settings.model}", hint))
    choice = ModelChoice(models=(name,), temperature=plan.settings.temperature, max_tokens=plan.settings.max_tokens)
    settings = LlmSettings(
        concurrency=min(concurrency, 256), timeout_s=timeout_s, retries=_RETRIES, api_base=base_url or None
    )
    dollars = None if prices is None else {"input": prices[0], "output": prices[1]}
    budget = Budget(None if max_usd is None else max(0.0, max_usd - plan.folder.spent()))
    client = ChatClient(choice, settings, budget, dollars)
    if max_usd is not None and not client.prices.is_known:
        hint = "Give them with --prices IN OUT, in dollars for a million tokens."
        problems.append(Problem("--max-usd", f"no price of {plan.settings.model} in LiteLLM", "prices", hint))
    if problems:
        raise InputError(_SOURCE, problems, _FOOTER)
    return client
