"""GRPO: groups of scripts for each prompt, run while the next batch is sampled, with measures against collapse.

The scripts of a batch run on the processors while the GPU samples the next batch, so a batch is trained on weights that
are one update newer than those that wrote it; ratios of PPO correct for that. Against collapse: the upper clip is wider
(clip-higher of DAPO, arXiv 2503.14476), an entropy bonus holds the entropy above a share of its start, tasks whose
groups have no variance are drawn less often, and training stops early where the policy fails.
"""

import random
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sandmill_learn.lm.folder import SAMPLES, Record
from sandmill_learn.lm.generate import Sampler
from sandmill_learn.lm.grading import Graded, Table, is_used, reading_of
from sandmill_learn.lm.llama import Llama, in_chunks
from sandmill_learn.lm.scripts import Pool, result_of
from sandmill_learn.lm.sft import copy_state, make_optimizer
from sandmill_learn.lm.weights import Words

REWARDS = ("gap", "ladder", "ladder-facts", "rejection")
"""What is paid. `rejection` is rejection fine-tuning: the best scripts of a group are imitated, none is pushed down."""
_KEPT = 0.25
"""Share of a group that rejection fine-tuning keeps at most."""
_PATIENCE = 3
"""Updates in a row with the same kind of failure after which training stops."""
_RARE = 0.25
"""Weight with which a task without variance is drawn."""


@dataclass(frozen=True)
class GrpoSettings:
    """Settings of the training."""

    seconds: float = 185.0
    reward: str = "ladder-facts"
    prompts: int = 16
    """Groups of one update."""
    samples: int = 16
    """Scripts of one group."""
    minibatches: int = 2
    """Optimiser steps of one update, each on a part of the groups."""
    learning_rate: float = 1e-5
    warm: int = 3
    """Updates until the learning rate is reached."""
    clip: tuple[float, float] = (0.2, 0.28)
    """Ratios of probabilities count from 1 - low to 1 + high."""
    entropy_floor: float = 0.6
    """Share of the entropy of the start below which the bonus grows."""
    bonus: tuple[float, float] = (5e-4, 1e-2)
    """Weight of the entropy bonus at the start, and its largest."""
    temperature: float = 1.0
    seed: int = 0
    steps: int | None = None
    """Most updates; None: as many as the time allows."""


@dataclass
class _Batch:
    """Scripts of one batch, which may still run."""

    tables: list[Table]
    answers: list[list[list[int]]]
    scripts: list[list[str]]
    futures: list[list[Any]]
    former: list[Tensor]
    """Log-probabilities under the weights that wrote the scripts."""
    sampled: float


@dataclass
class GrpoState:
    """What a training keeps between updates."""

    bonus: float
    first_entropy: float | None = None
    weights: dict[str, float] = field(default_factory=dict)
    """Weight of each task in the draw."""
    stopped: str = ""
    bad: int = 0
    """Updates in a row that gave a reason to stop."""


def train_grpo(
    model: Llama,
    sampler: Sampler,
    words: Words,
    pool: Pool,
    tables: Sequence[Table],
    settings: GrpoSettings,
    record: Record,
) -> int:
    """Train a model in place until the time is over, and return the number of updates."""
    started, draw = time.monotonic(), random.Random(settings.seed)
    optimizer = make_optimizer(model, settings.learning_rate, decay=0.0)
    state = GrpoState(settings.bonus[0], weights={table.name: 1.0 for table in tables})
    waiting: deque[_Batch] = deque()
    safe, step, slowest = copy_state(model), 0, 0.0
    phase = f"grpo {settings.reward}"
    while not state.stopped:
        left = settings.seconds - (time.monotonic() - started)
        if settings.steps is not None and step + len(waiting) >= settings.steps:
            left = -1.0
        # A batch in flight takes about one update more.
        if left > (len(waiting) + 1) * slowest:
            waiting.append(_sampled(model, sampler, words, pool, _drawn(tables, state, settings, draw), settings))
        if not waiting or (left < -slowest and settings.steps is None):
            break
        if len(waiting) < 2 and left > 2 * slowest:
            continue
        before = time.monotonic()
        batch = waiting.popleft()
        graded = [[result_of(future) for future in group] for group in batch.futures]
        waited = time.monotonic() - before
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, (step + 1) / settings.warm)
        figures = _update(model, optimizer, words, batch, graded, settings, state)
        if not np.isfinite(figures["norm"]):
            model.load_state_dict(safe)
            optimizer = make_optimizer(model, settings.learning_rate, decay=0.0)
            record.say(f"{phase}: update {step + 1} was not finite; weights of update {step} are back")
        elif step % 5 == 0:
            safe = copy_state(model)
        sampler.refresh()
        step += 1
        slowest = max(slowest * 0.9, time.monotonic() - before + batch.sampled)
        figures |= {"sampled_s": batch.sampled, "waited_s": waited, "update_s": time.monotonic() - before - waited}
        record.add(phase, step=step, executed=pool.executed, **figures)
        _keep_samples(record, phase, step, batch, graded)
        shown = ("reward", "gap", "valid", "caught", "right", "entropy", "surprise", "flat", "waited_s", "update_s")
        record.say(f"{phase} {step}: " + ", ".join(f"{name} {figures[name]:.3f}" for name in shown))
        reason = _reason_to_stop(figures, state)
        state.bad = state.bad + 1 if reason else 0
        state.stopped = reason if state.bad >= _PATIENCE else ""
    if state.stopped:
        record.say(f"{phase}: stopped early: {state.stopped}")
    return step


