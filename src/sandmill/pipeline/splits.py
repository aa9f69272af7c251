"""The split of a release that a task belongs to: training, validation, or held out by domain or motif."""

from sandmill.models.release import Split
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams

VALIDATION_SHARE = 0.1
"""Share of slots in validation. The replicates of a slot stay together."""
HELD_OUT_DOMAINS, HELD_OUT_MOTIFS = 0.08, 1
"""Share of domains, and number of motifs, that are held out from training."""
_MOTIFS = (
    *("band", "bottleneck", "crossed_lookup", "curve", "difference", "interaction", "local_rule", "periodic"),
    *("ratio", "threshold", "varying_slope"),
)
"""Motifs that can be held out: each is in about one task of seven, the others are in more. The list is fixed, so that a
new motif does not change what earlier versions of a dataset held out."""


def split_of(spec: TaskSpec, slot: int, plan_fingerprint: str, secret: bytes) -> Split:
    """Assign a task to a split. The number of its slot decides about validation.

    Held-out domains and motifs follow from the release secret alone, so all versions of a dataset hold out the same.
    """
    dataset = Streams(secret, "hold-outs")
    if dataset.uniforms(f"domain {spec.domain}", range(1))[0] < HELD_OUT_DOMAINS:
        return "held_out_domain"
    if held_out_motifs(secret) & set(spec.mechanism.motif_names):
        return "held_out_motif"
    drawn = Streams(secret, plan_fingerprint).uniforms(f"split {slot}", range(1))[0]
    return "validation" if drawn < VALIDATION_SHARE else "train"


def held_out_motifs(secret: bytes) -> frozenset[str]:
    """Motifs that no task of the training split has."""
    dataset = Streams(secret, "hold-outs")
    return frozenset(sorted(_MOTIFS, key=lambda name: dataset.key(f"motif {name}"))[:HELD_OUT_MOTIFS])
