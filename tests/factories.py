"""Small parts made by hand, for tests that need a verified task but not a build."""

from hashlib import sha256
from typing import Any

from sandmill.fingerprint import canonical_json, digest, files_digest
from sandmill.models.base import Band, Stage
from sandmill.models.calibration import BoardEntry, Calibration, Difficulty, Sizing, Steadiness, Thresholds, Tier
from sandmill.models.columns import Column, Normal
from sandmill.models.links import BinaryLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Linear, Term
from sandmill.models.package import TaskFacts, TaskFile, TaskPackage
from sandmill.models.plan import ShardPlan, Slot
from sandmill.models.release import Lineage, TaskRecord, VerifiedTask
from sandmill.models.reports import AttemptReport, Rejection, SlotReport, Verification
from sandmill.models.seed import SeedTask
from sandmill.models.spec import Knobs, Sizes, Story, TaskSpec
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind

STRUCTURE = Structure(modality=Modality.TABULAR, target=TargetKind.BINARY, metric=MetricName.ROC_AUC)

BRIEF = TaskFacts(
    id_column="id",
    target_column="late",
    target=TargetKind.BINARY,
    metric=MetricName.ROC_AUC,
    encoding="probability",
    classes=("0", "1"),
    submission_columns=("late",),
)

STEADINESS = Steadiness(
    gold=(0.84, 0.86), silver=(0.81, 0.83), bronze=(0.79, 0.81), median=(0.74, 0.76), order_held=0.97
)

STEADY = {
    "feedback_thresholds": Thresholds(gold=0.84, silver=0.81, bronze=0.79, median=0.74),
    "steps": (0.075, 0.05, 0.125),
    "steadiness": STEADINESS,
    "sizing": Sizing(pilot_rows=2000, final_rows=100, order_foretold=0.98),
}
"""How sure thresholds are, for calibrations that are about something else."""

FACTS = {
    "reference_is_gold": True,
    "scripts_repeat": True,
    "sample_wins_nothing": True,
    "noop_wins_nothing": True,
    "is_micro": True,
    "best_is_known": True,
    "thresholds_hold": True,
    "difficulty_holds": True,
    "nothing_given_away": True,
    "renders_equal_bytes": True,
}

CALIBRATION = Calibration(
    is_lower_better=False,
    trivial=0.5,
    oracle=0.9,
    oracle_is_exact=True,
    board=(
        BoardEntry(solver="search", tier=Tier.SEARCH, final=0.85, feedback=0.84),
        BoardEntry(solver="logistic", tier=Tier.COMPETENT, final=0.8, feedback=0.79),
        BoardEntry(solver="mean", tier=Tier.TRIVIAL, final=0.5, feedback=0.5),
    ),
    thresholds=Thresholds(gold=0.85, silver=0.82, bronze=0.8, median=0.75),
    **STEADY,
    difficulty=Difficulty(value=0.3, low=0.2, high=0.4, band=Band.MEDIUM),
    reference="search",
    informed=0.87,
)

VERIFICATION = Verification(reference_score=0.85, **FACTS)


def make_seed(seed_id: str = "parcels") -> SeedTask:
    """Make a seed that names no real data."""
    return SeedTask(
        id=seed_id, title="Parcels", summary="Late or not.", structure=STRUCTURE, source="tests", licence="none"
    )


def make_spec(number: int = 0) -> TaskSpec:
    """Make a design with one normal column and a binary target."""
    mechanism = Mechanism(
        columns=(Column(name="weight_kg", distribution=Normal(mean=5.0 + number, sd=1.0)),),
        terms=(Term(motif=Linear(column="weight_kg"), center=5.0, weights=(1.5,)),),
        link=BinaryLink(intercept=0.0),
    )
    story = Story(
        title="Late parcels",
        overview="A courier wants to know which parcels arrive late.",
        row="one parcel handed to a courier",
        target="late",
        target_meaning="1 if the parcel arrived late",
        column_meanings={"weight_kg": "weight of the parcel in kilograms"},
    )
    return TaskSpec(
        seed_id="parcels",
        structure=STRUCTURE,
        domain="logistics",
        story=story,
        target=TargetKind.BINARY,
        metric=MetricName.ROC_AUC,
        mechanism=mechanism,
        sizes=Sizes(train=50, feedback=100, final=100),
        wanted=Band.MEDIUM,
        hardness=0.5,
    )


