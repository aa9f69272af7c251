"""Everything that a release records about where one task came from."""

import json
from typing import TYPE_CHECKING, Any

from sandmill.models.base import Frozen
from sandmill.models.release import PartFile

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease

_TABLES = ("public/tasks", "public/files", "private/tasks", "private/files")
_SEEDS = "seeds.json"


class TaskLineage(Frozen):
    """Inputs, code and run of one task, and the hashes of its files."""

    task: dict[str, Any]
    seed: dict[str, Any]
    """Id, fingerprint, and the card as the release records it."""
    design: dict[str, Any]
    streams: dict[str, Any]
    """What keys the random streams: without the secret, none of them can be drawn."""
    code: dict[str, Any]
    run: dict[str, Any]
    shard: tuple[PartFile, ...]
    """Files of the release that hold the task."""
    files: dict[str, str]
    """SHA-256 of each file of the task, by `public/...` or `private/...`."""


def read_lineage(release: "StoredRelease", task_id: str) -> TaskLineage:
    """Return the lineage of a task. Needs the private half."""
    record, manifest = release.record(task_id), release.manifest
    made, spec = record.lineage, record.spec
    return TaskLineage(
        task={"id": task_id, "split": record.split, "replicate": record.replicate, "digest": record.digest},
        seed={"id": made.seed_id, "fingerprint": made.seed_fingerprint, **_seed_card(release, made.seed_id)},
        design={
            "fingerprint": made.spec_fingerprint,
            "parent": made.parent,
            "designer": made.designer,
            "authorship": made.authorship and made.authorship.model_dump(mode="json", exclude_none=True),
            "domain": spec.domain,
            "kind": spec.kind.name,
            "structure": spec.structure_label,
            "motifs": list(spec.mechanism.motif_names),
            "hardness": spec.hardness,
        },
        streams={
            "secret_id": manifest.secret_id,
            "rows": spec.rows_key,
            "replicate": record.replicate,
            "design": f"plan {made.plan_fingerprint}, slot {made.slot}, round {made.round}",
        },
        code={"code_version": made.code_version, "libraries": made.libraries, "agent_env": manifest.agent_env},
        run={
            "version": manifest.version,
            "published": manifest.created,
            "plan_fingerprint": made.plan_fingerprint,
            "slot": made.slot,
            "round": made.round,
            "attempt": made.attempt,
            "wanted": record.wanted.value,
            "steered": record.steered,
        },
        shard=tuple(part for table in _TABLES for part in release.parts_of(table, task_id)),
        files={
            f"{side}/{path}": sha256
            for side in ("public", "private")
            for path, sha256 in release.file_hashes(side, task_id).items()
        },
    )


def _seed_card(release: "StoredRelease", seed_id: str) -> dict[str, Any]:
    """Return the card of a seed from the reports; empty if they are not readable or do not have it."""
    try:
        used = json.loads(release.readable_report(_SEEDS) or b"{}")["used"]
        card = next(card for card in used if card["id"] == seed_id)
        return {name: card[name] for name in ("title", "summary", "source", "licence", "origin", "structure")}
    except (StopIteration, ValueError, KeyError, TypeError):
        return {}
