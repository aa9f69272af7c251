"""Make one shard: attempts until each slot has a proved candidate or is spent, then suites over all candidates."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sandmill.calibrate.acceptance import OffBand
from sandmill.calibrate.stage import Calibrated
from sandmill.check import check_suites
from sandmill.errors import INTERNAL_ERROR, ItemRejected, internal_error
from sandmill.models.base import Stage
from sandmill.models.package import TaskPackage
from sandmill.models.plan import Attempt, ShardPlan
from sandmill.models.release import VerifiedTask
from sandmill.models.reports import AttemptReport, Rejection, SlotReport, Verification
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.pipeline.attempt import AttemptJob, Ended, Failed, prove, rejection_of, run_attempt
from sandmill.pipeline.band_search import Miss, SlotSearch
from sandmill.pipeline.workers import WorkerPool, WorkerTimeout
from sandmill.verify.records import make_task

JOB_TIMEOUT_S = 300.0
"""Wall-clock seconds that one attempt or one proof may take. A slower design is rejected."""


@dataclass(frozen=True)
class ShardProgress:
    """State of one shard when a piece of its work ends."""

    stage: Stage
    """The last stage that the piece of work reached."""
    slots: int
    """Slots of the shard."""
    filled: int
    """Slots that hold a verified task."""
    attempts: int
    rejected: int
    done: int = 0
    """Pieces of work that have ended since the last suites, of `total` so far."""
    total: int = 0
    proved: int = 0
    """Slots whose task is proved and waits for the suites."""
    is_stored: bool = False
    """The shard is finished and kept. This is its last report."""
    task: str = ""
    """The task that was just verified: id, domain, band, difficulty."""


Listener = Callable[[ShardProgress], None]


@dataclass(frozen=True)
class Shard:
    """The results of a plan, in memory."""

    tasks: tuple[VerifiedTask, ...]
    rejections: tuple[Rejection, ...]
    slots: tuple[SlotReport, ...]
    suites: tuple[dict[str, Any], ...]
    """Results of the expectation suites, one row for each expectation and each time that they ran."""
    rejects: tuple[tuple[Rejection, TaskPackage], ...]
    """The packages that were rejected last, at most as many as `--keep-rejects` asks for."""


@dataclass
class _SlotWork(SlotSearch):
    """The search within one slot, and what is reported of it."""

    tasks: list[VerifiedTask] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    steps: list[AttemptReport] = field(default_factory=list)
    seconds: dict[Stage, float] = field(default_factory=dict)

    def report(self) -> SlotReport:
        """Sum up cost and outcome."""
        first = min((task.record for task in self.tasks), key=lambda record: record.replicate, default=None)
        return SlotReport(
            slot=self.slot.number,
            round=self.round,
            wanted=self.slot.band,
            reached=first.reached if first else None,
            task_ids=tuple(task.record.task_id for task in self.tasks),
            attempts=self.tried,
            seconds={stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            path=tuple(self.steps),
        )

    def booked_rejections(self) -> list[Rejection]:
        """Book the price of the draft on the last rejection if the slot stays empty: no task accounts for it."""
        authorship = self.slot.authorship
        ordered = sorted(self.rejections, key=lambda rejection: rejection.replicate)
        if self.tasks or authorship is None or not ordered:
            return ordered
        *earlier, last = ordered
        return [*earlier, last.model_copy(update={"usd": authorship.usage.usd})]


@dataclass
class _Try:
    """One attempt of a slot, and the work spent on it so far."""

    slot: _SlotWork
    attempt: Attempt
    repeats: TaskSpec | None = None
    """The design that a replicate repeats."""
    seconds: float = 0.0

    def spend(self, seconds: Mapping[Stage, float]) -> None:
        """Book work on the attempt and on its slot."""
        for stage, spent in seconds.items():
            self.seconds += spent
            self.slot.seconds[stage] = self.slot.seconds.get(stage, 0.0) + spent

    def note_step(self, outcome: str, spec: TaskSpec | None, difficulty: float | None, panel_s: float | None) -> None:
        """Record the step of the search. A replicate repeats a step that is recorded already."""
        attempt = self.attempt
        if attempt.replicate:
            return
        self.slot.steps.append(
            AttemptReport(
                attempt=attempt.number,
                variant=attempt.variant,
                hardness=attempt.hardness,
                knobs=spec.knobs if spec else Knobs.all_at(attempt.hardness),
                train_rows=spec.sizes.train if spec else None,
                difficulty=difficulty,
                panel_s=panel_s,
                outcome=outcome,
            )
        )


@dataclass(frozen=True)
class _ProvedPackage:
    """An attempt whose package passed its gates, and its proof. Only the suites are still to come."""

    attempt: _Try
    made: Calibrated
    proof: Verification | Failed


@dataclass
class ShardBuild:
    """The state of one shard while it is made. Results do not depend on the order in which workers finish."""

    plan: ShardPlan
    secret: bytes
    code: str
    """From `code_version`, for the lineage."""
    suites: Mapping[str, bytes]
    """Expectation suites by name; without any, the gates alone decide."""
    workers: WorkerPool
    listen: Listener = lambda _: None
    keep_rejects: int = 0
    """Number of rejected packages to return, the last ones."""

    def __post_init__(self) -> None:
        self._slots = [_SlotWork(slot, self.plan.round) for slot in self.plan.slots]
        self._suite_rows: list[dict[str, Any]] = []
        self._rejects: list[tuple[Rejection, TaskPackage]] = []
        self._proved: set[int] = set()
        refusals = {rejection.slot: rejection for rejection in self.plan.refusals}
        for slot in self._slots:
            if refusal := refusals.get(slot.slot.number):
                slot.tried, slot.is_closed = 1, True
                slot.rejections.append(refusal)

    def run(self) -> Shard:
        """Fill the slots, then render the replicates of verified designs."""
        while waiting := [slot for slot in self._slots if slot.is_open]:
            self._settle(self._search([_Try(slot, slot.next_attempt()) for slot in waiting]))
        self._settle(self._search([one for slot in self._slots for one in self._replicates(slot)]))
        tasks = [task for slot in self._slots for task in slot.tasks]
        return Shard(
            tasks=tuple(sorted(tasks, key=lambda task: (task.record.lineage.slot, task.record.replicate))),
            rejections=tuple(rejection for slot in self._slots for rejection in slot.booked_rejections()),
            slots=tuple(slot.report() for slot in self._slots),
            suites=tuple(self._suite_rows),
            rejects=self._last_rejects(),
        )

    def _search(self, tries: list[_Try]) -> list[_ProvedPackage]:
        """Attempt until each slot has a candidate or is spent, and prove candidates meanwhile.

        Each slot goes on by itself, so no worker waits for the slowest. The slot with the most attempts goes first:
        its search may take the longest. The suites wait for all: they cost as much for one package as for twenty.
        """
        found: dict[int, tuple[_Try, Calibrated]] = {}
        proofs: dict[int, Verification | Failed] = {}
        running: dict[int, _Try | int] = {}
        done = 0
        with self.workers.batch(JOB_TIMEOUT_S) as batch:
            for one in tries:
                running[batch.submit(run_attempt, self._job(one), one.attempt.number)] = one
            for number, outcome in batch.ended():
                this, done = running.pop(number), done + 1
                # A lost worker does not say where it was; most of an attempt is calibration.
                ended = _ending(outcome, Stage.VERIFY if isinstance(this, int) else Stage.CALIBRATE)
                if isinstance(this, int):
                    found[this][0].spend(ended.seconds)
                    proofs[this] = ended.result
                    if not isinstance(ended.result, Failed):
                        self._proved.add(found[this][0].attempt.slot.number)
                else:
                    this.spend(ended.seconds)
                    if not isinstance(ended.result, Failed):
                        found[number] = this, ended.result
                        running[batch.submit(partial(prove, secret=self.secret), ended.result, 1)] = number
                    elif following := self._after_reject(this, ended.result):
                        running[batch.submit(run_attempt, self._job(following), following.attempt.number)] = following
                self._tell(ended.stage, done, done + len(running))
        candidates = [_ProvedPackage(one, made, proofs[number]) for number, (one, made) in found.items()]
        return sorted(candidates, key=lambda one: (one.attempt.attempt.slot.number, one.attempt.attempt.replicate))

    def _after_reject(self, one: _Try, failed: Failed) -> _Try | None:
        """Note a failed attempt. Returns the next one of its slot, if one is due."""
        self._reject(one, failed)
        if one.attempt.replicate or not one.slot.is_open:
            return None
        return _Try(one.slot, one.slot.next_attempt())

    def _replicates(self, slot: _SlotWork) -> Iterator[_Try]:
        for record in [task.record for task in slot.tasks]:
            for replicate in range(1, self.plan.replicates):
                attempt = Attempt(
                    slot=slot.slot,
                    round=self.plan.round,
                    number=record.lineage.attempt,
                    variant=0,
                    hardness=record.spec.hardness,
                    any_band=True,
                    replicate=replicate,
                )
                yield _Try(slot, attempt, record.spec)

    def _job(self, one: _Try) -> AttemptJob:
        return AttemptJob(one.attempt, self.plan.plan_fingerprint, self.secret, one.repeats, self.keep_rejects > 0)

    def _settle(self, candidates: list[_ProvedPackage]) -> None:
        """Accept or reject candidates by the suites and by their proofs."""
        self._proved.clear()
        for one in self._check(candidates):
            if isinstance(one.proof, Failed):
                self._reject(one.attempt, Failed.after(one.made, one.proof.error))
            else:
                self._accept(one.attempt, one.made, one.proof)

    def _check(self, candidates: list[_ProvedPackage]) -> list[_ProvedPackage]:
        if not candidates:
            return []
        started = time.monotonic()
        checked = check_suites([one.made.package for one in candidates], self.suites)
        self._suite_rows += checked.suites
        share = (time.monotonic() - started) / len(candidates)
        sound = []
        for one in candidates:
            one.attempt.spend({Stage.CHECK: share})
            if findings := checked.findings.get(one.made.package.task_id):
                self._reject(one.attempt, Failed.after(one.made, rejection_of(findings)))
            else:
                sound.append(one)
        self._tell(Stage.CHECK, len(candidates), len(candidates))
        return sound

    def _accept(self, one: _Try, made: Calibrated, verification: Verification) -> None:
        task = make_task(made, one.attempt, verification, self.plan, self.code, self.secret)
        one.slot.tasks.append(task)
        one.slot.is_closed = True
        package, difficulty = made.package, made.calibration.difficulty
        one.note_step("verified", package.spec, difficulty.value, made.panel_s)
        named = f"{package.task_id} {package.spec.domain} {difficulty.band} {difficulty.value:.2f}"
        self._tell(Stage.VERIFY, task=named)

    def _reject(self, one: _Try, failed: Failed) -> None:
        attempt, error = one.attempt, failed.error
        rejection = Rejection(
            slot=attempt.slot.number,
            round=attempt.round,
            attempt=attempt.number,
            replicate=attempt.replicate,
            seed_id=attempt.slot.seed.id,
            stage=Stage(error.stage),
            reason=error.reason,
            detail=error.detail.partition(":")[0] if error.reason == INTERNAL_ERROR else error.detail,
            seconds=round(one.seconds, 4),
            traceback=error.traceback,
        )
        one.slot.rejections.append(rejection)
        if failed.spec and isinstance(error, OffBand):
            one.slot.note_miss(Miss(attempt, failed.spec.fingerprint, error.measured))
        else:
            one.slot.start_over()
        one.note_step(error.reason, failed.spec, failed.difficulty, failed.panel_s)
        if failed.package and self.keep_rejects:
            self._rejects.append((rejection, failed.package))
            self._rejects = list(self._last_rejects())

    def _last_rejects(self) -> tuple[tuple[Rejection, TaskPackage], ...]:
        """The rejects of the latest attempts, whatever the order in which workers finished."""
        latest = sorted(self._rejects, key=lambda one: (one[0].replicate, one[0].attempt, one[0].slot))
        return tuple(latest[-self.keep_rejects :]) if self.keep_rejects else ()

    def _tell(self, stage: Stage, done: int = 0, total: int = 0, task: str = "") -> None:
        self.listen(
            ShardProgress(
                stage=stage,
                slots=len(self._slots),
                filled=sum(bool(slot.tasks) for slot in self._slots),
                attempts=sum(slot.tried for slot in self._slots),
                rejected=sum(len(slot.rejections) for slot in self._slots),
                proved=sum(slot.slot.number in self._proved and not slot.tasks for slot in self._slots),
                done=done,
                total=total,
                task=task,
            )
        )


def _ending(outcome: Any, stage: Stage) -> Ended[Any]:
    """Return how a job ended. One that did not return is an internal error of the stage, or a design that is too slow.

    A design that takes too long is itself at fault.
    """
    if isinstance(outcome, WorkerTimeout):
        return Ended(Failed(ItemRejected(stage, "timeout", str(outcome))), stage)
    if isinstance(outcome, Exception):
        return Ended(Failed(internal_error(stage, outcome)), stage)
    ended: Ended[Any] = outcome
    return ended