def make_package(number: int = 0, replicate: int = 0) -> TaskPackage:
    """Make a rendered task of a few bytes, private/task.json included."""
    spec, task_id = make_spec(number), sha256(f"{number}/{replicate}".encode()).hexdigest()[:16]
    file = TaskFile(task_id=task_id, replicate=replicate, facts=BRIEF, calibration=CALIBRATION, spec=spec)
    return TaskPackage(
        task_id=task_id,
        replicate=replicate,
        spec=spec,
        facts=BRIEF,
        public={
            "description.md": f"# Late parcels {number}\n\nPredict `late`.\n".encode(),
            "train.csv": f"id,weight_kg,late\na{number},5.1,0\nb{number},7.2,1\n".encode(),
            "test.csv": f"id,weight_kg\nc{number},5.5\nd{number},6.9\ne{number},4.4\nf{number},6.2\n".encode(),
            "sample_submission.csv": f"id,late\nc{number},0.5\nd{number},0.5\ne{number},0.5\nf{number},0.5\n".encode(),
        },
        private={
            "answers.csv": (
                f"id,late,part\nc{number},0,feedback\nd{number},1,feedback\ne{number},0,final\nf{number},1,final\n"
            ).encode(),
            **dict.fromkeys(("solution.py", "competent.py", "naive.py"), b"raise SystemExit\n"),
            "leaderboard.csv": (
                b"rank,score,solver,tier\n1,0.85,search,search\n2,0.8,logistic,competent\n3,0.5,mean,trivial\n"
            ),
            "task.json": canonical_json(file.model_dump(mode="json")).encode(),
        },
    )


def make_task(number: int = 0, replicate: int = 0, slot: int | None = None) -> VerifiedTask:
    """Make a verified task; tasks of different numbers or replicates have different ids and files."""
    package = make_package(number, replicate)
    lineage = Lineage(
        seed_id="parcels",
        seed_fingerprint=digest(b"seed"),
        spec_fingerprint=package.spec.fingerprint,
        designer="grammar",
        plan_fingerprint=digest(b"plan"),
        code_version="0.1.0",
        slot=number if slot is None else slot,
        round=0,
        attempt=0,
    )
    record = TaskRecord(
        task_id=package.task_id,
        replicate=replicate,
        wanted=Band.MEDIUM,
        spec=package.spec,
        facts=BRIEF,
        calibration=CALIBRATION,
        verification=VERIFICATION,
        lineage=lineage,
        digest=files_digest(package.public, package.private),
    )
    return VerifiedTask(package=package, record=record)


def make_shard_plan(dataset: str, numbers: range, round_number: int = 0) -> ShardPlan:
    """Plan a shard with these slots."""
    return ShardPlan(
        dataset=dataset,
        key=sha256(f"{round_number}/{numbers}".encode()).hexdigest()[:24],
        plan_fingerprint=digest(b"plan"),
        replicates=1,
        round=round_number,
        slots=tuple(Slot(number=number, seed=make_seed(), band=Band.MEDIUM) for number in numbers),
    )


def make_rejection(slot: int = 0, **changes: Any) -> Rejection:
    """Reject a first attempt at a slot."""
    told = {"seed_id": "parcels", "stage": Stage.CHECK, "reason": "twins", "detail": "like another", "seconds": 0.5}
    return Rejection(slot=slot, **(told | changes))


def make_slot_report(task: VerifiedTask) -> SlotReport:
    """Report a slot that was filled at the second attempt."""
    lineage = task.record.lineage
    return SlotReport(
        slot=lineage.slot,
        round=lineage.round,
        wanted=task.record.wanted,
        reached=task.record.calibration.difficulty.band,
        task_ids=(task.record.task_id,),
        attempts=2,
        seconds={Stage.DESIGN: 0.25, Stage.CALIBRATE: 3.5},
        path=(
            AttemptReport(attempt=1, variant=0, hardness=0.5, outcome="error"),
            AttemptReport(
                attempt=2,
                variant=1,
                hardness=0.375,
                knobs=Knobs(rows=0.25, signal=0.5, skills=0.75, distractors=1.0),
                train_rows=155,
                difficulty=0.3,
                panel_s=4.25,
                outcome="verified",
            ),
        ),
    )
