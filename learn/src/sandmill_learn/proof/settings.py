"""Settings of the proof: which arms, how many seeds, how many executions, and what is scored."""

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from sandmill.models.base import Frozen
from sandmill.models.run import MOST_SECONDS
from sandmill_learn.settings import CPU_SECONDS, GrpoSettings, RejectionSettings, SftSettings

Arm = Literal["sft", "rejection", "gap", "sparse", "sandmle-paper", "partial-credit-grpo", "best-single", "baselines"]
"""`sft` and `rejection`, the reward of a GRPO arm, the best single pipeline, and all baselines together."""

_REJECTION_STEPS = 240
"""Optimiser steps of rejection fine-tuning, all rounds together. With 800, its policy scored worse on real tables."""

_SMOKE = {"seeds": 1, "updates": 3, "batch_tasks": 4, "group": 4, "sft_steps": 120, "draws": 1, "samples": 1}
_SMOKE_MORE = {"replicates": 1, "test_rows": 150, "tables": 3, "baseline_executions": 160, "validation_tasks": 2}


class ProofSettings(Frozen):
    """Settings of one run. A unit of work whose settings are unchanged is read from its folder."""

    release: str = "releases/learn"
    """Release to train on"""
    to: Path = Path("proof")
    """Folder for units, results and tables"""
    real: Path | None = None
    """Folder with development/ and final/, one folder for each real task; by default they are written to --to"""
    seeds: int = Field(default=3, ge=1, le=20)
    """Training seeds. The published table has 5"""
    arms: tuple[Arm, ...] = ("sft", "rejection", "gap", "best-single")
    """Arms: sft, rejection, best-single or all baselines, and GRPO by its reward: gap, sparse, sandmle-paper,
    partial-credit-grpo"""
    updates: int = Field(default=24, ge=1)
    """Updates of a GRPO arm"""
    batch_tasks: int = Field(default=16, ge=1)
    """Tasks of one update"""
    group: int = Field(default=8, ge=2)
    """Scripts for each task of an update"""
    sft_steps: int = Field(default=800, ge=1)
    """Optimiser steps on the teacher's scripts, from which all trained arms start"""
    learning_rate: float = Field(default=GrpoSettings.model_fields["learning_rate"].default, gt=0)
    """Highest learning rate of GRPO"""
    replicates: int = Field(default=4, ge=0)
    """Tasks of each training design, rendered with rows of their own; 0 trains on the published tasks instead"""
    test_rows: int = Field(default=500, ge=100, le=20000)
    """Final rows of these tasks. Fewer run faster, and their scores are less exact"""
    validation_tasks: int = Field(default=12, ge=0)
    """Synthetic tasks of the split `validation` that choose the best checkpoint of GRPO"""
    draws: int = Field(default=2, ge=1, le=5)
    """Row draws of each real table"""
    samples: int = Field(default=2, ge=1)
    """Scripts for each real task at temperature 1"""
    tables: int = Field(default=0, ge=0)
    """Tables of each part at most; 0 means all"""
    baseline_executions: int = Field(default=0, ge=0)
    """Scripts that each baseline may run on training tasks; 0 means as many as a trained arm"""
    timeout: float = Field(default=CPU_SECONDS, gt=0, le=MOST_SECONDS)
    """Seconds of processor time that one script may use, the same for all arms; the wall time may be 5 times as long"""
    smoke: bool = False
    """A short run that shows that everything works: one seed, three updates, three tables of each part"""

    @field_validator("arms")
    @classmethod
    def _has_a_start(cls, arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
        """All trained arms start from SFT, so that it is always trained and scored."""
        return arms if "sft" in arms else ("sft", *arms)

    @property
    def effective(self) -> "ProofSettings":
        """These settings. In the smoke variant, its own in place of those that were not given."""
        if not self.smoke:
            return self
        small = {**_SMOKE, **_SMOKE_MORE}
        return self.model_copy(update={name: small[name] for name in small.keys() - self.model_fields_set})

    @property
    def executions(self) -> int:
        """Scripts of one trained arm, without validation."""
        return self.updates * self.batch_tasks * self.group

    @property
    def baseline_budget(self) -> int:
        """Scripts that each baseline may run on training tasks."""
        return self.baseline_executions or self.executions

    @property
    def baseline_arms(self) -> tuple[str, ...]:
        """`baselines`, or the single pipeline, which is one of them."""
        return next(((arm,) for arm in ("baselines", "best-single") if arm in self.arms), ())

    @property
    def rewards(self) -> tuple[str, ...]:
        """Rewards of the GRPO arms."""
        return tuple(arm for arm in self.arms if arm not in ("sft", "rejection", "best-single", "baselines"))

    def sft(self) -> SftSettings:
        """Return the settings of supervised fine-tuning."""
        return SftSettings(steps=self.sft_steps)

    def grpo(self) -> GrpoSettings:
        """Return the settings of GRPO."""
        return GrpoSettings(
            updates=self.updates,
            tasks=self.batch_tasks,
            samples=self.group,
            learning_rate=self.learning_rate,
            validate_every=max(1, min(8, self.updates // 3)),
        )

    def rejection_variants(self) -> tuple[RejectionSettings, ...]:
        """Return variants of rejection fine-tuning with equal executions. The development tables choose one."""
        many = max(1, self.executions // (2 * self.batch_tasks * self.group))
        few = max(1, many // 3)
        fitted = min(_REJECTION_STEPS, self.sft_steps)
        steps = max(4, fitted // many)
        return (
            RejectionSettings(
                rounds=many, tasks=self.executions // (many * self.group), samples=self.group, steps=steps
            ),
            RejectionSettings(
                rounds=few,
                tasks=self.executions // (few * self.group),
                samples=self.group,
                steps=max(4, 2 * fitted // few // 3),
                keep=0.125,
            ),
        )
