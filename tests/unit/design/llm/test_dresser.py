"""Language models design items that are no rows of a table: the world is theirs, what items show is the medium's."""

import asyncio
import json

import pytest

from sandmill.check import check_package
from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design import design_task
from sandmill.design.llm import Designed, LlmDesigner, Refused
from sandmill.draw import render
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.seeds import ingest
from tests.designs import SECRET
from tests.llm_asking import Scripted

SEED = next(seed for seed in ingest(()).supported if seed.id == "spooky-author-identification")


def drafted(spoil=None) -> tuple[Designed | Refused, Scripted]:
    ask, slot = Scripted(spoil), Slot(number=0, seed=SEED, band=Band.HARD, place=0.3)
    (outcome,) = asyncio.run(LlmDesigner(ask, 1, GIVEAWAYS).design([slot], [], "round 0"))
    return outcome, ask


def test_the_world_is_the_models_and_the_items_are_the_mediums():
    outcome, ask = drafted()
    assert isinstance(outcome, Designed), outcome
    assert [prompt.role for prompt in ask.prompts] == ["dresser"]
    draft = outcome.slot.draft
    spec = design_task(outcome.slot, Streams(SECRET, "dressed"), 0.5)
    assert (spec.domain, spec.story.overview) == (draft.domain.name, " ".join(draft.domain.overview))
    assert spec.channel.meaning == draft.item
    assert spec.story.target in {target.name for target in draft.domain.targets.multiclass}
    small = spec.model_copy(update={"sizes": Sizes(train=spec.sizes.train, feedback=150, final=150)})
    assert check_package(render(small, SECRET).package) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"motifs": [{"kind": "linear", "columns": ["no_such_thing"]}] * 5}, "which the items do not show"),
        ({"overview": [f"People say that {GIVEAWAYS[0]} matters."] * 3}, GIVEAWAYS[0]),
    ],
)
def test_an_unsound_world_is_repaired_or_refused(change, problem):
    def spoil(role, times, answer):
        return {**answer, **change} if times == 1 else answer

    outcome, ask = drafted(spoil)
    assert isinstance(outcome, Designed), outcome
    assert problem in ask.prompts[1].messages[-1].content
    refused, _ = drafted(lambda role, times, answer: {**answer, **change})
    assert isinstance(refused, Refused)
    assert refused.reason == "unsound_dresser"
    assert json.loads(refused.transcript)[-1]["problems"]
