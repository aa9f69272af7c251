"""Make one shard: waves of attempts, and proofs of what they found, until slots are filled or spent."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandmill.design import accepted_range
from sandmill.errors import ItemRejected
from sandmill.models.base import Stage
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskPackage
from sandmill.models.plan import ShardPlan
from sandmill.models.release import VerifiedTask
from sandmill.models.reports import AttemptReport, Rejection, SlotReport, Verification
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.pipeline.band_search import OFF_BAND, Attempt, Measured, SlotSearch
from sandmill.pipeline.jobs import Done, GenerateJob, VerifyJob, generate, perform, verify_package
from sandmill.pipeline.measuring import CalibrateJob, OffBand, calibrate_design
from sandmill.pipeline.progress import Listener, Progress, ignore
from sandmill.pipeline.records import make_task
from sandmill.quality import Finding, check_package, check_packages
from sandmill.synth import Pilot

STEP_TIMEOUT_S = 180.0
"""Wall-clock limit of one piece of work; a design that takes longer is rejected."""


class Workers(Protocol):
    """Something that runs picklable functions over items, such as `WorkerPool`."""

    def map(self, function: Any, items: Any, timeout_s: float) -> Iterator[tuple[int, Any]]:
        """Yield (index, result or exception) as items complete."""


@dataclass(frozen=True)
class Shard:
    """What was made of a plan, still in memory."""

    tasks: tuple[VerifiedTask, ...]
    rejections: tuple[Rejection, ...]
    slots: tuple[SlotReport, ...]
    suites: tuple[dict[str, Any], ...]
    """Results of the expectation suites, one row an expectation and wave."""


@dataclass
class _Candidate:
    """One attempt on its way through the stages, with what each stage added."""

    search: SlotSearch
    attempt: Attempt
    spec: TaskSpec | None = None
    """A design that exists already, for replicates."""
    seconds: float = 0.0
    pilot: Pilot | None = None
    package: TaskPackage | None = None
    calibration: Calibration | None = None
    scripts: Mapping[str, str] = field(default_factory=dict)
    difficulty: float | None = None
    panel_s: float | None = None
    isolation: str | None = None

    @property
    def design(self) -> TaskSpec | None:
        """The design, once there is one."""
        return self.pilot.spec if self.pilot else self.package.spec if self.package else self.spec

    def require_pilot(self) -> Pilot:
        """The pilot, which calibrate starts from."""
        if self.pilot is None:
            raise ValueError("no rows drawn yet")
        return self.pilot

    def require_package(self) -> TaskPackage:
        """The package, which every stage after calibrate has."""
        if self.package is None:
            raise ValueError("not rendered yet")
        return self.package

    def require_calibration(self) -> Calibration:
        """The measures, which every stage after calibrate has."""
        if self.calibration is None:
            raise ValueError("not calibrated yet")
        return self.calibration


class ShardBuild:
    """The state of one shard while it is made. Results do not depend on the order in which workers finish.

    Args:
        plan: slots to fill.
        secret: release secret.
        code: from `code_version`, for the lineage.
        suites: expectation suites by name; none leaves the gates alone.
        workers: where pieces of work run.
        listen: hears of every piece of work that ends.
    """

    def __init__(
        self,
        plan: ShardPlan,
        secret: bytes,
        code: str,
        suites: Mapping[str, bytes],
        workers: Workers,
        listen: Listener = ignore,
    ) -> None:
        self._plan, self._secret, self._code, self._suites = plan, secret, code, suites
        self._workers, self._listen = workers, listen
        self._searches = [SlotSearch(slot, plan.round) for slot in plan.slots]
        refusals = {rejection.slot: rejection for rejection in plan.refusals}
        for search in self._searches:
            if search.slot.number in refusals:
                search.refuse(refusals[search.slot.number])
        self._tasks: list[VerifiedTask] = []
        self._suite_rows: list[dict[str, Any]] = []

    def run(self) -> Shard:
        """Fill the slots, then render the replicates of what was verified."""
        while waiting := [search for search in self._searches if search.is_open]:
            self._prove(self._search(waiting))
        self._prove(self._measure([candidate for search in self._searches for candidate in self._replicates(search)]))
        return Shard(
            tasks=tuple(sorted(self._tasks, key=lambda task: (task.record.lineage.slot, task.record.replicate))),
            rejections=tuple(rejection for search in self._searches for rejection in _booked(search)),
            slots=tuple(self._report(search) for search in self._searches),
            suites=tuple(self._suite_rows),
        )

    def _search(self, waiting: list[SlotSearch]) -> list[_Candidate]:
        """Attempt in waves until each slot has a calibrated package or is spent.

        What is found is checked and proved together: the suites cost as much for one package as for twenty.
        """
        found: list[_Candidate] = []
        while waiting := [search for search in waiting if search.is_open]:
            found += self._measure([_Candidate(search, search.next_attempt()) for search in waiting])
            held = {candidate.search.slot.number for candidate in found}
            waiting = [search for search in waiting if search.slot.number not in held]
        return found

    def _measure(self, candidates: list[_Candidate]) -> list[_Candidate]:
        return self._pass(candidates, self._generate, self._calibrate)

    def _prove(self, candidates: list[_Candidate]) -> list[_Candidate]:
        return self._pass(candidates, self._check, self._verify)

    def _pass(
        self, candidates: list[_Candidate], *stages: Callable[[list[_Candidate]], list[_Candidate]]
    ) -> list[_Candidate]:
        for stage in stages:
            if candidates:
                candidates = stage(candidates)
        return candidates

    def _generate(self, candidates: list[_Candidate]) -> list[_Candidate]:
        jobs = [GenerateJob(c.attempt, self._plan.plan_fingerprint, self._secret, c.spec) for c in candidates]
        survivors = []
        for candidate, generated in self._run(Stage.GENERATE, generate, candidates, jobs):
            candidate.pilot = generated.pilot
            # The job was booked on generate as a whole: move the part that was design.
            candidate.search.add_seconds(Stage.DESIGN, generated.design_s)
            candidate.search.add_seconds(Stage.GENERATE, -generated.design_s)
            survivors.append(candidate)
        return survivors

    def _check(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """All packages of the wave at once: one validation a suite, whatever their number."""
        started = time.monotonic()
        packages = [candidate.require_package() for candidate in candidates]
        checked = check_packages(packages, self._suites, self._run_gates)
        self._suite_rows += checked.suites
        share = (time.monotonic() - started) / len(candidates)
        survivors = []
        for candidate in candidates:
            self._spend(candidate, Stage.CHECK, share)
            findings = checked.findings[candidate.require_package().task_id]
            if findings:
                detail = "; ".join(str(finding) for finding in findings)
                self._reject(candidate, ItemRejected(Stage.CHECK, findings[0].gate, detail))
            else:
                survivors.append(candidate)
        self._tell(Stage.CHECK, len(candidates), len(candidates))
        return survivors

    def _run_gates(self, packages: Sequence[TaskPackage]) -> list[Sequence[Finding]]:
        outcomes = dict(self._workers.map(check_package, packages, STEP_TIMEOUT_S))
        return [
            [Finding(package.task_id, "error", f"the gates did not end: {outcomes[index]}")]
            if isinstance(outcomes[index], Exception)
            else outcomes[index]
            for index, package in enumerate(packages)
        ]

    def _calibrate(self, candidates: list[_Candidate]) -> list[_Candidate]:
        jobs = [CalibrateJob(c.attempt, c.require_pilot(), self._secret) for c in candidates]
        survivors = []
        for candidate, measured in self._run(Stage.CALIBRATE, calibrate_design, candidates, jobs):
            if isinstance(measured, OffBand):
                self._note_off_band(candidate, measured)
            else:
                candidate.package, candidate.calibration = measured.package, measured.calibration
                candidate.scripts, candidate.panel_s = measured.scripts, round(measured.panel_s, 4)
                candidate.difficulty = measured.calibration.difficulty.value
                candidate.pilot = None
                survivors.append(candidate)
        return survivors

    def _verify(self, candidates: list[_Candidate]) -> list[_Candidate]:
        jobs = [VerifyJob(c.require_package(), c.require_calibration(), c.scripts, self._secret) for c in candidates]
        survivors = []
        for candidate, proved in self._run(Stage.VERIFY, verify_package, candidates, jobs):
            candidate.isolation = proved.isolation
            self._accept(candidate, proved.verification)
            survivors.append(candidate)
        return survivors

    def _run(
        self, stage: Stage, function: Callable[[Any], Any], candidates: list[_Candidate], jobs: Sequence[Any]
    ) -> Iterator[tuple[_Candidate, Any]]:
        """Run one job for each candidate in the workers; reject what fails, yield the rest in the order of the jobs."""
        outcomes: dict[int, Done | Exception] = {}
        for index, outcome in self._workers.map(perform, [(function, job) for job in jobs], STEP_TIMEOUT_S):
            outcomes[index] = outcome
            self._tell(stage, len(outcomes), len(jobs))
        for index in sorted(outcomes):
            candidate, outcome = candidates[index], outcomes[index]
            if isinstance(outcome, Exception):
                self._reject(candidate, ItemRejected(stage, "error", f"{type(outcome).__name__}: {outcome}"))
                continue
            self._spend(candidate, stage, outcome.seconds)
            if isinstance(outcome.result, ItemRejected):
                self._reject(candidate, outcome.result)
            else:
                yield candidate, outcome.result

    def _accept(self, candidate: _Candidate, verification: Verification) -> None:
        package, calibration = candidate.require_package(), candidate.require_calibration()
        task = make_task(
            package,
            candidate.attempt,
            calibration,
            candidate.scripts,
            verification,
            self._plan,
            self._code,
            self._secret,
        )
        self._tasks.append(task)
        candidate.search.is_filled = True
        candidate.difficulty = calibration.difficulty.value
        self._note_step(candidate, "verified")
        difficulty = calibration.difficulty
        self._tell(
            Stage.VERIFY, task=f"{package.task_id} {package.spec.domain} {difficulty.band} {difficulty.value:.2f}"
        )

    def _replicates(self, search: SlotSearch) -> Iterator[_Candidate]:
        """Further renderings of a slot's verified design, of whatever band they turn out to be."""
        for task in [task for task in self._tasks if task.record.lineage.slot == search.slot.number]:
            for replicate in range(1, self._plan.replicates):
                attempt = Attempt(
                    slot=search.slot,
                    round=self._plan.round,
                    number=task.record.lineage.attempt,
                    variant=0,
                    hardness=task.record.spec.hardness,
                    any_band=True,
                    replicate=replicate,
                )
                yield _Candidate(search, attempt, task.record.spec)

    def _note_off_band(self, candidate: _Candidate, measured: OffBand) -> None:
        attempt, difficulty = candidate.attempt, measured.difficulty
        fingerprint = candidate.require_pilot().spec.fingerprint
        candidate.search.note_off_band(Measured(attempt, fingerprint, difficulty.value))
        candidate.difficulty = difficulty.value
        low, high = accepted_range(attempt.slot.band)
        detail = f"difficulty {difficulty.value:.2f}; accepted_range {low:g} to {high:g} for {attempt.slot.band}"
        self._reject(candidate, ItemRejected(Stage.CALIBRATE, OFF_BAND, detail))

    def _reject(self, candidate: _Candidate, error: ItemRejected) -> None:
        rejection = Rejection(
            slot=candidate.search.slot.number,
            round=candidate.attempt.round,
            attempt=candidate.attempt.number,
            replicate=candidate.attempt.replicate,
            seed_id=candidate.search.slot.seed.id,
            stage=Stage(error.stage),
            reason=error.reason,
            detail=error.detail,
            seconds=round(candidate.seconds, 4),
        )
        candidate.search.note_rejection(rejection)
        self._note_step(candidate, error.reason)

    def _note_step(self, candidate: _Candidate, outcome: str) -> None:
        """Record where the knobs stood and what came of it; a replicate repeats a step that is recorded."""
        attempt = candidate.attempt
        if attempt.replicate:
            return
        candidate.search.note_step(
            AttemptReport(
                attempt=attempt.number,
                variant=attempt.variant,
                hardness=attempt.hardness,
                knobs=candidate.design.knobs if candidate.design else Knobs.all_at(attempt.hardness),
                train_rows=candidate.design.sizes.train if candidate.design else None,
                difficulty=candidate.difficulty,
                panel_s=candidate.panel_s,
                isolation=candidate.isolation,
                outcome=outcome,
            )
        )

    def _spend(self, candidate: _Candidate, stage: Stage, seconds: float) -> None:
        candidate.seconds += seconds
        candidate.search.add_seconds(stage, seconds)

    def _report(self, search: SlotSearch) -> SlotReport:
        records = [task.record for task in self._tasks if task.record.lineage.slot == search.slot.number]
        first = min(records, key=lambda record: record.replicate, default=None)
        return SlotReport(
            slot=search.slot.number,
            round=self._plan.round,
            wanted=search.slot.band,
            reached=first.calibration.difficulty.band if first else None,
            task_ids=tuple(record.task_id for record in records),
            attempts=search.tried,
            seconds={stage: round(seconds, 4) for stage, seconds in search.seconds.items()},
            path=tuple(search.steps),
        )

    def _tell(self, stage: Stage, done: int = 0, total: int = 0, task: str = "") -> None:
        self._listen(
            Progress(
                shard=self._plan.key,
                stage=stage,
                slots=len(self._searches),
                filled=sum(search.is_filled for search in self._searches),
                attempts=sum(search.tried for search in self._searches),
                rejected=sum(len(search.rejections) for search in self._searches),
                done=done,
                total=total,
                task=task,
            )
        )


def _booked(search: SlotSearch) -> list[Rejection]:
    """Book what the draft of a slot that stayed empty cost on its last rejection: no task will account for it."""
    authorship = search.slot.authorship
    if search.is_filled or authorship is None or not search.rejections:
        return search.rejections
    *earlier, last = search.rejections
    return [*earlier, last.model_copy(update={"usd": authorship.usage.usd})]
