"""Supervised fine-tuning on demonstrations, and the choice of the checkpoint that GRPO starts from."""

import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sandmill_learn.lm.folder import LESSONS, Record, read_lines
from sandmill_learn.lm.generate import Sampler
from sandmill_learn.lm.grading import Table, reading_of
from sandmill_learn.lm.llama import Llama, in_chunks
from sandmill_learn.lm.scripts import Pool, result_of
from sandmill_learn.lm.weights import Words

CHECKPOINTS = (0.5, 0.75, 1.0)
"""Shares of the time at which weights are kept."""
_BETAS, _DECAY, _CLIP, _WARM = (0.9, 0.95), 0.01, 1.0, 0.06


@dataclass(frozen=True)
class SftSettings:
    """Settings of the fine-tuning."""

    seconds: float = 100.0
    prompts: int = 16
    """Prompts of one step."""
    answers: int = 6
    """Demonstrations of each prompt in one step."""
    learning_rate: float = 8e-4
    seed: int = 0
    steps: int | None = None
    """Most steps; None: as many as the time allows."""


@dataclass(frozen=True)
class Lesson:
    """Token numbers of a prompt and its demonstrations."""

    prompt: list[int]
    answers: list[list[int]]


def read_lessons(folder: Path, words: Words) -> list[Lesson]:
    """Return the lessons of a prepared folder."""
    rows = list(read_lines(folder / LESSONS))
    prompts = words.prompts([row["prompt"] for row in rows])
    answers = iter(words.answers([text for row in rows for text in row["answers"]]))
    return [Lesson(prompt, [next(answers) for _ in row["answers"]]) for prompt, row in zip(prompts, rows, strict=True)]


def make_optimizer(model: Llama, learning_rate: float, decay: float = _DECAY) -> torch.optim.AdamW:
    """Return AdamW, fused where the device has it."""
    fused = model.embedding.is_cuda
    return torch.optim.AdamW(model.parameters(), learning_rate, betas=_BETAS, weight_decay=decay, fused=fused)


def schedule(share: float) -> float:
    """Return the factor of the learning rate: a short warm-up, then a cosine to a tenth."""
    if share < _WARM:
        return max(share / _WARM, 0.02)
    return 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * min(1.0, (share - _WARM) / (1 - _WARM))))


