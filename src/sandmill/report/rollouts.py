"""Rollouts as figures, over all and by structure and band; as curricula; and one of them as texts.

Masked rollouts count in no figure but `masked`, failure kinds and tokens.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from math import comb, fsum
from statistics import fmean, median, stdev

from pydantic import Field

from sandmill.models.base import Band, Frozen
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Medal
from sandmill.models.rollout import RolloutFacts, RolloutRecord, Step, TaskPlace
from sandmill.report.text_tables import TextTable, to_text

_REWARD_STEP = 1e-9  # rewards that differ by less are equal


class RolloutGroup(Frozen):
    """Figures of some rollouts."""

    rollouts: int
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
    caught: dict[str, float]
    """How far submissions use stated facts, by kind of fact: 0 to 1, where it was measured."""


def pass_at_k(rollouts: int, passed: int, k: int) -> float:
    """Return the unbiased estimate of pass@k from n rollouts of which c passed: 1 - C(n-c, k) / C(n, k)."""
    return 1.0 - comb(rollouts - passed, k) / comb(rollouts, k)


def rollout_figures(facts: Iterable[RolloutFacts], places: Mapping[str, TaskPlace]) -> RolloutFigures:
    """Compute all figures of the rollouts of one model. `places` holds structure and band of each task by its id."""
    everything = list(facts)
    counted = [one for one in everything if not one.mask]
    by_task = group_by_task(counted)
    most = max(map(len, by_task.values()), default=0)
    solved = [(len(group), sum(one.is_solved for one in group)) for group in by_task.values()]
    passes = {k: [pass_at_k(n, passed, k) for n, passed in solved if n >= k] for k in range(1, most + 1)}
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
        caught=_caught(counted),
    )


def _caught(facts: Iterable[RolloutFacts]) -> dict[str, float]:
    values: defaultdict[str, list[float]] = defaultdict(list)
    for credit in (credit for one in facts for credit in one.credits):
        if credit.value is not None:
            values[credit.kind].append(credit.value)
    return {kind: fsum(found) / len(found) for kind, found in sorted(values.items())}


def group_by_task(facts: Iterable[RolloutFacts]) -> dict[str, list[RolloutFacts]]:
    """Group rollouts by their task."""
    return _group(facts, lambda one: one.task_id)


def _group(facts: Iterable[RolloutFacts], name: Callable[[RolloutFacts], str]) -> dict[str, list[RolloutFacts]]:
    groups: defaultdict[str, list[RolloutFacts]] = defaultdict(list)
    for one in facts:
        groups[name(one)].append(one)
    return dict(groups)


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
    rows = tuple(
        (
            *(name, str(group.rollouts), _percent(group.valid), _percent(group.medal)),
            *(_number(group.mean_gap, 3), _number(group.mean_reward, 3)),
            *(_number(group.tokens, 0), _number(group.seconds, 1)),
        )
        for name, group in groups.items()
    )
    return TextTable("", header, rows, frozenset(range(1, len(header))))


def pass_table(figures: RolloutFigures) -> TextTable:
    """Show pass@k for some k: powers of two, and the largest."""
    ks = [k for k in figures.pass_at if k & (k - 1) == 0 or k == max(figures.pass_at)]
    rows = tuple((f"pass@{k}", _percent(figures.pass_at[k]), str(figures.pass_at_tasks[k])) for k in ks)
    return TextTable("", ("pass = bronze or better", "mean of tasks", "tasks"), rows, frozenset({1, 2}))


def figure_lines(figures: RolloutFigures) -> list[str]:
    """Describe medals, stated facts, costs and failures, a line each."""
    medals = ", ".join(f"{name} {_percent(share)}" for name, share in figures.medals.items())
    tokens = f"{figures.prompt_tokens:,} of prompts, {figures.completion_tokens:,} of answers"
    price = "price not known" if figures.usd is None else f"{figures.usd:.4f} USD"
    failures = ", ".join(f"{name} {number}" for name, number in figures.failures.items()) or "none"
    caught = ", ".join(f"{kind} {_percent(value)}" for kind, value in figures.caught.items())
    read = [f"Stated facts that submissions use: {caught}."] if caught else []
    return [f"Medals: {medals}.", *read, f"Tokens: {tokens}; {price}.", f"Failures: {failures}."]


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
    mean_reward: float
    kind: Solved
    has_reward_variance: bool
    """Whether rewards differ among the rollouts of the task in one folder, so that GRPO can learn from it."""


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
    groups: defaultdict[str, list[list[RolloutFacts]]] = defaultdict(list)
    for folder in folders:
        for task_id, group in group_by_task(one for one in folder if not one.mask).items():
            groups[task_id].append(group)
    tasks = []
    for task_id, of_task in sorted(groups.items()):
        everything = [one for group in of_task for one in group]
        number, solved = len(everything), sum(one.is_solved for one in everything)
        rewards = [[one.reward or 0.0 for one in group] for group in of_task]
        kind = Solved.NEVER if not solved else Solved.ALWAYS if solved == number else Solved.FRONTIER
        tasks.append(
            CurriculumTask(
                **places[task_id].model_dump(),
                rollouts=number,
                solved=solved,
                mean_reward=fsum(chain(*rewards)) / number,
                kind=kind,
                has_reward_variance=any(max(some) - min(some) > _REWARD_STEP for some in rewards),
            )
        )
    return Curriculum(release=release, tasks=tuple(tasks))


class TaskReward(Frozen):
    """Rewards of a model on one task."""

    n: int = Field(ge=1)
    """Unmasked rollouts."""
    mean: float
    sd: float | None
    """Sample deviation; null for a single rollout."""


class RewardProfile(Frozen):
    """Rewards of a model on the tasks of a release. It lies beside the versions, which never change."""

    model: str
    version: str
    rewards: dict[str, dict[str, TaskReward]]
    """By preset of the reward, and by task."""

    @property
    def path(self) -> str:
        """Path in the dataset."""
        return f"profiles/{re.sub(r'[^A-Za-z0-9._-]+', '-', self.model).strip('.-')}.json"


def reward_profiles(
    version: str, folders: Iterable[tuple[str, str, Iterable[RolloutFacts]]]
) -> tuple[RewardProfile, ...]:
    """Sum up folders, each with its model and its preset of the reward. Folders of one model are added up."""
    found: defaultdict[str, defaultdict[str, defaultdict[str, list[float]]]]
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for model, preset, facts in folders:
        for one in facts:
            if not one.mask and one.reward is not None:
                found[model][preset][one.task_id].append(one.reward)
    return tuple(
        RewardProfile(
            model=model,
            version=version,
            rewards={
                preset: {task_id: _task_reward(rewards) for task_id, rewards in sorted(tasks.items())}
                for preset, tasks in sorted(presets.items())
            },
        )
        for model, presets in sorted(found.items())
    )


def _task_reward(rewards: Sequence[float]) -> TaskReward:
    sd = round(stdev(rewards), 6) if len(rewards) > 1 else None
    return TaskReward(n=len(rewards), mean=round(fmean(rewards), 6), sd=sd)


def curriculum_table(tasks: Iterable[CurriculumTask]) -> TextTable:
    """Show tasks, a row a task."""
    header = ("task", "split", "structure", "band", "solved", "mean reward")
    rows = tuple(
        (
            *(task.task_id, task.split, task.structure, task.band),
            *(f"{task.solved}/{task.rollouts}", f"{task.mean_reward:.3f}"),
        )
        for task in tasks
    )
    return TextTable("", header, rows, frozenset({4, 5}))


STAGES = ("one plain fact", "plain", "prose", "spread", "contested")
"""One fact in one sentence, then the reading levels."""
MASTERED = 0.7
"""Share of rollouts with bronze or better from which a stage is mastered."""
_EARLIER, _CURRENT, _NEXT = 0.2, 0.6, 0.2
"""Shares of the mix: the stages before the first one that is not mastered together, this one, and the one after it."""


class ReadingStage(Frozen):
    """Tasks whose texts are about equally hard to read."""

    name: str
    task_ids: tuple[str, ...]
    """Largest reading gain first, without tasks that rollouts always solve."""
    median_gain: float
    solved: float | None
    """Share of rollouts with bronze or better, of all tasks of the stage; None without rollouts."""
    share: float
    """Of the tasks to draw next."""


def reading_stages(records: Iterable[TaskRecord], played: Mapping[str, CurriculumTask]) -> tuple[ReadingStage, ...]:
    """Sort the tasks of the split `train` whose texts state facts into stages, and propose a mix.

    Args:
        records: tasks of a release.
        played: what rollouts did on tasks, by id; empty without rollouts.
    """
    found: dict[str, list[tuple[float, str]]] = {name: [] for name in STAGES}
    for record in records:
        gain, level = record.calibration.reading_gain, record.spec.reading_level
        if record.split == "train" and gain is not None and level != "none":
            is_single = level == "plain" and sum(hint.matters for hint in record.spec.hints) == 1
            found[STAGES[0] if is_single else level].append((-gain, record.task_id))
    stages = [_stage(name, sorted(tasks), played) for name, tasks in found.items() if tasks]
    open_stages = [place for place, one in enumerate(stages) if one.solved is None or one.solved < MASTERED]
    current = next(iter(open_stages), len(stages) - 1)
    # The stages after the next one get nothing.
    weights = [*([_EARLIER / current] * current if current else ()), _CURRENT, _NEXT, *[0.0] * len(stages)]
    weights = [weight if one.task_ids else 0.0 for weight, one in zip(weights, stages, strict=False)]
    whole = sum(weights) or 1.0
    shared = zip(stages, weights, strict=True)
    return tuple(one.model_copy(update={"share": round(weight / whole, 4)}) for one, weight in shared)


def _stage(name: str, tasks: list[tuple[float, str]], played: Mapping[str, CurriculumTask]) -> ReadingStage:
    seen = [played[task_id] for _, task_id in tasks if task_id in played]
    always = {task.task_id for task in seen if task.kind is Solved.ALWAYS}
    return ReadingStage(
        name=name,
        task_ids=tuple(task_id for _, task_id in tasks if task_id not in always),
        median_gain=median(-gain for gain, _ in tasks),
        solved=sum(task.solved for task in seen) / sum(task.rollouts for task in seen) if seen else None,
        share=0.0,
    )


def reading_table(stages: Iterable[ReadingStage]) -> TextTable:
    """Show stages, a row a stage."""
    rows = tuple(
        (
            *(stage.name, str(len(stage.task_ids)), f"{stage.median_gain:.2f}"),
            *("-" if stage.solved is None else f"{stage.solved:.0%}", f"{stage.share:.0%}"),
        )
        for stage in stages
    )
    header = ("curriculum of reading", "tasks to learn", "median gain", "solved", "share of the mix")
    return TextTable("", header, rows, frozenset({1, 2, 3, 4}))


_OF_ROLLOUT = {"release", "episode_id", "model", "ending", "chosen", "format_rate", "duration_s"}
_OF_GRADE = {"outcome", "score", "gap_closed", "medal", "position"}


def trajectory(record: RolloutRecord, width: int = 120) -> Iterator[tuple[str, str]]:
    """Yield facts, credit and steps of a rollout, all its messages, and the code and output that no message holds.

    Grades are among them, so agents must not see the result.
    """
    rollout, grade = record.rollout, record.rollout.grade
    reward = None if rollout.mask else rollout.reward
    facts = {
        **rollout.model_dump(include=_OF_ROLLOUT),
        **(grade.model_dump(include=_OF_GRADE) if grade else {}),
        **rollout.usage.model_dump(include={"prompt_tokens", "completion_tokens"}),
        "operator": record.operator,
        "failure": record.failure,
        "error": record.error,
    }
    lines = [f"{name.replace('_', ' '):<17} {_text(value)}" for name, value in facts.items() if value not in (None, "")]
    earned = f"reward {reward.total:.3f}" if reward else "masked, no reward"
    yield f"{rollout.task_id}, rollout {rollout.sample}: {earned}", "\n".join(lines)

    credit: list[tuple[object, ...]] = [
        (f"reward/{part}", value) for part, value in (reward.parts if reward else {}).items()
    ]
    credit += [(f"fact {one.fact}", one.value) for one in rollout.facts]
    steps = [
        (step.number, step.action, step.outcome, step.duration_s, len(step.checks), _note(step))
        for step in rollout.steps
    ]
    columns = ("step", "action", "outcome", "seconds", "checks", "feedback")
    for title, header, rows in (("credit", ("credit", "value"), credit), ("steps", columns, steps)):
        cells = tuple(tuple(map(_text, row)) for row in rows)
        if cells:
            yield title, to_text(TextTable("", header, cells), width)
    for number, message in enumerate(record.messages, start=1):
        yield f"message {number}, {message.role}", message.content
    said = "\n".join(message.content for message in record.messages)
    for step in rollout.steps:
        for name, text in (("code", step.code), ("standard output", step.stdout), ("standard error", step.stderr)):
            if text.strip() and text.strip() not in said:
                yield f"step {step.number}, {name}", text


def _note(step: Step) -> str:
    return " ".join((step.feedback.message if step.feedback else step.detail).split())


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
