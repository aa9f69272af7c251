"""Settings of policies and of their training, seeds derived from one number, and imports of torch."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Literal

from pydantic import Field, model_validator

from sandmill.errors import InputError, Problem
from sandmill.models.base import Frozen

_BYTES = 7
"""A seed of 56 bits, which every generator takes."""


def derive_seed(seed: int, *names: object) -> int:
    """Return the seed of one use. Uses with other names get independent numbers."""
    text = "\0".join(map(str, (seed, *names)))
    return int.from_bytes(blake2b(text.encode(), digest_size=_BYTES).digest(), "big")


@contextmanager
def require_learning() -> Iterator[None]:
    """Import torch and the packages around it, and name the extra if one is missing.

    The first import of huggingface_hub decides whether trainers report their use to its servers. They do not.

    Raises:
        InputError: if a package cannot be found.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        yield
    except ModuleNotFoundError as error:
        hint = "Install it with: pip install sandmill-learn"
        problem = Problem(f"package {error.name}", "no such package", "an installed package", hint)
        raise InputError("sandmill-learn", [problem], "") from error


@contextmanager
def quiet_bars() -> Iterator[None]:
    """Show no progress bars of transformers: a policy is read and written in milliseconds."""
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()


Method = Literal["sft", "rejection", "grpo"]
"""How a policy is trained: `sft` imitates teacher scripts, `rejection` its own best scripts, `grpo` uses rewards."""

CPU_SECONDS = 4.0
"""Processor time of one script. A script that takes longer on 50 to 200 training rows is a failed attempt."""
WALL_FACTOR = 5
"""Limit of a script's wall time, as a multiple of its limit of processor time. Other programs delay scripts."""


class PolicySize(Frozen):
    """Size of a micro policy. The defaults give about 0.4 million parameters."""

    hidden: int = Field(default=96, ge=8, le=1024)
    """Width of the hidden states. It must be a multiple of twice the number of heads."""
    layers: int = Field(default=3, ge=1, le=24)
    heads: int = Field(default=4, ge=1, le=32)
    inner: int = Field(default=256, ge=8, le=4096)
    """Width of the feed-forward layers."""
    positions: int = Field(default=192, ge=32, le=4096)
    """Tokens of a prompt and its answer at most."""

    @model_validator(mode="after")
    def _heads_have_an_even_width(self) -> "PolicySize":
        if self.hidden % (2 * self.heads):
            raise ValueError(f"hidden must be a multiple of {2 * self.heads}, twice the number of heads")
        return self


class SftSettings(Frozen):
    """Supervised fine-tuning on teacher scripts."""

    steps: int = Field(default=800, ge=1)
    """Optimiser steps."""
    batch: int = Field(default=48, ge=1)
    """Scripts of one step."""
    learning_rate: float = Field(default=3e-3, gt=0)
    """Highest learning rate. It rises over the first 5% of the steps and then falls to a tenth on a cosine."""
    fact_dropout: float = Field(default=0.15, ge=0, lt=1)
    """Share of the facts of a prompt that are replaced by the word for an unknown fact."""
    report_every: int = Field(default=20, ge=1)
    """Steps of one row of the curve, and of one checkpoint."""


class RejectionSettings(Frozen):
    """Rounds of rejection fine-tuning: sample, keep the best scripts of each task, imitate them."""

    rounds: int = Field(default=6, ge=1)
    tasks: int = Field(default=24, ge=1)
    """Tasks of one round."""
    samples: int = Field(default=8, ge=2)
    """Scripts sampled for one task."""
    keep: float = Field(default=0.25, gt=0, le=1)
    """Share of the samples of a task that are kept, the best first; at least one."""
    threshold: float = Field(default=0.05)
    """Rewards up to this value are never kept."""
    temperature: float = Field(default=1.0, gt=0)
    teacher_share: float = Field(default=0.25, ge=0, le=1)
    """Share of teacher scripts in the batches of a round."""
    steps: int = Field(default=40, ge=1)
    """Optimiser steps of one round."""
    batch: int = Field(default=48, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    fact_dropout: float = Field(default=0.1, ge=0, lt=1)


class GrpoSettings(Frozen):
    """GRPO with TRL's trainer."""

    updates: int = Field(default=64, ge=1)
    """Batches of scripts that are sampled and learned from."""
    tasks: int = Field(default=16, ge=1)
    """Tasks of one update."""
    samples: int = Field(default=8, ge=2)
    """Scripts sampled for one task: the group whose mean reward is the baseline."""
    iterations: int = Field(default=1, ge=1, le=8)
    """Optimiser steps on the scripts of one update."""
    learning_rate: float = Field(default=2e-3, gt=0)
    """Highest learning rate. It falls to zero on a line."""
    warmup: int = Field(default=4, ge=0)
    """Updates over which the learning rate rises."""
    beta: float = Field(default=0.0, ge=0)
    """Weight of the KL divergence from the start. Above 0 it costs one more forward pass for each update."""
    entropy: float = Field(default=0.01, ge=0)
    """Weight of the entropy bonus, which works against collapse."""
    temperature: float = Field(default=1.0, gt=0)
    fact_dropout: float = Field(default=0.1, ge=0, lt=1)
    """Share of unknown facts in a prompt. All scripts of a group see the same facts."""
    longest: int = Field(default=80, ge=4)
    """Fragments of an answer at most. A longer one is cut off and gets no code to run."""
    scale_rewards: Literal["group", "batch", "none"] = "group"
    """Divide advantages by the standard deviation of rewards in the group or in the batch, or not at all."""
    loss_type: Literal["grpo", "dr_grpo", "dapo", "bnpo"] = "dapo"
    validate_every: int = Field(default=8, ge=1)
    """Updates between validations, and between checkpoints."""
    validation_samples: int = Field(default=2, ge=1)
    """Scripts sampled for each validation task, beside the greedy one."""
    patience: int = Field(default=12, ge=1)
    """Updates in a row without anything to learn from after which the training stops as collapsed."""
