"""Make one shard. Each slot goes on by itself: attempts, proof, suites, replicates; then it is finished and kept."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sandmill.calibrate.acceptance import OFF_BAND, OffBand
from sandmill.calibrate.stage import Calibrated
from sandmill.check import add_summaries, check_suites
from sandmill.check.seed_gate import check_seed_rows
from sandmill.errors import INTERNAL_ERROR, ItemRejected, internal_error
from sandmill.models.base import Stage
from sandmill.models.plan import Attempt, ShardPlan
from sandmill.models.release import VerifiedTask
from sandmill.models.reports import AttemptReport, Rejection, ScriptSeconds, SlotReport
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.pipeline.attempt import AttemptJob, Ended, Failed, prove, rejection_of, run_attempt
from sandmill.pipeline.band_search import ATTEMPTS, SETTLING, Miss, SlotSearch
from sandmill.pipeline.workers import WorkBatch, WorkerPool, WorkerTimeout
from sandmill.store.shards import FinishedSlot
from sandmill.verify.records import make_task

JOB_TIMEOUT_S = 300.0
"""Wall-clock seconds that one attempt or one proof may take. A slower design is rejected."""
_REPLICATE, _PROOF = ATTEMPTS + SETTLING + 1, ATTEMPTS + SETTLING + 2
"""Urgency of work on a slot that has a task. That of an attempt is its number. A slot that is nearly finished comes
before all others, so that a build that is killed keeps as many slots as it can."""


@dataclass(frozen=True)
class ShardProgress:
    """State of one shard when a piece of its work ends."""

    made: int
    """Slots that hold a verified task."""
    rejected: int
    in_band: int = 0
    """Slots whose task is in the band that was asked for."""
    steered: int = 0
    """Rejected attempts that only missed their band. The search goes on from them."""
    is_news: bool = False
    """Whether a task was just verified."""


Listener = Callable[[ShardProgress], None]


@dataclass(frozen=True)
class Shard:
    """The results of a plan, in memory."""

    tasks: tuple[VerifiedTask, ...]
    rejections: tuple[Rejection, ...]
    slots: tuple[SlotReport, ...]
    suites: tuple[dict[str, Any], ...]
    """Results of the expectation suites, one row for each expectation."""


@dataclass
class _SlotWork(SlotSearch):
    """The search within one slot, and what is reported of it."""

    tasks: list[VerifiedTask] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    steps: list[AttemptReport] = field(default_factory=list)
    seconds: dict[Stage, float] = field(default_factory=dict)
    suites: list[dict[str, Any]] = field(default_factory=list)
    script_seconds: list[ScriptSeconds] = field(default_factory=list)
    running: int = 0
    """Attempts and proofs that have not ended."""
    has_replicates: bool = False
    """Whether the replicates of the task were begun."""

    def finish(self) -> FinishedSlot:
        """Put together what the slot adds to its shard: outcome and cost."""
        self.tasks.sort(key=lambda task: task.record.replicate)
        rejections = sorted(self.rejections, key=lambda rejection: rejection.replicate)
        if rejections and not self.tasks and self.slot.authorship:
            # The price of the draft is recorded once: without a task in the slot, with its last rejection.
            rejections[-1] = rejections[-1].model_copy(update={"usd": self.slot.authorship.usage.usd})
        report = SlotReport(
            slot=self.slot.number,
            round=self.round,
            wanted=self.slot.band,
            reached=self.tasks[0].record.reached if self.tasks else None,
            task_ids=tuple(task.record.task_id for task in self.tasks),
            attempts=self.tried,
            seconds={stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            path=tuple(self.steps),
            script_seconds=tuple(sorted(self.script_seconds, key=lambda one: one.task_id)),
        )
        return FinishedSlot(
            tasks=tuple(self.tasks),
            rejections=tuple(rejections),
            report=report,
            suites=tuple(self.suites),
        )


@dataclass
class _Try:
    """One attempt of a slot, and the work spent on it so far."""

    slot: _SlotWork
    attempt: Attempt
    repeats: TaskSpec | None = None
    """The design that a replicate repeats."""
    seconds: float = 0.0
    made: Calibrated | None = None
    """The package that passed its gates, whose proof and suites are still to come."""

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
        step = AttemptReport(
            attempt=attempt.number,
            variant=attempt.variant,
            hardness=attempt.hardness,
            knobs=spec.knobs if spec else Knobs.all_at(attempt.hardness),
            train_rows=spec.sizes.train if spec else None,
            difficulty=difficulty,
            panel_s=panel_s,
            outcome=outcome,
        )
        self.slot.steps.append(step)


@dataclass
class ShardBuild:
    """The state of one shard while it is made. Results do not depend on the order in which workers finish."""

    plan: ShardPlan
    secret: bytes = field(repr=False)
    code: str
    """From `code_version`, for the lineage."""
    suites: Mapping[str, bytes]
    """Expectation suites by name; without any, the gates alone decide."""
    workers: WorkerPool
    listen: Listener = lambda _: None
    kept: Mapping[int, FinishedSlot] = field(default_factory=dict)
    """Slots that an earlier run finished, by number."""
    keep: Callable[[FinishedSlot], None] = lambda _: None
    """Is called with each slot when it is finished."""
    guards: Mapping[str, bytes] = field(default_factory=dict)
    """Salted hashes of rows and rare values of the seeds' tables, by their SHA-256."""

    def __post_init__(self) -> None:
        self._slots = [_SlotWork(slot, self.plan.round) for slot in self.plan.slots if slot.number not in self.kept]
        self._finished = dict(self.kept)
        self._running: dict[int, _Try] = {}
        refusals = {rejection.slot: rejection for rejection in self.plan.refusals}
        for slot in self._slots:
            if refusal := refusals.get(slot.slot.number):
                slot.tried, slot.is_closed = 1, True
                slot.rejections.append(refusal)

    def run(self) -> Shard:
        """Fill the slots. No slot waits for another one, so no worker waits for the slowest."""
        with self.workers.batch(JOB_TIMEOUT_S) as batch:
            for slot in self._slots:
                self._go_on(slot, batch)
            for number, outcome in batch.ended():
                one = self._running.pop(number)
                one.slot.running -= 1
                # A lost worker does not say where it was; most of an attempt is calibration.
                ended = _ending(outcome, Stage.VERIFY if one.made else Stage.CALIBRATE)
                one.spend(ended.seconds)
                if one.made:
                    self._end_proof(one, one.made, ended)
                else:
                    self._end_attempt(one, ended, batch)
                self._go_on(one.slot, batch)
        slots = [self._finished[slot.number] for slot in self.plan.slots]
        return Shard(
            tasks=tuple(task for slot in slots for task in slot.tasks),
            rejections=tuple(rejection for slot in slots for rejection in slot.rejections),
            slots=tuple(slot.report for slot in slots),
            suites=tuple(add_summaries(slot.suites for slot in slots)),
        )

    def _go_on(self, slot: _SlotWork, batch: WorkBatch) -> None:
        """Begin what comes next in a slot: an attempt, or the replicates of its task. After that it is finished.

        The attempt with the highest number goes first: the search of its slot may take the longest.
        """
        if slot.running:
            return
        if slot.is_open:
            attempt = slot.next_attempt()
            self._begin(_Try(slot, attempt), batch, attempt.number)
        elif not slot.has_replicates:
            slot.has_replicates = True
            for record in [task.record for task in slot.tasks]:
                number, spec = record.lineage.attempt, record.spec
                again = Attempt(slot.slot, self.plan.round, number, variant=0, hardness=spec.hardness, any_band=True)
                for replicate in range(1, self.plan.replicates):
                    self._begin(_Try(slot, replace(again, replicate=replicate), spec), batch, _REPLICATE)
        if not slot.running:
            finished = slot.finish()
            self._finished[slot.slot.number] = finished
            self.keep(finished)

    def _begin(self, one: _Try, batch: WorkBatch, urgency: int) -> None:
        """Submit an attempt, or the proof of its package."""
        job = AttemptJob(one.attempt, self.plan.plan_fingerprint, self.secret, one.repeats)
        function = partial(prove, secret=self.secret) if one.made else run_attempt
        self._running[batch.submit(function, one.made or job, urgency)] = one
        one.slot.running += 1

    def _end_attempt(self, one: _Try, ended: Ended[Any], batch: WorkBatch) -> None:
        """Note a failed attempt, or begin the proof of a package."""
        if isinstance(ended.result, Failed):
            self._reject(one, ended.result)
        else:
            one.made = ended.result
            self._begin(one, batch, _PROOF)
        self._tell()

    def _end_proof(self, one: _Try, made: Calibrated, ended: Ended[Any]) -> None:
        """Accept a package that is proved and passes the suites, or reject it.

        The suites run over one package, so that its verdict depends on no other package.
        """
        package, slot = made.package, one.slot
        if isinstance(ended.result, Failed):
            self._reject(one, Failed.after(made, ended.result.error))
            self._tell()
            return
        started = time.monotonic()
        checked = check_suites(package, self.suites)
        slot.suites = add_summaries([slot.suites, checked.suites])
        one.spend({Stage.CHECK: time.monotonic() - started})
        findings = [*checked.findings]
        if guard := slot.slot.seed.guard:
            findings += check_seed_rows(package, self.guards[guard])
        if findings:
            self._reject(one, Failed.after(made, rejection_of(findings)))
            self._tell()
            return
        made = made.with_script(ended.reader) if ended.reader else made
        slot.tasks.append(make_task(made, one.attempt, ended.result, self.plan, self.code, self.secret))
        slot.script_seconds += [made.script_seconds] if made.script_seconds else []
        slot.is_closed = True
        one.note_step("verified", package.spec, made.calibration.difficulty.value, made.panel_s)
        self._tell(is_news=True)

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
            one.slot.note_fault()
        one.note_step(error.reason, failed.spec, failed.difficulty, failed.panel_s)

    def _tell(self, *, is_news: bool = False) -> None:
        """Report the state."""
        slots: list[_SlotWork | FinishedSlot] = [*self._slots, *self.kept.values()]
        rejections = [one for slot in slots for one in slot.rejections]
        firsts = [slot.tasks[0].record for slot in slots if slot.tasks]
        progress = ShardProgress(
            made=len(firsts),
            rejected=len(rejections),
            is_news=is_news,
            in_band=sum(record.reached == record.wanted for record in firsts),
            steered=sum(one.reason == OFF_BAND for one in rejections),
        )
        self.listen(progress)


def _ending(outcome: Any, stage: Stage) -> Ended[Any]:
    """Return how a job ended. One that did not return is an internal error of the stage, or a design that is too slow.

    A design that takes too long is itself at fault.
    """
    if isinstance(outcome, WorkerTimeout):
        return Ended(Failed(ItemRejected(stage, "timeout", str(outcome))))
    if isinstance(outcome, Exception):
        return Ended(Failed(internal_error(stage, outcome)))
    ended: Ended[Any] = outcome
    return ended
