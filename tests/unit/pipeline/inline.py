"""Work done in this process, in a chosen order: what `WorkerPool.batch` gives, without processes."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Self

from sandmill.calibrate.acceptance import OffBand
from sandmill.calibrate.stage import Calibrated
from sandmill.errors import ItemRejected
from sandmill.models.base import Stage
from sandmill.models.reports import Verification
from sandmill.pipeline.attempt import AttemptJob, Ended, Failed
from tests.unit.pipeline.proved import calibrated, proved, rendered, scripts


class InlineBatch:
    """A batch whose items end one by one, the oldest first or the latest first.

    At most `workers` of them are begun, the most urgent and then the oldest first.
    """

    def __init__(self, perform: Callable[[Any, Any], Any], backwards: bool = False, workers: int | None = None) -> None:
        self._perform, self._next, self._workers = perform, -1 if backwards else 0, workers
        self._waiting: list[tuple[int, int, Any, Any]] = []
        self._begun: list[tuple[int, int, Any, Any]] = []
        self._submitted = 0

    def submit(self, function: Any, item: Any, urgency: int = 0) -> int:
        self._waiting.append((-urgency, self._submitted, function, item))
        self._submitted += 1
        return self._submitted - 1

    def ended(self) -> Iterator[tuple[int, Any]]:
        while self._waiting or self._begun:
            while self._waiting and (self._workers is None or len(self._begun) < self._workers):
                self._begun.append(self._waiting.pop(self._waiting.index(min(self._waiting, key=lambda one: one[:2]))))
            _, number, function, item = self._begun.pop(self._next)
            yield number, self._perform(function, item)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Scripted:
    """Workers whose results follow from the slot and the number of an attempt, in no time."""

    def __init__(self, workers: int, backwards: bool = False) -> None:
        self.workers, self.backwards = workers, backwards
        self.performed: list[tuple[int, str]] = []
        """Slot and kind of each piece of work that has ended."""

    def batch(self, timeout_s: float) -> InlineBatch:
        return InlineBatch(self.perform, self.backwards, self.workers)

    def perform(self, function: Any, item: Any) -> Ended[Any]:
        if isinstance(item, AttemptJob):
            self.performed.append((item.attempt.slot.number, "attempt"))
            return self._attempt(item)
        self.performed.append((_slot_of(item), "proof"))
        return self._prove(item)

    def _attempt(self, job: AttemptJob) -> Ended[Calibrated]:
        attempt = job.attempt
        drawn = _draw(attempt.slot.number, attempt.round, attempt.number, attempt.replicate)
        if drawn % 3 and not attempt.replicate:
            error = OffBand(drawn % 100 / 100, attempt.slot.band)
            return Ended(Failed(error, rendered().package.spec), {Stage.CALIBRATE: 1.0})
        task_id = f"sm{attempt.slot.number:06x}{drawn % 2**24:06x}"
        package = rendered().package.model_copy(update={"task_id": task_id, "replicate": attempt.replicate})
        sources = {script.score.file: script.source for script in scripts()}
        return Ended(Calibrated(package, calibrated(), sources, 1.0), {Stage.CALIBRATE: 2.0})

    def _prove(self, made: Calibrated) -> Ended[Verification]:
        if int(made.package.task_id[2:], 16) % 5 == 0:
            return Ended(Failed(ItemRejected(Stage.VERIFY, "not_proved", "a fact")), {Stage.VERIFY: 0.5})
        return Ended(proved().record.verification, {Stage.VERIFY: 0.5})


def _slot_of(made: Calibrated) -> int:
    return int(made.package.task_id[2:8], 16)


def _draw(*numbers: int) -> int:
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8])
