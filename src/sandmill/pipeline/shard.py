"""Make one shard: attempts in waves until each slot has a candidate or is spent, then suites and proofs."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sandmill.errors import INTERNAL_ERROR, ItemRejected, internal_error
from sandmill.models.base import Stage
from sandmill.models.package import TaskPackage
from sandmill.models.plan import ShardPlan
from sandmill.models.release import VerifiedTask
from sandmill.models.reports import AttemptReport, Rejection, SlotReport, Verification
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.pipeline.attempt import AttemptJob, Ended, Failed, Result, prove, rejection_of, run_attempt
from sandmill.pipeline.band_search import Attempt, Miss, OffBand, SlotSearch
from sandmill.pipeline.measuring import Calibrated
from sandmill.pipeline.records import make_task
from sandmill.pipeline.workers import WorkerPool, WorkerTimeout
from sandmill.quality import check_suites

JOB_TIMEOUT_S = 300.0
"""Wall-clock seconds that one attempt or one proof may take. A slower design is rejected."""


@dataclass(frozen=True)
class Progress:
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
    """Pieces of work of this wave that have ended, of `total`."""
    total: int = 0
    is_stored: bool = False
    """The shard is finished and kept. This is its last report."""
    task: str = ""
    """The task that was just verified: id, domain, band, difficulty."""


Listener = Callable[[Progress], None]


@dataclass(frozen=True)
class Shard:
    """The results of a plan, in memory."""

    tasks: tuple[VerifiedTask, ...]
    rejections: tuple[Rejection, ...]
    slots: tuple[SlotReport, ...]
    suites: tuple[dict[str, Any], ...]
    """Results of the expectation suites, one row an expectation and wave."""
    rejects: tuple[tuple[Rejection, TaskPackage], ...]
    """The packages that were rejected last, at most as many as `--keep-rejects` asks for."""


@dataclass
class _Slot(SlotSearch):
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
            reached=first.calibration.difficulty.band if first else None,
            task_ids=tuple(task.record.task_id for task in self.tasks),
            attempts=self.tried,
            seconds={stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            path=tuple(self.steps),
        )

    def booked_rejections(self) -> list[Rejection]:
        """Book the price of the draft on the last rejection if the slot stays empty: no task accounts for it."""
        authorship = self.slot.authorship
        if self.tasks or authorship is None or not self.rejections:
            return self.rejections
        *earlier, last = self.rejections
        return [*earlier, last.model_copy(update={"usd": authorship.usage.usd})]


@dataclass
class _Try:
    """One attempt of a slot, and the work spent on it so far."""

    slot: _Slot
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


_Candidate = tuple[_Try, Calibrated]
"""An attempt whose package passed its gates; the suites and the proof are still to come."""


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
        self._slots = [_Slot(slot, self.plan.round) for slot in self.plan.slots]
        self._suite_rows: list[dict[str, Any]] = []
        self._rejects: deque[tuple[Rejection, TaskPackage]] = deque(maxlen=self.keep_rejects)
        refusals = {rejection.slot: rejection for rejection in self.plan.refusals}
        for slot in self._slots:
            if refusal := refusals.get(slot.slot.number):
                slot.tried, slot.is_closed = 1, True
                slot.rejections.append(refusal)

    def run(self) -> Shard:
        """Fill the slots, then render the replicates of verified designs."""
        while waiting := [slot for slot in self._slots if slot.is_open]:
            self._prove(self._search(waiting))
        self._prove(self._attempt([one for slot in self._slots for one in self._replicates(slot)]))
        tasks = [task for slot in self._slots for task in slot.tasks]
        return Shard(
            tasks=tuple(sorted(tasks, key=lambda task: (task.record.lineage.slot, task.record.replicate))),
            rejections=tuple(rejection for slot in self._slots for rejection in slot.booked_rejections()),
            slots=tuple(slot.report() for slot in self._slots),
            suites=tuple(self._suite_rows),
            rejects=tuple(self._rejects),
        )

    def _search(self, waiting: list[_Slot]) -> list[_Candidate]:
        """Attempt in waves until each slot has a candidate or is spent.

        Suites and proofs wait for all slots: the suites cost as much for one package as for twenty.
        """
        found: list[_Candidate] = []
        while waiting := [slot for slot in waiting if slot.is_open]:
            wave = self._attempt([_Try(slot, slot.next_attempt()) for slot in waiting])
            found += wave
            waiting = [slot for slot in waiting if not any(slot is one.slot for one, _ in wave)]
        return found

    def _replicates(self, slot: _Slot) -> Iterator[_Try]:
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

    def _attempt(self, tries: list[_Try]) -> list[_Candidate]:
        plan, keeps = self.plan.plan_fingerprint, self.keep_rejects > 0
        jobs = [AttemptJob(one.attempt, plan, self.secret, one.repeats, keeps) for one in tries]
        found: list[_Candidate] = []
        # A lost worker does not say where it was; most of an attempt is calibration.
        for one, ended in zip(tries, self._work(run_attempt, jobs, Stage.CALIBRATE), strict=True):
            one.spend(ended.seconds)
            if isinstance(ended.result, Failed):
                self._reject(one, ended.result)
            else:
                found.append((one, ended.result))
        return found

    def _prove(self, candidates: list[_Candidate]) -> None:
        sound = self._check(candidates)
        proofs = self._work(partial(prove, secret=self.secret), [made for _, made in sound], Stage.VERIFY)
        for (one, made), proof in zip(sound, proofs, strict=True):
            one.spend(proof.seconds)
            if isinstance(proof.result, Failed):
                self._reject(one, Failed.after(made, proof.result.error))
            else:
                self._accept(one, made, proof.result)

    def _check(self, candidates: list[_Candidate]) -> list[_Candidate]:
        if not candidates:
            return []
        started = time.monotonic()
        checked = check_suites([made.package for _, made in candidates], self.suites)
        self._suite_rows += checked.suites
        share = (time.monotonic() - started) / len(candidates)
        sound = []
        for one, made in candidates:
            one.spend({Stage.CHECK: share})
            if findings := checked.findings.get(made.package.task_id):
                self._reject(one, Failed.after(made, rejection_of(findings)))
            else:
                sound.append((one, made))
        self._tell(Stage.CHECK, len(candidates), len(candidates))
        return sound

    def _work(self, function: Callable[[Any], Ended[Result]], jobs: Sequence[Any], stage: Stage) -> list[Ended[Result]]:
        """Run jobs in the workers. Return their results in the order of the jobs.

        A job that does not return is an internal error of the stage. A design that takes too long is itself at fault.
        """
        ended: dict[int, Ended[Result]] = {}
        for index, outcome in self.workers.map(function, jobs, JOB_TIMEOUT_S) if jobs else ():
            if isinstance(outcome, WorkerTimeout):
                outcome = Ended(Failed(ItemRejected(stage, "timeout", str(outcome))), stage)
            elif isinstance(outcome, Exception):
                outcome = Ended(Failed(internal_error(stage, outcome)), stage)
            ended[index] = outcome
            self._tell(outcome.stage, len(ended), len(jobs))
        return [ended[index] for index in range(len(jobs))]

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
            one.slot.note_miss(Miss(attempt, failed.spec.fingerprint, error.difficulty))
        else:
            one.slot.start_over()
        one.note_step(error.reason, failed.spec, failed.difficulty, failed.panel_s)
        if failed.package:
            self._rejects.append((rejection, failed.package))

    def _tell(self, stage: Stage, done: int = 0, total: int = 0, task: str = "") -> None:
        self.listen(
            Progress(
                stage=stage,
                slots=len(self._slots),
                filled=sum(bool(slot.tasks) for slot in self._slots),
                attempts=sum(slot.tried for slot in self._slots),
                rejected=sum(len(slot.rejections) for slot in self._slots),
                done=done,
                total=total,
                task=task,
            )
        )
