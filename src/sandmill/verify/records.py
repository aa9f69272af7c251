"""Put together what is published of a proved task: its split, its private files and its record."""

import polars as pl

from sandmill.calibrate.stage import Calibrated
from sandmill.fingerprint import files_digest, fingerprint
from sandmill.models.package import TaskFile
from sandmill.models.plan import Attempt, ShardPlan
from sandmill.models.release import Lineage, Split, TaskRecord, VerifiedTask
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec
from sandmill.provenance import numeric_versions
from sandmill.rng import Streams

VALIDATION_SHARE = 0.1
"""Share of slots in validation. The replicates of a slot stay together."""
HELD_OUT_MOTIFS = 1
"""Number of motifs that are held out from training."""
_MOTIFS = (
    *("band", "bottleneck", "crossed_lookup", "curve", "difference", "interaction", "local_rule", "periodic"),
    *("ratio", "threshold", "varying_slope"),
)
"""Motifs that can be held out: each is in about one task of seven, the others are in more. The list is fixed, so that a
new motif does not change what earlier versions of a dataset held out."""


def split_of(spec: TaskSpec, slot: int, plan_fingerprint: str, secret: bytes, held_out: float = 0.08) -> Split:
    """Assign a task to a split. The number of its slot decides about validation.

    Held-out domains and motifs follow from the release secret alone, so all versions of a dataset hold out the same. A
    larger share `held_out` of domains holds out those of a smaller one and more; with 0 there are no held-out splits.
    """
    dataset = Streams(secret, "hold-outs")
    if dataset.uniforms(f"domain {spec.domain}", range(1))[0] < held_out:
        return "held_out_domain"
    if held_out and held_out_motifs(secret) & set(spec.mechanism.motif_names):
        return "held_out_motif"
    drawn = Streams(secret, plan_fingerprint).uniforms(f"split {slot}", range(1))[0]
    return "validation" if drawn < VALIDATION_SHARE else "train"


def held_out_motifs(secret: bytes) -> frozenset[str]:
    """Motifs that no task of the training split has."""
    dataset = Streams(secret, "hold-outs")
    return frozenset(sorted(_MOTIFS, key=lambda name: dataset.key(f"motif {name}"))[:HELD_OUT_MOTIFS])


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
    scripts = {name: source.encode() for name, source in made.scripts.items()}
    private = {**package.private, **described_files(TaskFile(**shared)), **scripts}
    slot = attempt.slot
    record = TaskRecord(
        **shared,
        split=split_of(package.spec, slot.number, plan.plan_fingerprint, secret, plan.held_out),
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
            fidelity=made.fidelity,
        ),
        digest=files_digest(package.public, private),
    )
    return VerifiedTask(package=package.model_copy(update={"private": private}), record=record)


def described_files(facts: TaskFile) -> dict[str, bytes]:
    """Return the private files that follow from the facts of a task: task.json and leaderboard.csv."""
    board = [(rank, one.final, one.solver, str(one.tier)) for rank, one in enumerate(facts.calibration.board, start=1)]
    table = pl.DataFrame(board, schema=["rank", "score", "solver", "tier"], orient="row")
    return {
        "task.json": (facts.model_dump_json(indent=1) + "\n").encode(),
        "leaderboard.csv": table.write_csv().encode(),
    }
