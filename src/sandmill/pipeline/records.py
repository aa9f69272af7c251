"""Put together what is published of a proved task: its private files and its record."""

from collections.abc import Mapping

import polars as pl

from sandmill.fingerprint import files_digest, fingerprint
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskPackage
from sandmill.models.plan import ShardPlan
from sandmill.models.release import Lineage, TaskRecord, VerifiedTask
from sandmill.models.reports import Verification
from sandmill.models.task_file import TaskFile
from sandmill.pipeline.band_search import Attempt
from sandmill.pipeline.provenance import numeric_versions
from sandmill.pipeline.splits import split_of


def make_task(
    package: TaskPackage,
    attempt: Attempt,
    calibration: Calibration,
    scripts: Mapping[str, str],
    verification: Verification,
    plan: ShardPlan,
    code: str,
    secret: bytes,
) -> VerifiedTask:
    """Add task.json, the scripts and leaderboard.csv, and record where the task came from."""
    task_file = TaskFile(
        task_id=package.task_id,
        replicate=package.replicate,
        facts=package.facts,
        calibration=calibration,
        spec=package.spec,
    )
    private = {
        **package.private,
        "task.json": (task_file.model_dump_json(indent=1) + "\n").encode(),
        **{name: source.encode() for name, source in scripts.items()},
        "leaderboard.csv": leaderboard_csv(calibration),
    }
    slot = attempt.slot
    record = TaskRecord(
        task_id=package.task_id,
        replicate=package.replicate,
        split=split_of(package.spec, slot.number, plan.plan_fingerprint, secret),
        wanted=slot.band,
        spec=package.spec,
        facts=package.facts,
        calibration=calibration,
        verification=verification,
        lineage=Lineage(
            seed_id=slot.seed.id,
            seed_fingerprint=fingerprint(slot.seed),
            spec_fingerprint=package.spec.fingerprint,
            parent=package.spec.parent,
            designer=plan.designer,
            authorship=slot.authorship,
            plan_fingerprint=plan.plan_fingerprint,
            code_version=code,
            libraries=numeric_versions(),
            slot=slot.number,
            round=attempt.round,
            attempt=attempt.number,
        ),
        digest=files_digest(package.public, private),
    )
    return VerifiedTask(package=package.model_copy(update={"private": private}), record=record)


def leaderboard_csv(calibration: Calibration) -> bytes:
    """Final scores best first: the `score` column is what mle-bench reads, `rank,score` what MLE-Dojo does."""
    rows = [
        {"rank": rank, "score": entry.final, "solver": entry.solver, "tier": str(entry.tier)}
        for rank, entry in enumerate(calibration.board, start=1)
    ]
    return pl.DataFrame(rows).write_csv().encode()
