"""Supervised fine-tuning of micro policies on scripts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, pi
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from sandmill.errors import InputError, Problem
from sandmill_learn.policy import MicroPolicy
from sandmill_learn.records import (
    CurveRow,
    TrainingProgress,
    drop_older,
    latest_checkpoint,
    mark_complete,
    replace_folder,
)
from sandmill_learn.settings import SftSettings, derive_seed

if TYPE_CHECKING:
    from sandmill_learn.task_sets import LearningTask

Example: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""Fact words of a task, and the names of the fragments of a script for it."""
Listener: TypeAlias = Callable[[CurveRow], None]

_STATE = "state.pt"
_WARMUP = 0.05
"""Share of the steps over which the learning rate rises."""
_LEAST_RATE = 0.1
"""Learning rate at the end, as a share of the highest one."""


def teacher_examples(policy: MicroPolicy, tasks: Sequence["LearningTask"]) -> list[Example]:
    """Return the scripts of the teacher for each task.

    Raises:
        InputError: if there is no script for any task.
    """
    from sandmill_learn.teacher import teacher_scripts

    examples = [
        (tuple(task.facts), tuple(script)) for task in tasks for script in teacher_scripts(policy.language, task.facts)
    ]
    if not examples:
        problem = Problem("teacher scripts", "none", "a script for at least one training task")
        raise InputError("sft", [problem], "")
    return examples


def train(
    policy: MicroPolicy,
    tasks: Sequence["LearningTask"],
    settings: SftSettings,
    *,
    seed: int,
    folder: Path,
    listen: Listener = lambda row: None,
) -> tuple[MicroPolicy, list[CurveRow]]:
    """Train a policy on the teacher's scripts, and return it with its curve.

    The weights change in place. A training that was killed goes on from the last checkpoint in `folder`. Equal seeds
    give equal weights on one machine with one number of threads; other processors may round sums differently.
    """
    fitting = Fitting.start(policy, seed, "sft")
    progress = fitting.resume(folder)
    rows = list(progress.rows)
    examples = teacher_examples(policy, tasks)
    started = time.monotonic()
    while fitting.step < settings.steps:
        rate = settings.learning_rate * rate_at(fitting.step, settings.steps)
        loss, entropy = fitting.fit(examples, settings.batch, rate, settings.fact_dropout)
        if fitting.step % settings.report_every == 0 or fitting.step == settings.steps:
            seconds, started = time.monotonic() - started, time.monotonic()
            rows.append(
                CurveRow(
                    stage="sft", update=fitting.step, loss=loss, entropy=entropy, learning_rate=rate, seconds=seconds
                )
            )
            fitting.save(folder, TrainingProgress(rows=tuple(rows)))
            listen(rows[-1])
    return policy, rows


def rate_at(step: int, steps: int) -> float:
    """Return the share of the highest learning rate: a rise on a line, then a fall on a cosine."""
    warmup = max(1, round(_WARMUP * steps))
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return _LEAST_RATE + (1 - _LEAST_RATE) * 0.5 * (1 + cos(pi * done))


@dataclass
class Fitting:
    """A policy with the optimiser of its supervised fine-tuning. The examples of a step depend on seed and step."""

    policy: MicroPolicy
    optimizer: Any
    seed: int
    name: str
    step: int = 0

    @classmethod
    def start(cls, policy: MicroPolicy, seed: int, name: str) -> "Fitting":
        """Begin with a new optimiser."""
        import torch

        optimizer = torch.optim.AdamW(policy.model.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.01)
        return cls(policy, optimizer, seed, name)

    def fit(self, examples: Sequence[Example], batch: int, rate: float, fact_dropout: float) -> tuple[float, float]:
        """Take one optimiser step on a random batch, and return its loss and the mean entropy."""
        import torch

        random = Random(derive_seed(self.seed, self.name, self.step))
        chosen = [examples[random.randrange(len(examples))] for _ in range(batch)]
        ids, labels, mask = _tensors(self.policy, chosen, lambda: random.random() < fact_dropout)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.policy.model.train()
        logits = self.policy.model(input_ids=ids, attention_mask=mask).logits[:, :-1]
        wanted = labels[:, 1:]
        is_answer = wanted != -100
        logarithms = torch.log_softmax(logits[is_answer], dim=-1)
        loss = -logarithms.gather(1, wanted[is_answer][:, None]).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.model.parameters(), 1.0)
        self.optimizer.step()
        self.policy.model.eval()
        self.step += 1
        with torch.no_grad():
            entropy = -(logarithms.exp() * logarithms).sum(dim=-1).mean()
        return float(loss.detach()), float(entropy)

    def save(self, folder: Path, progress: TrainingProgress) -> None:
        """Write a checkpoint at once."""
        import torch

        with replace_folder(folder / f"checkpoint-{self.step}") as written:
            state = {
                "model": self.policy.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
            }
            torch.save(state, written / _STATE)
            mark_complete(written, progress)
        drop_older(folder)

    def resume(self, folder: Path) -> TrainingProgress:
        """Read the last checkpoint of a folder, if there is one, and return what it knows."""
        import torch

        if (found := latest_checkpoint(folder)) is None:
            return TrainingProgress()
        state = torch.load(found[0] / _STATE, weights_only=True)
        self.policy.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = int(state["step"])
        return found[1]


def _tensors(policy: MicroPolicy, examples: Sequence[Example], is_unknown: Callable[[], bool]) -> tuple[Any, Any, Any]:
    """Return token numbers, labels and mask, padded on the right. Only tokens of answers have labels."""
    import torch

    pairs = [(policy.prompt_ids(facts, is_unknown), policy.answer_ids(script)) for facts, script in examples]
    longest = max(len(prompt) + len(answer) for prompt, answer in pairs)
    ids = torch.full((len(pairs), longest), policy.tokenizer.pad_token_id)
    labels = torch.full_like(ids, -100)
    mask = torch.zeros_like(ids)
    for row, (prompt, answer) in enumerate(pairs):
        end = len(prompt) + len(answer)
        ids[row, :end] = torch.tensor(prompt + answer)
        labels[row, len(prompt) : end] = torch.tensor(answer)
        mask[row, :end] = 1
    return ids, labels, mask
