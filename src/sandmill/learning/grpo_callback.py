"""What happens after each update of GRPO: a row of the curve, validation, checkpoints, an early stop."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandmill.learning.checkpoints import TrainingProgress, mark_complete
from sandmill.learning.collapse import find_collapse
from sandmill.learning.curves import CurveRow
from sandmill.learning.grpo_rollouts import RecordedReward
from sandmill.learning.policy_settings import GrpoSettings
from sandmill.learning.script_runner import CountingRunner

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
