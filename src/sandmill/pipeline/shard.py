"""Make one shard: attempts in waves until each slot has a candidate or is spent, then suites and proofs."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from sandmill.errors import INTERNAL_ERROR, ItemRejected, internal_error
from sandmill.models.base import Stage
from sandmill.models.package import TaskPackage
from sandmill.models.plan import ShardPlan
from sandmill.models.release import VerifiedTask
from sandmill.models.reports import AttemptReport, Rejection, SlotReport, Verification
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.pipeline.attempt import Attempted, AttemptJob, Failed, Proof, ProofJob, Unsound, prove, run_attempt
from sandmill.pipeline.band_search import OFF_BAND, Attempt, Miss, SlotSearch
from sandmill.pipeline.measuring import Calibrated, OffBand
from sandmill.pipeline.progress import Listener, Progress, ignore
from sandmill.pipeline.records import make_task
from sandmill.pipeline.workers import WorkerTimeout
from sandmill.quality import check_suites

JOB_TIMEOUT_S = 300.0
"""Wall-clock seconds that one attempt or one proof may take. A slower design is rejected."""

Ended = TypeVar("Ended", Attempted, Proof)


class Workers(Protocol):
    """Runs picklable functions over items, as `WorkerPool` does."""

    def map(self, function: Any, items: Any, timeout_s: float) -> Iterator[tuple[int, Any]]:
        """Yield (index, result or exception) as items complete."""


@dataclass(frozen=True)
class Reject:
    """The package of a rejected attempt, kept for a person to look at."""

    rejection: Rejection
    package: TaskPackage


@dataclass(frozen=True)
class Shard:
    """The results of a plan, in memory."""

    tasks: tuple[VerifiedTask, ...]
    rejections: tuple[Rejection, ...]
    slots: tuple[SlotReport, ...]
    suites: tuple[dict[str, Any], ...]
    """Results of the expectation suites, one row an expectation and wave."""
    rejects: tuple[Reject, ...]
    """The last rejected packages, if any are to be kept."""


@dataclass
class _Slot:
    """One slot: its search and what is reported of it."""

    search: SlotSearch
    tasks: list[VerifiedTask] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    steps: list[AttemptReport] = field(default_factory=list)
    seconds: dict[Stage, float] = field(default_factory=dict)

    def report(self) -> SlotReport:
        """Sum up cost and outcome."""
        first = min((task.record for task in self.tasks), key=lambda record: record.replicate, default=None)
        return SlotReport(
            slot=self.search.slot.number,
            round=self.search.round,
            wanted=self.search.slot.band,
            reached=first.calibration.difficulty.band if first else None,
            task_ids=tuple(task.record.task_id for task in self.tasks),
            attempts=self.search.tried,
            seconds={stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            path=tuple(self.steps),
        )

    def booked_rejections(self) -> list[Rejection]:
        """Book the price of the draft on the last rejection if the slot stays empty: no task accounts for it."""
        authorship = self.search.slot.authorship
        if self.tasks or authorship is None or not self.rejections:
            return self.rejections
        *earlier, last = self.rejections
        return [*earlier, last.model_copy(update={"usd": authorship.usage.usd})]


@dataclass
class _Try:
    """One attempt of a slot and the work spent on it so far."""

    slot: _Slot
    attempt: Attempt
    spec: TaskSpec | None = None
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


class ShardBuild:
    """The state of one shard while it is made. Results do not depend on the order in which workers finish.

    Args:
        plan: slots to fill.
        secret: release secret.
        code: from `code_version`, for the lineage.
        suites: expectation suites by name; without any, the gates alone decide.
        workers: where attempts and proofs run.
        listen: receives progress as work ends.
        keep_rejects: number of rejected packages to return, the last ones.
    """

    def __init__(
        self,
        plan: ShardPlan,
        secret: bytes,
        code: str,
        suites: Mapping[str, bytes],
        workers: Workers,
        listen: Listener = ignore,
        keep_rejects: int = 0,
    ) -> None:
        self._plan, self._secret, self._code, self._suites = plan, secret, code, suites
        self._workers, self._listen = workers, listen
        self._slots = [_Slot(SlotSearch(slot, plan.round)) for slot in plan.slots]
        self._suite_rows: list[dict[str, Any]] = []
        self._rejects: deque[Reject] = deque(maxlen=keep_rejects)
        refusals = {rejection.slot: rejection for rejection in plan.refusals}
        for slot in self._slots:
            if refusal := refusals.get(slot.search.slot.number):
                slot.search.tried, slot.search.is_closed = 1, True
                slot.rejections.append(refusal)

    def run(self) -> Shard:
        """Fill the slots, then render the replicates of verified designs."""
        while waiting := [slot for slot in self._slots if slot.search.is_open]:
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
        while waiting := [slot for slot in waiting if slot.search.is_open]:
            wave = self._attempt([_Try(slot, slot.search.next_attempt()) for slot in waiting])
            found += wave
            waiting = [slot for slot in waiting if not any(slot is one.slot for one, _ in wave)]
        return found

    def _replicates(self, slot: _Slot) -> Iterator[_Try]:
        """Make the tries that render a slot's verified design again. They are accepted in any band."""
        for record in [task.record for task in slot.tasks]:
            for replicate in range(1, self._plan.replicates):
                attempt = Attempt(
                    slot=slot.search.slot,
                    round=self._plan.round,
                    number=record.lineage.attempt,
                    variant=0,
                    hardness=record.spec.hardness,
                    any_band=True,
                    replicate=replicate,
                )
                yield _Try(slot, attempt, record.spec)

    def _attempt(self, tries: list[_Try]) -> list[_Candidate]:
        """Run a wave of attempts. Return the candidates; tell the searches about misses, and record all rejections."""
        keeps = bool(self._rejects.maxlen)
        jobs = [AttemptJob(one.attempt, self._plan.plan_fingerprint, self._secret, one.spec, keeps) for one in tries]
        # A lost worker does not say where it was; most of an attempt is calibration.
        stage = Stage.CALIBRATE
        ended = self._work(run_attempt, jobs, lambda error: Attempted(Failed(_fault(stage, error), None), stage, {}))
        found = []
        for one, attempted in zip(tries, ended, strict=True):
            one.spend(attempted.seconds)
            result = attempted.result
            if isinstance(result, Calibrated):
                found.append((one, result))
            elif isinstance(result, Unsound):
                self._reject_calibrated(one, result.calibrated, result.error)
            elif isinstance(result, OffBand):
                miss = Miss(one.attempt, result.spec.fingerprint, result.difficulty.value)
                one.slot.search.note_miss(miss)
                self._reject(one, miss.rejection, attempted.reject)
                one.note_step(OFF_BAND, result.spec, miss.difficulty, None)
            else:
                self._reject(one, result.error, attempted.reject)
                one.note_step(result.error.reason, result.spec, None, None)
        return found

    def _prove(self, candidates: list[_Candidate]) -> None:
        """Run the suites over all candidates at once, then one proof for each."""
        sound = self._check(candidates)
        jobs = [ProofJob(made, self._secret) for _, made in sound]
        ended = self._work(prove, jobs, lambda error: Proof(_fault(Stage.VERIFY, error), {}))
        for (one, made), proof in zip(sound, ended, strict=True):
            one.spend(proof.seconds)
            if isinstance(proof.result, ItemRejected):
                self._reject_calibrated(one, made, proof.result)
            else:
                self._accept(one, made, proof.result)

    def _check(self, candidates: list[_Candidate]) -> list[_Candidate]:
        if not candidates:
            return []
        started = time.monotonic()
        checked = check_suites([made.package for _, made in candidates], self._suites)
        self._suite_rows += checked.suites
        share = (time.monotonic() - started) / len(candidates)
        sound = []
        for one, made in candidates:
            one.spend({Stage.CHECK: share})
            if findings := checked.findings.get(made.package.task_id):
                error = ItemRejected(Stage.CHECK, findings[0].gate, "; ".join(map(str, findings)))
                self._reject_calibrated(one, made, error)
            else:
                sound.append((one, made))
        self._tell(Stage.CHECK, len(candidates), len(candidates))
        return sound

    def _work(
        self, function: Callable[[Any], Ended], jobs: Sequence[Any], when_lost: Callable[[Exception], Ended]
    ) -> list[Ended]:
        """Run jobs in the workers. Return their results in the order of the jobs."""
        ended: dict[int, Ended] = {}
        for index, outcome in self._workers.map(function, jobs, JOB_TIMEOUT_S) if jobs else ():
            ended[index] = when_lost(outcome) if isinstance(outcome, Exception) else outcome
            self._tell(ended[index].stage, len(ended), len(jobs))
        return [ended[index] for index in range(len(jobs))]

    def _accept(self, one: _Try, made: Calibrated, verification: Verification) -> None:
        package, calibration = made.package, made.calibration
        task = make_task(
            package, one.attempt, calibration, made.scripts, verification, self._plan, self._code, self._secret
        )
        one.slot.tasks.append(task)
        one.slot.search.is_closed = True
        difficulty = calibration.difficulty
        one.note_step("verified", package.spec, difficulty.value, made.panel_s)
        self._tell(
            Stage.VERIFY, task=f"{package.task_id} {package.spec.domain} {difficulty.band} {difficulty.value:.2f}"
        )

    def _reject_calibrated(self, one: _Try, made: Calibrated, error: ItemRejected) -> None:
        self._reject(one, error, made.package)
        one.note_step(error.reason, made.package.spec, made.calibration.difficulty.value, made.panel_s)

    def _reject(self, one: _Try, error: ItemRejected, package: TaskPackage | None) -> None:
        attempt = one.attempt
        is_internal = error.reason == INTERNAL_ERROR
        rejection = Rejection(
            slot=attempt.slot.number,
            round=attempt.round,
            attempt=attempt.number,
            replicate=attempt.replicate,
            seed_id=attempt.slot.seed.id,
            stage=Stage(error.stage),
            reason=error.reason,
            detail=error.detail.partition(":")[0] if is_internal else error.detail,
            seconds=round(one.seconds, 4),
            traceback=error.traceback,
        )
        one.slot.rejections.append(rejection)
        if error.reason != OFF_BAND:
            one.slot.search.start_over()
        if package is not None:
            self._rejects.append(Reject(rejection, package))

    def _tell(self, stage: Stage, done: int = 0, total: int = 0, task: str = "") -> None:
        self._listen(
            Progress(
                shard=self._plan.key,
                stage=stage,
                slots=len(self._slots),
                filled=sum(bool(slot.tasks) for slot in self._slots),
                attempts=sum(slot.search.tried for slot in self._slots),
                rejected=sum(len(slot.rejections) for slot in self._slots),
                done=done,
                total=total,
                task=task,
            )
        )


def _fault(stage: Stage, error: Exception) -> ItemRejected:
    """Describe a job that did not return. A design that takes too long is at fault itself."""
    if isinstance(error, WorkerTimeout):
        return ItemRejected(stage, "timeout", str(error))
    return internal_error(stage, error)
