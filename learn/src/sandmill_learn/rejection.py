"""Rejection fine-tuning of micro policies: sample, keep the best scripts of each task, imitate them."""

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem
from sandmill.rewards import Reward, get_reward
from sandmill_learn.batches import CountingRunner, figures_of, schedule, validate
from sandmill_learn.policy import MicroPolicy
from sandmill_learn.records import CurveRow, TrainingProgress
from sandmill_learn.settings import RejectionSettings, derive_seed
from sandmill_learn.sft import Example, Fitting, Listener, teacher_examples

if TYPE_CHECKING:
    from sandmill_learn.task_sets import LearningTask

STAGE = "rejection"


def train(
    policy: MicroPolicy,
    tasks: Sequence["LearningTask"],
    executor: CountingRunner,
    settings: RejectionSettings,
    *,
    seed: int,
    folder: Path,
    reward: str | Reward = "gap",
    validation: Sequence["LearningTask"] = (),
    listen: Listener = lambda row: None,
) -> tuple[MicroPolicy, list[CurveRow]]:
    """Train a policy in rounds, and return it with its curve, which has one row for each round.

    The weights change in place. A training that was killed goes on after its last complete round, and gives the same
    curve but for `seconds` and `executed`.

    Args:
        policy: the start. Only a policy that writes some valid scripts can learn.
        tasks: to learn from.
        executor: runs the scripts, and has all tasks.
        settings: of the training.
        seed: of all draws.
        folder: for checkpoints.
        reward: name of a preset, or a reward.
        validation: tasks on which each round is measured.
        listen: gets each row of the curve.

    Raises:
        InputError: if there are no tasks, or the reward is unknown.
    """
    if not tasks:
        raise InputError(STAGE, [Problem("tasks", "none", "at least one task to learn from")], "")
    chosen = get_reward(reward)
    teacher = teacher_examples(policy, tasks) if settings.teacher_share else []
    fitting = Fitting.start(policy, seed, STAGE)
    progress = fitting.resume(folder)
    rows, former = list(progress.rows), progress.requested - executor.requested
    planned = schedule(tasks, updates=settings.rounds, size=settings.tasks, seed=derive_seed(seed, "rounds"))
    for number, drawn in list(enumerate(planned, 1))[len(rows) :]:
        started = time.monotonic()
        kept, row = _collect(policy, drawn, executor, settings, derive_seed(seed, "round", number), chosen)
        losses = [_fit(fitting, kept, teacher, settings) for _ in range(settings.steps)] if kept else []
        found = validate(policy, validation, executor, samples=2, temperature=settings.temperature, seed=seed)
        changes = {
            "update": number,
            "loss": losses[-1][0] if losses else None,
            "entropy": losses[-1][1] if losses else None,
            "greedy_gap": found[0] if found else None,
            "sampled_gap": found[1] if found else None,
            "learning_rate": settings.learning_rate,
            "requested": former + executor.requested,
            "executed": executor.executed,
            "seconds": time.monotonic() - started,
        }
        rows.append(row.model_copy(update=changes))
        # A round that kept nothing took no step: its checkpoint replaces that of the round before.
        fitting.save(folder, TrainingProgress(rows=tuple(rows)))
        listen(rows[-1])
    return policy, rows


def keep_best(
    scored: Sequence[tuple[tuple[str, ...], float | None]], *, share: float, threshold: float
) -> list[tuple[str, ...]]:
    """Return the best scripts of one task: each once, the best first, at most this share of all and at least one.

    Args:
        scored: scripts with their rewards. None: a fault of the sandbox hit it.
        share: of the samples to keep.
        threshold: rewards up to this value are never kept.
    """
    best: dict[tuple[str, ...], float] = {}
    for script, reward in scored:
        if reward is not None and reward > threshold:
            best.setdefault(script, reward)
    most = max(1, int(share * len(scored)))
    return sorted(best, key=lambda script: best[script], reverse=True)[:most]


def _collect(
    policy: MicroPolicy,
    tasks: Sequence["LearningTask"],
    executor: CountingRunner,
    settings: RejectionSettings,
    seed: int,
    reward: Reward,
) -> tuple[list[Example], CurveRow]:
    """Sample and run scripts, and return the best ones with the figures of the round."""
    prompts = [policy.prompt_ids(task.facts) for task in tasks for _ in range(settings.samples)]
    sampled = policy.sample_ids(prompts, temperature=settings.temperature, seed=seed)
    answers = list(map(policy.text_of, sampled))
    owners = [task for task in tasks for _ in range(settings.samples)]
    rollouts = executor.rollouts([(task.id, answer) for task, answer in zip(owners, answers, strict=True)])
    rewards = [None if rollout.mask else reward(rollout).total for rollout in rollouts]
    scored = [(policy.names_of(ids), earned) for ids, earned in zip(sampled, rewards, strict=True)]
    kept = [
        (tuple(task.facts), script)
        for place, task in enumerate(tasks)
        for script in keep_best(
            scored[place * settings.samples : (place + 1) * settings.samples],
            share=settings.keep,
            threshold=settings.threshold,
        )
    ]
    earned = [value for value in rewards if value is not None]
    mean = sum(earned) / len(earned) if earned else None
    figures = figures_of(rollouts, rewards, answers, settings.samples)
    return kept, CurveRow(stage=STAGE, update=0, reward=mean, **figures.model_dump())


def _fit(
    fitting: Fitting, kept: Sequence[Example], teacher: Sequence[Example], settings: RejectionSettings
) -> tuple[float, float]:
    random = Random(derive_seed(fitting.seed, "mix", fitting.step))
    from_teacher = [bool(teacher) and random.random() < settings.teacher_share for _ in range(settings.batch)]
    mixed = [random.choice(teacher if is_taught else kept) for is_taught in from_teacher]
    return fitting.fit(mixed, settings.batch, settings.learning_rate, settings.fact_dropout)
