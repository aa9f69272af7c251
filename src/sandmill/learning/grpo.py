"""GRPO of micro policies with TRL's trainer on a CPU."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandmill.errors import InputError, Problem
from sandmill.learning.batch_figures import validate
from sandmill.learning.checkpoints import latest_checkpoint
from sandmill.learning.curves import CurveRow
from sandmill.learning.extras import require_learning
from sandmill.learning.folders import recover_folder
from sandmill.learning.grpo_callback import GrpoProgress, make_callback
from sandmill.learning.grpo_rollouts import RecordedReward, make_rollout_func
from sandmill.learning.policy import MicroPolicy
from sandmill.learning.policy_settings import GrpoSettings
from sandmill.learning.schedule import schedule
from sandmill.learning.script_runner import CountingRunner
from sandmill.learning.seeds import derive_seed
from sandmill.rewards import Reward, get_reward

if TYPE_CHECKING:
    from sandmill.learning.task_sets import LearningTask

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
        InputError: if there are no tasks, the reward is unknown, or the extra `learning` is missing.
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
