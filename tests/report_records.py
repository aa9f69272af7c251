"""Hand-made records for the reports: no package is rendered."""

from collections.abc import Iterable

from sandmill.models.base import Band
from sandmill.models.calibration import BoardEntry, Calibration, Difficulty, Thresholds, Tier
from sandmill.models.release import Lineage, Manifest, PartFile, TaskRecord
from sandmill.models.reports import Verification
from sandmill.models.structure import TargetKind
from sandmill.report.digest import ReleaseCounts
from tests.factories import FACTS, STEADY
from tests.packages import make_brief, make_spec

GOLD = 0.81237


def make_record(
    number: int = 0, kind: TargetKind = TargetKind.BINARY, wanted: Band = Band.MEDIUM, value: float = 0.4
) -> TaskRecord:
    """A record of one verified task; odd numbers are validation."""
    band = [Band.EASY, Band.MEDIUM, Band.HARD, Band.EXPERT][int(value * 4)]
    lower = kind is not TargetKind.BINARY
    sign = -1 if lower else 1
    board = tuple(
        BoardEntry(solver=solver, tier=tier, final=GOLD + sign * gain, feedback=GOLD)
        for solver, tier, gain in (
            ("ratio-search", Tier.SEARCH, 0.01),
            ("forest", Tier.COMPETENT, 0.0 if number % 2 else -0.02),
            ("constant", Tier.TRIVIAL, -0.3),
        )
    )
    return TaskRecord(
        task_id=f"sm{number:012x}",
        replicate=0,
        split="validation" if number % 2 else "train",
        wanted=wanted,
        spec=make_spec(kind),
        facts=make_brief(kind),
        calibration=Calibration(
            is_lower_better=lower,
            trivial=GOLD - sign * 0.3,
            oracle=GOLD + sign * 0.05,
            oracle_is_exact=number % 3 != 2,
            board=board,
            thresholds=Thresholds(
                gold=GOLD, silver=GOLD - sign * 0.02, bronze=GOLD - sign * 0.05, median=GOLD - sign * 0.1
            ),
            difficulty=Difficulty(value=value, low=value, high=value, band=band),
            reference="ratio-search",
            **STEADY,
        ),
        verification=Verification(reference_score=GOLD + sign * 0.01, **FACTS),
        lineage=Lineage(
            seed_id="spaceship-titanic",
            seed_fingerprint="5" * 64,
            spec_fingerprint="6" * 64,
            designer="grammar",
            plan_fingerprint="7" * 64,
            code_version="0.1.0",
            slot=number,
            round=0,
            attempt=0,
        ),
        digest="8" * 64,
    )


def make_manifest(tasks: int = 4) -> Manifest:
    """The manifest of a small release."""
    return Manifest(
        agent_env="abcdef" * 10,
        dataset="micro",
        version="0001-0123abcd",
        content="0123abcd" * 8,
        created="2026-11-21T03:00:00+00:00",
        tasks=tasks,
        plan_fingerprint="7" * 64,
        secret_id="c0ffee00",
        code_version="0.1.0",
        seeds=("spaceship-titanic",),
        parts=tuple(
            PartFile(path=f"public/{table}-{split}-00000-{'9' * 8}.parquet", sha256="9" * 64, size=12)
            for table in ("tasks", "files")
            for split in ("train", "held_out_motif")
        ),
    )


def make_counts(records: Iterable[TaskRecord]) -> ReleaseCounts:
    """Count the records of a release."""
    counts = ReleaseCounts()
    for record in records:
        counts.add(record)
    return counts


RECORDS = (
    make_record(0),
    make_record(1, TargetKind.MULTICLASS, Band.HARD, 0.6),
    make_record(2, TargetKind.REGRESSION, Band.HARD, 0.3),
    make_record(3, wanted=Band.EASY, value=0.1),
)