def _drawn(tables: Sequence[Table], state: GrpoState, settings: GrpoSettings, draw: random.Random) -> list[Table]:
    """Draw different tasks by their weights."""
    keys = {table.name: draw.random() ** (1 / state.weights[table.name]) for table in tables}
    return sorted(tables, key=lambda table: -keys[table.name])[: settings.prompts]


def _sampled(
    model: Llama, sampler: Sampler, words: Words, pool: Pool, tables: list[Table], settings: GrpoSettings
) -> _Batch:
    """Sample scripts, start them, and note their probabilities while they run."""
    before = time.monotonic()
    prompts = [words.prompt(table.prompt) for table in tables]
    answers: list[list[list[int]]] = []
    for start in range(0, len(prompts), sampler.prompts):
        answers += sampler.sample(prompts[start : start + sampler.prompts], settings.temperature)
    answers = [group[: settings.samples] for group in answers]
    scripts = [[words.script(answer) for answer in group] for group in answers]
    futures = [
        [pool.submit(table.name, script) for script in group] for table, group in zip(tables, scripts, strict=True)
    ]
    former: dict[int, Tensor] = {}
    with torch.no_grad():
        for part in in_chunks(prompts, answers):
            groups = [answers[place] for place in part]
            chances, _ = model.answer_logprobs([prompts[place] for place in part], groups)
            former |= zip(part, chances.split([sum(map(len, group)) for group in groups]), strict=True)
    return _Batch(
        tables, answers, scripts, futures, [former[place] for place in range(len(tables))], time.monotonic() - before
    )


def advantages_of(rewards: Sequence[float]) -> list[float]:
    """Return rewards against the mean of their group, in standard deviations of at least 0.05."""
    spread = float(np.std(rewards))
    if spread < 1e-6:
        return [0.0] * len(rewards)
    return [(reward - float(np.mean(rewards))) / max(spread, 0.05) for reward in rewards]


def imitated(rewards: Sequence[float]) -> list[float]:
    """Return 1 for the best scripts of a group that earn anything, and 0 for the others."""
    least = sorted(rewards, reverse=True)[max(1, round(_KEPT * len(rewards))) - 1]
    return [float(reward > 0 and reward >= least) for reward in rewards]