def copy_state(model: Llama) -> dict[str, Tensor]:
    """Return a copy of all weights on their device."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def train_sft(
    model: Llama, lessons: Sequence[Lesson], settings: SftSettings, end: int, record: Record
) -> list[tuple[str, dict[str, Tensor]]]:
    """Fine-tune a model in place, and return the kept checkpoints with their names."""
    device, draw = model.embedding.device, random.Random(settings.seed)
    optimizer = make_optimizer(model, settings.learning_rate)
    kept: list[tuple[str, dict[str, Tensor]]] = []
    queue: list[int] = []
    started, step, shown = time.monotonic(), 0, -math.inf
    while True:
        share = (time.monotonic() - started) / settings.seconds
        if settings.steps is not None:
            share = max(share, step / settings.steps)
        if len(kept) < len(CHECKPOINTS) and share >= CHECKPOINTS[len(kept)]:
            kept.append((f"step {step}", copy_state(model)))
        if share >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * schedule(share)
        if len(queue) < settings.prompts:
            queue = draw.sample(range(len(lessons)), len(lessons)) + queue
        chosen = [lessons[queue.pop()] for _ in range(min(settings.prompts, len(queue)))]
        batches = [draw.sample(one.answers, min(settings.answers, len(one.answers))) for one in chosen]
        total = sum(len(answer) for answers in batches for answer in answers)
        loss_sum = torch.zeros((), device=device)
        prompts = [lesson.prompt for lesson in chosen]
        for part in in_chunks(prompts, batches):
            chances, _ = model.answer_logprobs([prompts[one] for one in part], [batches[one] for one in part])
            loss = -chances.sum() / total
            loss.backward()
            loss_sum += loss.detach()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), _CLIP)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        if time.monotonic() - shown > 5 or step <= 2:
            shown = time.monotonic()
            loss_now = float(loss_sum)
            record.add("sft", step=step, loss=loss_now, norm=float(norm), demonstrations=step * settings.prompts)
            record.say(f"sft step {step}: loss {loss_now:.4f} a token, {share:.0%} of the time")
    record.say(f"sft: {step} steps of {settings.prompts} prompts with {settings.answers} demonstrations")
    return kept


def measure_samples(
    sampler: Sampler,
    words: Words,
    pool: Pool,
    tables: Sequence[Table],
    samples: int,
    temperature: float,
    prompts: Mapping[str, str] | None = None,
) -> "Measured":
    """Sample scripts for tables and start them. `Measured.wait` returns the results.

    Args:
        sampler: whose static number of answers bounds `samples`.
        words: the tokenizer.
        pool: runs the scripts.
        tables: to solve.
        samples: answers of each table.
        temperature: of the sampling; 0 is greedy.
        prompts: text of the prompt by the name of the table; None: the table's own.
    """
    found: list[list[str]] = []
    size = sampler.prompts
    texts = [(prompts or {}).get(table.name, table.prompt) for table in tables]
    for start in range(0, len(tables), size):
        tokens = [words.prompt(text) for text in texts[start : start + size]]
        for group in sampler.sample(tokens, temperature):
            found.append([words.script(answer) for answer in group[:samples]])
    futures = [
        [pool.submit(table.name, script) for script in group] for table, group in zip(tables, found, strict=True)
    ]
    return Measured(tables, found, futures)


@dataclass(frozen=True)
class Measured:
    """Scripts of tables, which may still run."""

    tables: Sequence[Table]
    scripts: Sequence[Sequence[str]]
    futures: Any

    def wait(self) -> list[dict[str, Any]]:
        """Return one row of figures a table."""
        rows = []
        for table, scripts, futures in zip(self.tables, self.scripts, self.futures, strict=True):
            graded = [result_of(future) for future in futures]
            gaps = [min(1.0, max(-1.0, one.gap)) if one.valid else 0.0 for one in graded]
            read = [reading_of(table, script) for script in scripts]
            known = [one.mean_caught for one in graded if one.mean_caught is not None]
            lost = sum(not one.valid for one in graded) if table.facts else 0
            rows.append(
                {
                    "table": table.name,
                    "seed": table.seed,
                    "hinted": any(fact["matters"] for fact in table.facts),
                    "gap": float(np.mean(gaps)),
                    "best": max(gaps),
                    "valid": float(np.mean([one.valid for one in graded])),
                    "ladder": float(np.mean([one.reward("ladder") if one.valid else 0.0 for one in graded])),
                    **{
                        medal: float(np.mean([one.medal >= place for one in graded]))
                        for place, medal in enumerate(("bronze", "silver", "gold"), start=1)
                    },
                    # An invalid script uses nothing.
                    "caught": float(sum(known) / (len(known) + lost)) if known else None,
                    "tried": float(np.mean([one[0] > 0 for one in read])),
                    "right": float(np.mean([one[1] > 0 for one in read])),
                    "facts_tried": sum(one[0] for one in read),
                    "facts_right": sum(one[1] for one in read),
                    "distinct": len(set(scripts)) / len(scripts),
                    "cpu": float(np.mean([one.seconds for one in graded])),
                }
            )
        return rows

    def problems(self) -> dict[str, int]:
        """Count what went wrong."""
        counts: dict[str, int] = {}
        for group in self.futures:
            for future in group:
                if not (one := result_of(future)).valid:
                    name = one.problem[:70]
                    counts[name] = counts.get(name, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1])[:12])


def mean_of(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    """Return the mean of a figure over tables that have it; 0 if none has."""
    known = [row[name] for row in rows if row[name] is not None]
    return float(np.mean(known)) if known else 0.0


def choose_start(
    kept: Sequence[tuple[str, dict[str, Tensor]]],
    model: Llama,
    sampler: Sampler,
    words: Words,
    pool: Pool,
    tables: Sequence[Table],
    record: Record,
    samples: int = 8,
) -> str:
    """Load the checkpoint with the highest sum of pass@samples and of the share of facts used, measured on validation.

    A low loss does not choose: a start that seldom reads rightly cannot learn that reading pays.
    """
    started = []
    for name, state in kept:
        model.load_state_dict(state)
        sampler.refresh()
        started.append((name, state, measure_samples(sampler, words, pool, tables, samples, 1.0)))
    best: tuple[float, str, dict[str, Tensor]] | None = None
    for name, state, measured in started:
        rows = measured.wait()
        figures = {key: mean_of(rows, key) for key in ("best", "gap", "valid", "caught", "right", "tried", "cpu")}
        score = figures["best"] + figures["caught"]
        record.add("start", checkpoint=name, score=score, **figures, problems=measured.problems())
        shown = ", ".join(f"{key} {value:.3f}" for key, value in figures.items())
        record.say(f"checkpoint {name}: {shown}")
        if best is None or score > best[0]:
            best = (score, name, state)
    assert best is not None
    model.load_state_dict(best[2])
    sampler.refresh()
    record.say(f"GRPO starts from {best[1]}")
    return best[1]
