"""Whatever the kind, what a language model wrote becomes designs of every hardness."""

import asyncio

import pytest

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design import design_task
from sandmill.design.llm import Designed, LlmDesigner
from sandmill.models.base import Band
from sandmill.models.kind import kind_of
from sandmill.models.plan import Slot
from sandmill.rng import Streams
from sandmill.seeds import ingest
from tests.designs import SECRET
from tests.llm_asking import Scripted

SEEDS = {kind_of(seed.structure).name: seed for seed in ingest(()).supported}


def designed(kind: str) -> Slot:
    slot = Slot(number=0, seed=SEEDS[kind], band=Band.HARD, place=0.3)
    (outcome,) = asyncio.run(LlmDesigner(Scripted(), 1, GIVEAWAYS).design([slot], [], "round 0"))
    assert isinstance(outcome, Designed), outcome
    return outcome.slot


@pytest.mark.parametrize("kind", sorted(SEEDS))
def test_it_is_designed_at_every_hardness(kind):
    slot = designed(kind)
    written = slot.draft.domain if slot.draft else slot.world
    for hardness in (0.0, 0.5, 1.0):
        spec = design_task(slot, Streams(SECRET, "written"), hardness)
        assert spec.domain == written.name
        assert spec.story.title.startswith(written.title)
