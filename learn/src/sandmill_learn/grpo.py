"""GRPO of micro policies with TRL's trainer on a CPU: sampling, rewards, validation, checkpoints, an early stop."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from sandmill.errors import InputError, Problem
from sandmill.models.rollout import Rollout
from sandmill.rewards import Reward, get_reward
from sandmill.trainers.trl import code_reward, text_of
from sandmill_learn.batches import BatchFigures, CountingRunner, figures_of, schedule, validate
from sandmill_learn.policy import MicroPolicy
from sandmill_learn.records import (
    CurveRow,
    TrainingProgress,
    find_collapse,
    latest_checkpoint,
    mark_complete,
    recover_folder,
)
from sandmill_learn.settings import GrpoSettings, derive_seed, require_learning

if TYPE_CHECKING:
    from sandmill_learn.task_sets import LearningTask


def make_rollout_func(policy: MicroPolicy, settings: GrpoSettings, seed: int) -> Callable[..., dict[str, Any]]:
    """Return the function with which `GRPOTrainer` samples.

    TRL's own generation calls `generate`, whose overhead for each token is larger than the work of a tiny model. All
    random numbers of an update depend on the seed and on the number of the update.
    """

    def rollout(prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        update = trainer.state.global_step // settings.iterations
        masks = Random(derive_seed(seed, "facts", update))
        ids: list[list[int]] = []
        for start in range(0, len(prompts), settings.samples):
            group = prompts[start : start + settings.samples]
            ids += [policy.prompt_ids(group[0].split(), lambda: masks.random() < settings.fact_dropout)] * len(group)
        answers = policy.with_model(trainer.model).sample_ids(
            ids,
            temperature=settings.temperature,
            seed=derive_seed(seed, "update", update),
            longest=settings.longest,
        )
        return {"prompt_ids": ids, "completion_ids": answers, "logprobs": None}

    return rollout


class RecordedReward:
    """The reward function of `sandmill.trainers.trl`, which keeps the figures of the latest batch."""

    def __init__(self, executor: CountingRunner, reward: Reward, group: int) -> None:
        """Score groups of `group` completions with one reward."""
        self._executor, self._group = executor, group
        self._score = code_reward(self, reward=reward)
        self._latest: list[Rollout] = []
        self.figures: BatchFigures | None = None
        # TRL names its log entries by it.
        self.__name__ = reward.preset

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], task_id: Sequence[str], **columns: Any
    ) -> list[float | None]:
        """Run and grade the script of each completion. None: a fault of the sandbox hit it, and TRL leaves it out."""
        rewards = self._score(prompts, completions, task_id, **columns)
        self.figures = figures_of(self._latest, rewards, list(map(text_of, completions)), self._group)
        return rewards

    async def arollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        """Run answers for the adapter, and keep their rollouts."""
        self._latest = await asyncio.to_thread(self._executor.rollouts, pairs)
        return self._latest


STAGE = "grpo"


@dataclass
class GrpoProgress:
    """Collects the curve of a training, and decides which policy is the best."""

    settings: GrpoSettings
    executor: CountingRunner
    reward: RecordedReward
    validate: Callable[[], tuple[float, float] | None]
    """Returns the greedy and the sampled gap on validation tasks; None without such tasks."""
    save_best: Callable[[], None]
    listen: Callable[[CurveRow], None]
    rows: list[CurveRow]
    best: float | None = None
    best_update: int | None = None
    stopped: str = ""
    """Why the training stopped early."""
    _former: int = 0
    """Executions that were asked for before a checkpoint."""
    _clock: float = field(default_factory=time.monotonic)

    def resume(self, progress: TrainingProgress) -> None:
        """Go on from what a checkpoint knows."""
        self.rows[:] = progress.rows
        self.best, self.best_update = progress.best, progress.best_update
        self._former = progress.requested - self.executor.requested

    @property
    def progress(self) -> TrainingProgress:
        """What a checkpoint has to know."""
        return TrainingProgress(rows=tuple(self.rows), best=self.best, best_update=self.best_update)

    def begin(self) -> None:
        """Validate the policy before its first update."""
        self._add(0, {})

    def log(self, step: int, logs: dict[str, Any]) -> None:
        """Add a row for an update, from the figures that TRL logs in the first step on its scripts."""
        if "reward" not in logs or self.reward.figures is None:
            return
        self._add(-(-step // self.settings.iterations), logs)

    def _add(self, update: int, logs: dict[str, Any]) -> None:
        is_last = update == self.settings.updates
        figures = self.reward.figures.model_dump() if update and self.reward.figures else {}
        found = self.validate() if is_last or update % self.settings.validate_every == 0 else None
        if found is not None:
            figures |= {"greedy_gap": found[0], "sampled_gap": found[1]}
        seconds, self._clock = time.monotonic() - self._clock, time.monotonic()
        logged = {name: logs[name] for name in ("loss", "reward", "entropy", "kl", "learning_rate") if name in logs}
        self.rows.append(
            CurveRow(
                stage=STAGE,
                update=update,
                **figures,
                **logged,
                requested=self._former + self.executor.requested,
                executed=self.executor.executed,
                seconds=seconds,
            )
        )
        if found is not None and (self.best is None or sum(found) / 2 > self.best):
            self.best, self.best_update = sum(found) / 2, update
            self.save_best()
        self.stopped = find_collapse(self.rows, self.settings.patience)
        self.listen(self.rows[-1])


def make_callback(progress: GrpoProgress) -> Any:
    """Return a callback for transformers' trainer."""
    from transformers import TrainerCallback

    class Callback(TrainerCallback):
        """Hands the events of the trainer on."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if not state.global_step:
                progress.begin()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            progress.log(state.global_step, logs or {})
            if progress.stopped:
                control.should_training_stop = True

        def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            mark_complete(Path(args.output_dir) / f"checkpoint-{state.global_step}", progress.progress)

    return Callback()


START, BEST, CHECKPOINTS = "start", "best", "checkpoints"


def train(
    policy: MicroPolicy,
    tasks: Sequence["LearningTask"],
    executor: CountingRunner,
    settings: GrpoSettings,
    *,
    seed: int,
    folder: Path,
    reward: str | Reward = "gap",
    validation: Sequence["LearningTask"] = (),
    listen: Callable[[CurveRow], None] = lambda row: None,
    explain: Callable[[str], None] = lambda message: None,
) -> tuple[MicroPolicy, list[CurveRow]]:
    """Train a policy, and return the best checkpoint with the curve.

    The best checkpoint has the highest mean of greedy and sampled gap on validation tasks; without such tasks it is the
    last one. A training that was killed goes on from its last checkpoint and gives the same curve.

    The trainer sets the global generators of Python, numpy and torch to the seed. With equal seeds, the same machine,
    the same versions and one thread, all columns of the curve but seconds and executed are equal, as far as the scripts
    themselves are deterministic. Other processors may round sums differently, and then samples differ.

    Args:
        policy: the start. Its weights do not change.
        tasks: to learn from.
        executor: runs the scripts, and has all tasks.
        settings: of the training.
        seed: of all draws.
        folder: for checkpoints.
        reward: name of a preset, or a reward.
        validation: tasks that decide which checkpoint is the best.
        listen: gets each row of the curve.
        explain: gets the reason of an early stop.

    Raises:
        InputError: if there are no tasks, the reward is unknown, or a package of this distribution is missing.
    """
    if not tasks:
        raise InputError("grpo", [Problem("tasks", "none", "at least one task to learn from")], "")
    found = latest_checkpoint(folder / CHECKPOINTS)
    recover_folder(folder / BEST)
    if found is None:
        policy.save(folder / START)
        shutil.rmtree(folder / BEST, ignore_errors=True)
    recorded = RecordedReward(executor, get_reward(reward), settings.samples)
    trainer = _trainer(policy, tasks, recorded, settings, seed, folder)
    trained = policy.with_model(trainer.model)
    progress = GrpoProgress(
        settings,
        executor,
        recorded,
        validate=lambda: validate(
            trained,
            validation,
            executor,
            samples=settings.validation_samples,
            temperature=settings.temperature,
            seed=seed,
        ),
        save_best=lambda: trained.save(folder / BEST),
        listen=listen,
        rows=[],
    )
    if found is not None:
        progress.resume(found[1])
    trainer.add_callback(make_callback(progress))
    trainer.train(resume_from_checkpoint=str(found[0]) if found else None)
    if progress.stopped:
        explain(progress.stopped)
    return (MicroPolicy.load(folder / BEST) if progress.best is not None else trained), progress.rows


def _trainer(
    policy: MicroPolicy,
    tasks: Sequence["LearningTask"],
    reward: RecordedReward,
    settings: GrpoSettings,
    seed: int,
    folder: Path,
) -> Any:
    with require_learning():
        from datasets import Dataset
    planned = schedule(tasks, updates=settings.updates, size=settings.tasks, seed=derive_seed(seed, "schedule"))
    rows = [{"prompt": " ".join(task.facts), "task_id": task.id} for update in planned for task in update]
    config = grpo_config(settings, folder / CHECKPOINTS, seed)
    return make_trainer(
        model=str(folder / START),
        args=config,
        train_dataset=Dataset.from_list(rows),
        processing_class=policy.tokenizer,
        reward_funcs=[reward],
        rollout_func=make_rollout_func(policy, settings, seed),
    )


def make_trainer(**arguments: Any) -> Any:
    """Return a `GRPOTrainer` without its warning that rollout functions are experimental."""
    with require_learning():
        from transformers import PrinterCallback
        from trl import GRPOTrainer
    former = os.environ.get("TRL_EXPERIMENTAL_SILENCE")
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    try:
        trainer = GRPOTrainer(**arguments)
    finally:
        if former is None:
            del os.environ["TRL_EXPERIMENTAL_SILENCE"]
        else:
            os.environ["TRL_EXPERIMENTAL_SILENCE"] = former
    trainer.remove_callback(PrinterCallback)
    return trainer


def grpo_config(settings: GrpoSettings, folder: Path, seed: int, **changes: Any) -> Any:
    """Return the configuration of `GRPOTrainer` for a CPU: one process, no mixed precision, nothing reported."""
    with require_learning():
        from trl import GRPOConfig
    values: dict[str, Any] = {
        "output_dir": str(folder),
        "max_steps": settings.updates * settings.iterations,
        "per_device_train_batch_size": settings.tasks * settings.samples,
        "gradient_accumulation_steps": 1,
        "num_generations": settings.samples,
        "num_iterations": settings.iterations,
        "max_completion_length": settings.longest,
        "temperature": settings.temperature,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": "linear",
        "warmup_steps": settings.warmup * settings.iterations,
        "beta": settings.beta,
        "entropy_coef": settings.entropy,
        "loss_type": settings.loss_type,
        "scale_rewards": settings.scale_rewards,
        "shuffle_dataset": False,
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "dataloader_pin_memory": False,
        "logging_steps": 1,
        "save_strategy": "steps",
        "save_steps": settings.validate_every * settings.iterations,
        "save_total_limit": 2,
        "report_to": "none",
        "disable_tqdm": True,
        "seed": derive_seed(seed, "trainer") % 2**32,
    }
    return GRPOConfig(**(values | changes))
