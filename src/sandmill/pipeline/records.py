"""Put together what is published of a proved task: its private files and its record."""

import polars as pl

from sandmill.fingerprint import files_digest, fingerprint
from sandmill.models.plan import ShardPlan
from sandmill.models.release import Lineage, TaskRecord, VerifiedTask
from sandmill.models.reports import Verification
from sandmill.models.task_file import TaskFile
from sandmill.pipeline.band_search import Attempt
from sandmill.pipeline.measuring import Calibrated
from sandmill.pipeline.provenance import numeric_versions
from sandmill.pipeline.splits import split_of


def make_task(
    made: Calibrated, attempt: Attempt, verification: Verification, plan: ShardPlan, code: str, secret: bytes
) -> VerifiedTask:
    """Add task.json, the scripts and leaderboard.csv to a package, and record where the task came from."""
    package, calibration = made.package, made.calibration
    shared = {
        "task_id": package.task_id,
        "replicate": package.replicate,
        "facts": package.facts,
        "calibration": calibration,
        "spec": package.spec,
    }
    # mle-bench reads the column `score`, MLE-Dojo reads `rank,score`.
    board = [(rank, one.final, one.solver, str(one.tier)) for rank, one in enumerate(calibration.board, start=1)]
    table = pl.DataFrame(board, schema=["rank", "score", "solver", "tier"], orient="row")
    private = {
        **package.private,
        "task.json": (TaskFile(**shared).model_dump_json(indent=1) + "\n").encode(),
        **{name: source.encode() for name, source in made.scripts.items()},
        "leaderboard.csv": table.write_csv().encode(),
    }
    slot = attempt.slot
    record = TaskRecord(
        **shared,
        split=split_of(package.spec, slot.number, plan.plan_fingerprint, secret),
        wanted=slot.band,
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