def _update(
    model: Llama,
    optimizer: torch.optim.AdamW,
    words: Words,
    batch: _Batch,
    graded: Sequence[Sequence[Graded]],
    settings: GrpoSettings,
    state: GrpoState,
) -> dict[str, float]:
    """Make the steps of one update, and return the figures of its batch."""
    device, low, high = model.embedding.device, settings.clip[0], settings.clip[1]
    is_rejection = settings.reward == "rejection"
    paid = "ladder" if is_rejection else settings.reward
    rewards = [[one.reward(paid) for one in group] for group in graded]
    advantages = [(imitated if is_rejection else advantages_of)(group) for group in rewards]
    bonus = 0.0 if is_rejection else state.bonus
    sizes = [sum(map(len, group)) for group in batch.answers]
    entropy_sum, clipped = torch.zeros((), device=device), torch.zeros((), device=device)
    norms = []
    for part in np.array_split(np.arange(len(batch.tables)), min(settings.minibatches, len(batch.tables))):
        total = sum(sizes[place] for place in part)
        for place in part:
            state.weights[batch.tables[place].name] = 1.0 if any(advantages[place]) else _RARE
        prompts = [words.prompt(batch.tables[place].prompt) for place in part]
        for chunk in in_chunks(prompts, [batch.answers[place] for place in part]):
            places = [int(part[one]) for one in chunk]
            groups = [batch.answers[place] for place in places]
            chances, entropies = model.answer_logprobs([prompts[one] for one in chunk], groups)
            lengths = torch.tensor([len(answer) for group in groups for answer in group], device=device)
            gains = torch.tensor([gain for place in places for gain in advantages[place]], device=device)
            gain = gains.repeat_interleave(lengths)
            ratio = (chances - torch.cat([batch.former[place] for place in places])).clamp(-10, 10).exp()
            bounded = ratio.clamp(1 - low, 1 + high)
            objective = torch.minimum(ratio * gain, bounded * gain) + bonus * entropies
            (-objective.sum() / total).backward()
            entropy_sum += entropies.detach().sum()
            clipped += ((ratio != bounded) & (gain != 0)).sum()
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)))
        if np.isfinite(norms[-1]):
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    entropy = float(entropy_sum) / sum(sizes)
    if state.first_entropy is None:
        state.first_entropy = entropy
    grown = 1.5 if entropy < settings.entropy_floor * state.first_entropy else 0.8
    state.bonus = min(settings.bonus[1], max(settings.bonus[0], state.bonus * grown))
    return _figures(batch, graded, rewards, advantages) | {
        "entropy": entropy,
        # Of tokens drawn at temperature 1 it equals the entropy, unless sampler and training pass differ.
        "surprise": -float(torch.cat(batch.former).mean()),
        "bonus": bonus,
        "norm": float(np.mean(norms)),
        "clipped": float(clipped) / sum(sizes),
        "tokens": sum(sizes) / sum(map(len, batch.answers)),
    }


def _figures(batch: _Batch, graded: Sequence[Sequence[Graded]], rewards: Any, advantages: Any) -> dict[str, float]:
    flat = [one for group in graded for one in group]
    read = [
        reading_of(table, script)
        for table, scripts in zip(batch.tables, batch.scripts, strict=True)
        for script in scripts
        if table.facts
    ]
    hinted = [one for table, group in zip(batch.tables, graded, strict=True) if table.facts for one in group]
    known = [one.mean_caught for one in hinted if one.mean_caught is not None]
    lost = sum(not one.valid for one in hinted)
    return {
        "reward": float(np.mean([value for group in rewards for value in group])),
        "gap": float(np.mean([min(1.0, max(0.0, one.gap)) for one in flat])),
        "ladder": float(np.mean([one.ladder for one in flat])),
        "valid": float(np.mean([one.valid for one in flat])),
        "gold": float(np.mean([one.medal == 3 for one in flat])),
        "caught": float(sum(known) / max(1, len(known) + lost)),
        "uses": float(np.mean([any(map(is_used, one.caught)) for one in hinted])) if hinted else 0.0,
        "tried": float(np.mean([one[0] > 0 for one in read])) if read else 0.0,
        "right": float(np.mean([one[1] > 0 for one in read])) if read else 0.0,
        "flat": float(np.mean([not any(group) for group in advantages])),
        "distinct": float(np.mean([len(set(group)) / len(group) for group in batch.scripts])),
        "cpu_s": float(np.mean([one.seconds for one in flat])),
    }


def _keep_samples(record: Record, phase: str, step: int, batch: _Batch, graded: Sequence[Sequence[Graded]]) -> None:
    """Write two scripts of the batch in full."""
    for place in range(min(2, len(batch.tables))):
        one = graded[place][0]
        record.add(
            phase,
            SAMPLES,
            step=step,
            table=batch.tables[place].name,
            script=batch.scripts[place][0],
            gap=one.gap,
            problem=one.problem,
            caught=list(one.caught),
        )


def _reason_to_stop(figures: dict[str, float], state: GrpoState) -> str:
    if figures["valid"] < 0.2:
        return f"only {figures['valid']:.0%} of the scripts are valid"
    if state.first_entropy and figures["entropy"] < 0.1 * state.first_entropy:
        return "the entropy is below a tenth of its start"
    if figures["flat"] > 0.9:
        return f"{figures['flat']:.0%} of the groups have no variance"
    return ""
