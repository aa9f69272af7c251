"""What to train and where, as the command line and the run form take it."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from sandmill.learning.policy_settings import CPU_SECONDS, GrpoSettings, Method, RejectionSettings, SftSettings
from sandmill.models.base import Frozen
from sandmill.models.lineage_place import LineagePlace

RewardName = Literal[
    "gap", "sandmle-paper", "sandmle-release", "sparse", "position", "raw", "partial-credit", "partial-credit-grpo"
]
LANGUAGE_MODEL_RATE = 1e-5
"""Highest learning rate of a language model unless another one is asked for."""


class TrainRequest(Frozen):
    """What to train. Equal requests give equal policies on one machine."""

    release: str = Field(min_length=1)
    """Release to learn from, with its private half, such as releases/micro@3. Only its training split is used."""
    method: Method = "grpo"
    """sft imitates teacher scripts; rejection and grpo do that first, and then learn from rewards."""
    reward: RewardName = "gap"
    """What grpo and rejection learn from: the name of a reward preset."""
    seed: int = Field(default=0, ge=0, lt=2**31)
    """Decides the first weights and every draw."""
    start: Path | None = None
    """Policy to start from, instead of a random one and teacher scripts: a folder that this flow wrote."""
    model: Path | None = None
    """Folder of a causal language model of transformers, which then learns in place of a micro policy."""
    lora_rank: int = Field(default=0, ge=0, le=1024)
    """Rank of LoRA adapters that learn in place of all weights of --model; 0 trains all weights."""
    replicates: int = Field(default=4, ge=0, le=64)
    """Further renderings of each training design with fresh rows; they need the release secret."""
    updates: int = Field(default=64, ge=1, le=100_000)
    """Updates of grpo."""
    rounds: int = Field(default=6, ge=1, le=1000)
    """Rounds of rejection."""
    sft_steps: int = Field(default=800, ge=1, le=1_000_000)
    """Optimiser steps on teacher scripts."""
    tasks: int = Field(default=16, ge=1, le=4096)
    """Tasks of one update or round."""
    samples: int = Field(default=8, ge=2, le=256)
    """Scripts sampled for each of these tasks."""
    learning_rate: float | None = Field(default=None, gt=0, le=1)
    """Highest learning rate of grpo or rejection. Default: 2e-3 for grpo, 1e-3 for rejection, 1e-5 with --model."""
    temperature: float = Field(default=1.0, gt=0, le=10)
    """Divides the logits while sampling."""
    entropy: float = Field(default=0.01, ge=0, le=10)
    """Weight of the entropy bonus of grpo, which works against collapse."""
    beta: float = Field(default=0.0, ge=0, le=10)
    """Weight of the KL divergence from the start in grpo."""
    fact_dropout: float = Field(default=0.1, ge=0, lt=1)
    """Share of the facts that are hidden in each prompt during training."""
    validate_every: int = Field(default=8, ge=1)
    """Updates of grpo between validations on the validation split, and between checkpoints."""
    max_tokens: int = Field(default=1024, ge=16, le=65536)
    """Tokens of one answer of a language model at most."""

    @model_validator(mode="before")
    @classmethod
    def _language_models_learn_slowly(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("model") is not None and data.get("learning_rate") is None:
            return {**data, "learning_rate": LANGUAGE_MODEL_RATE}
        return data

    @model_validator(mode="after")
    def _starts_from_one_thing(self) -> "TrainRequest":
        if self.model is not None and self.start is not None:
            raise ValueError("--start is for micro policies; a language model starts from --model")
        if self.model is not None and self.method == "rejection":
            raise ValueError("--method rejection is for micro policies; use grpo or sft with --model")
        if self.lora_rank and self.model is None:
            raise ValueError("--lora-rank is for language models; give one with --model")
        return self

    @property
    def sft(self) -> SftSettings:
        """Settings of supervised fine-tuning."""
        return SftSettings(steps=self.sft_steps, fact_dropout=self.fact_dropout)

    @property
    def rejection(self) -> RejectionSettings:
        """Settings of rejection fine-tuning."""
        return RejectionSettings(
            rounds=self.rounds,
            tasks=self.tasks,
            samples=self.samples,
            temperature=self.temperature,
            fact_dropout=self.fact_dropout,
            **({} if self.learning_rate is None else {"learning_rate": self.learning_rate}),
        )

    @property
    def grpo(self) -> GrpoSettings:
        """Settings of GRPO."""
        return GrpoSettings(
            updates=self.updates,
            tasks=self.tasks,
            samples=self.samples,
            temperature=self.temperature,
            entropy=self.entropy,
            beta=self.beta,
            fact_dropout=self.fact_dropout,
            validate_every=self.validate_every,
            **({} if self.learning_rate is None else {"learning_rate": self.learning_rate}),
            **({} if self.model is None else {"longest": self.max_tokens}),
        )


class TrainSettings(Frozen):
    """Where to train, and with which limits."""

    to: Path
    """Folder of the training. A second run with the same folder goes on where the first one was stopped."""
    timeout: float = Field(default=CPU_SECONDS, gt=0, le=600)
    """Seconds of processor time of one script; the wall time may be 5 times as long."""
    cache: Path | None = None
    """Folder in which facts, replicates and rollouts are kept for other trainings. Default: below --to."""
    threads: int = Field(default=1, ge=1, le=256)
    """Threads of torch. Equal curves need equal numbers of threads."""
    lineage_to: LineagePlace | None = None
    """Where OpenLineage events go: file:///folder/events.jsonl, https://host, or s3://bucket/prefix."""
