"""Designs of token tasks with a small test."""

from sandmill.design import design_task
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.rng import Streams
from tests.designs import bundled_seeds


def token_spec(kind: str, hardness: float) -> TaskSpec:
    seed = next(seed for seed in bundled_seeds().supported if seed.structure.kind == kind)
    slot = Slot(number=0, seed=seed, band=Band.MEDIUM)
    spec = design_task(slot, Streams(b"secret", "tokens"), hardness)
    return spec.model_copy(update={"sizes": Sizes(train=60, feedback=100, final=150)})
