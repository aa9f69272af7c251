"""Figures of rollouts: medals, pass@k, gaps, costs and failures, over all and by structure and band.

Masked rollouts count in nothing but `masked`, failure kinds and tokens.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from math import comb, fsum
from statistics import pvariance

from sandmill.errors import name_some
from sandmill.models.base import Band, Frozen
from sandmill.models.reports import Medal
from sandmill.models.rollout import RolloutFacts, TaskPlace
from sandmill.report.text_tables import TextTable

_REWARD_STEP = 1e-9
"""Rewards that differ by less are equal."""
_MOST_NAMED = 10
"""Tasks that a line names."""


class RolloutGroup(Frozen):
    """Figures of some rollouts."""

    rollouts: int
    """Unmasked rollouts."""
    valid: float | None = None
    """Share with a valid submission."""
    medal: float | None = None
    """Share that reached bronze or better."""
    mean_gap: float | None = None
    """Mean of `gap_closed` between 0 and 1; 0 without a valid submission."""
    mean_reward: float | None = None
    tokens: float | None = None
    """Mean of all tokens of the model, prompts included."""
    seconds: float | None = None
    """Mean wall time."""


class RolloutFigures(Frozen):
    """Figures of all rollouts of a folder."""

    tasks: int
    masked: int
    all: RolloutGroup
    medals: dict[str, float]
    """Share of each medal; a rollout has at most one."""
    pass_at: dict[int, float]
    """pass@k: probability that one of k rollouts of a task reaches bronze or better, unbiased; mean of tasks."""
    pass_at_tasks: dict[int, int]
    """Tasks with at least k unmasked rollouts, over which pass@k is the mean."""
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """Price of all; None if one price is not known."""
    structures: dict[str, RolloutGroup]
    bands: dict[str, RolloutGroup]
    failures: dict[str, int]
    """Rollouts by failure kind, the most frequent first."""
    always_0: tuple[str, ...]
    """Tasks of which no rollout reached bronze."""
    always_1: tuple[str, ...]
    """Tasks of which every rollout reached bronze or better."""
    without_variance: tuple[str, ...]
    """Tasks with two or more rollouts of equal reward, which teach nothing to GRPO."""


def pass_at_k(rollouts: int, passed: int, k: int) -> float:
    """Return the unbiased estimate of pass@k from n rollouts of which c passed: 1 - C(n-c, k) / C(n, k)."""
    return 1.0 - comb(rollouts - passed, k) / comb(rollouts, k)


def rollout_figures(facts: Iterable[RolloutFacts], places: Mapping[str, TaskPlace]) -> RolloutFigures:
    """Compute all figures.

    Args:
        facts: rollouts of one model.
        places: structure and band of each task by its id.
    """
    everything = list(facts)
    counted = [one for one in everything if not one.mask]
    by_task = group_by_task(counted)
    most = max(map(len, by_task.values()), default=0)
    passes = {k: [_pass(group, k) for group in by_task.values() if len(group) >= k] for k in range(1, most + 1)}
    medals = Counter(one.medal for one in counted if one.medal)
    prices = [one.usd for one in everything]
    return RolloutFigures(
        tasks=len({one.task_id for one in everything}),
        masked=len(everything) - len(counted),
        all=_sum_up(counted),
        medals={medal.value: medals[medal] / len(counted) if counted else 0.0 for medal in Medal},
        pass_at={k: fsum(values) / len(values) for k, values in passes.items()},
        pass_at_tasks={k: len(values) for k, values in passes.items()},
        prompt_tokens=sum(one.prompt_tokens for one in everything),
        completion_tokens=sum(one.completion_tokens for one in everything),
        usd=None if None in prices else round(fsum(price for price in prices if price), 6),
        structures=_by_name(counted, lambda one: places[one.task_id].structure),
        bands=_by_name(counted, lambda one: places[one.task_id].band, tuple(Band)),
        failures=dict(Counter(one.failure for one in everything if one.failure).most_common()),
        always_0=_tasks_where(by_task, lambda group: not any(one.is_solved for one in group)),
        always_1=_tasks_where(by_task, lambda group: all(one.is_solved for one in group)),
        without_variance=_tasks_where(by_task, lambda group: len(group) > 1 and not has_variance(group)),
    )


def group_by_task(facts: Iterable[RolloutFacts]) -> dict[str, list[RolloutFacts]]:
    """Group rollouts by their task."""
    return _group(facts, lambda one: one.task_id)


def has_variance(group: Sequence[RolloutFacts]) -> bool:
    """Whether the rewards of a group differ."""
    rewards = [one.reward or 0.0 for one in group]
    return max(rewards) - min(rewards) > _REWARD_STEP


def _group(facts: Iterable[RolloutFacts], name: Callable[[RolloutFacts], str]) -> dict[str, list[RolloutFacts]]:
    groups: defaultdict[str, list[RolloutFacts]] = defaultdict(list)
    for one in facts:
        groups[name(one)].append(one)
    return dict(groups)


def _tasks_where(
    by_task: Mapping[str, Sequence[RolloutFacts]], holds: Callable[[Sequence[RolloutFacts]], bool]
) -> tuple[str, ...]:
    return tuple(sorted(task_id for task_id, group in by_task.items() if holds(group)))


def _pass(group: Sequence[RolloutFacts], k: int) -> float:
    return pass_at_k(len(group), sum(one.is_solved for one in group), k)


def _by_name(
    facts: Iterable[RolloutFacts], name: Callable[[RolloutFacts], str], order: Sequence[str] = ()
) -> dict[str, RolloutGroup]:
    groups = _group(facts, name)
    ordered = [str(key) for key in order if key in groups] + sorted(groups.keys() - set(order))
    return {key: _sum_up(groups[key]) for key in ordered}


def _sum_up(group: Sequence[RolloutFacts]) -> RolloutGroup:
    if not group:
        return RolloutGroup(rollouts=0)

    def mean(value: Callable[[RolloutFacts], float]) -> float:
        return fsum(map(value, group)) / len(group)

    return RolloutGroup(
        rollouts=len(group),
        valid=mean(lambda one: one.is_valid),
        medal=mean(lambda one: one.is_solved),
        mean_gap=mean(lambda one: one.clipped_gap),
        mean_reward=mean(lambda one: one.reward or 0.0),
        tokens=mean(lambda one: one.prompt_tokens + one.completion_tokens),
        seconds=mean(lambda one: one.seconds),
    )


def groups_table(figures: RolloutFigures) -> TextTable:
    """Show figures of all rollouts, of each structure and of each band, a row each."""
    bands = {f"band {band}": group for band, group in figures.bands.items()}
    groups = {"all": figures.all, **figures.structures, **bands} if figures.all.rollouts else {}
    header = ("group", "rollouts", "valid", "bronze or better", "mean gap", "mean reward", "tokens", "seconds")
    rows = []
    for name, group in groups.items():
        shares = (_percent(group.valid), _percent(group.medal))
        numbers = (_number(group.mean_gap, 3), _number(group.mean_reward, 3))
        costs = (_number(group.tokens, 0), _number(group.seconds, 1))
        rows.append((name, str(group.rollouts), *shares, *numbers, *costs))
    return TextTable("", header, tuple(rows), frozenset(range(1, len(header))))


def pass_table(figures: RolloutFigures) -> TextTable:
    """Show pass@k for some k: powers of two, and the largest."""
    ks = [k for k in figures.pass_at if k & (k - 1) == 0 or k == max(figures.pass_at)]
    rows = tuple((f"pass@{k}", _percent(figures.pass_at[k]), str(figures.pass_at_tasks[k])) for k in ks)
    return TextTable("", ("pass = bronze or better", "mean of tasks", "tasks"), rows, frozenset({1, 2}))


def figure_lines(figures: RolloutFigures) -> list[str]:
    """Describe medals, costs, failures and uniform tasks, a line each."""
    medals = ", ".join(f"{name} {_percent(share)}" for name, share in figures.medals.items())
    tokens = f"{figures.prompt_tokens:,} of prompts, {figures.completion_tokens:,} of answers"
    price = "price not known" if figures.usd is None else f"{figures.usd:.4f} USD"
    failures = ", ".join(f"{name} {number}" for name, number in figures.failures.items()) or "none"
    return [
        f"Medals: {medals}.",
        f"Tokens: {tokens}; {price}.",
        f"Failures: {failures}.",
        _name_tasks("Tasks where no rollout reached bronze", figures.always_0),
        _name_tasks("Tasks where all rollouts reached bronze or better", figures.always_1),
        _name_tasks("Tasks whose rollouts all have the same reward", figures.without_variance),
    ]


def _name_tasks(what: str, task_ids: Sequence[str]) -> str:
    named = f" ({name_some(task_ids, _MOST_NAMED)})" if task_ids else ""
    return f"{what}: {len(task_ids)}{named}."


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


class Solved(StrEnum):
    """How often rollouts of a task reach bronze or better."""

    ALWAYS = "always"
    FRONTIER = "frontier"
    NEVER = "never"


class CurriculumTask(TaskPlace):
    """One task, as rollouts see it."""

    rollouts: int
    """Unmasked rollouts of all folders."""
    solved: int
    """Rollouts with bronze or better."""
    mean_reward: float
    reward_std: float
    """Standard deviation of rewards within groups: the rollouts of the task in one folder are a group."""
    kind: Solved
    has_reward_variance: bool
    """Whether the rewards of at least one group differ, so that GRPO can learn from the task."""


class Curriculum(Frozen):
    """All tasks with unmasked rollouts."""

    release: str
    tasks: tuple[CurriculumTask, ...]

    def of(self, kind: Solved) -> tuple[CurriculumTask, ...]:
        """Return the tasks of one kind."""
        return tuple(task for task in self.tasks if task.kind is kind)


def make_curriculum(
    release: str, folders: Sequence[Iterable[RolloutFacts]], places: Mapping[str, TaskPlace]
) -> Curriculum:
    """Sort tasks by how often they are solved.

    Args:
        release: reference of the release.
        folders: rollouts of each folder. Rewards are compared within a folder only, since folders may come from
            different models.
        places: structure and band of each task by its id.
    """
    groups: dict[str, list[list[RolloutFacts]]] = {}
    for folder in folders:
        for task_id, group in group_by_task(one for one in folder if not one.mask).items():
            groups.setdefault(task_id, []).append(group)
    return Curriculum(release=release, tasks=tuple(_sum_up_task(places[task], groups[task]) for task in sorted(groups)))


def _sum_up_task(place: TaskPlace, groups: Sequence[Sequence[RolloutFacts]]) -> CurriculumTask:
    everything = [one for group in groups for one in group]
    solved = sum(one.is_solved for one in everything)
    kind = Solved.FRONTIER
    if solved in (0, len(everything)):
        kind = Solved.ALWAYS if solved else Solved.NEVER
    within = fsum(len(group) * pvariance([one.reward or 0.0 for one in group]) for group in groups) / len(everything)
    return CurriculumTask(
        **place.model_dump(),
        rollouts=len(everything),
        solved=solved,
        mean_reward=fsum(one.reward or 0.0 for one in everything) / len(everything),
        reward_std=within**0.5,
        kind=kind,
        has_reward_variance=any(has_variance(group) for group in groups),
    )


def curriculum_table(tasks: Iterable[CurriculumTask]) -> TextTable:
    """Show tasks, a row a task."""
    header = ("task", "split", "structure", "band", "solved", "mean reward", "reward std")
    rows = tuple(
        (
            *(task.task_id, task.split, task.structure, task.band),
            *(f"{task.solved}/{task.rollouts}", f"{task.mean_reward:.3f}", f"{task.reward_std:.3f}"),
        )
        for task in tasks
    )
    return TextTable("", header, rows, frozenset({4, 5, 6}))
