"""What is designed does not depend on which answer comes first, nor on how many designs are in the making."""

import asyncio
import random

import pytest

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design.llm import LlmDesigner
from sandmill.design.llm.conversation import AREAS
from tests.llm_asking import KNOWN, Scripted, make_slot

SLOTS = [make_slot(number, number % 3) for number in (0, 1, len(AREAS), 2, 2 * len(AREAS), len(AREAS) + 1)]
"""Some share an area and get the same candidates, so that their drafts depend on each other."""


class Late(Scripted):
    """Answers after a while that nobody foresees."""

    def __init__(self, seed: int, calls: int) -> None:
        super().__init__()
        self._waits, self._slots = random.Random(seed), asyncio.Semaphore(calls)

    async def __call__(self, prompt):
        async with self._slots:
            await asyncio.sleep(self._waits.choice((0, 0.03)))
        return await super().__call__(prompt)


def _design(ask, at_once, slots=SLOTS):
    designer = LlmDesigner(ask, 2, GIVEAWAYS, at_once=at_once)
    return asyncio.run(designer.design(slots, KNOWN, "round 0"))


@pytest.mark.parametrize(("seed", "at_once"), [(1, 1), (3, 6)])
def test_neither_order_nor_number_changes_a_draft(seed, at_once):
    calm = _design(Scripted(), 8)
    assert len({one.slot.draft.domain.name for one in calm}) == len(SLOTS) - 1  # three share two ideas
    hurried = _design(Late(seed, 3), at_once)
    assert [one.slot.draft for one in hurried] == [one.slot.draft for one in calm]


def test_a_late_answer_keeps_nobody_from_asking():
    """The first slot is answered only when all others have asked for ideas: few at a time would wait for ever."""

    class First(Scripted):
        async def __call__(self, prompt):
            self.all_asked = getattr(self, "all_asked", None) or asyncio.Event()
            answer = await super().__call__(prompt)
            if len(self.asked("strategist")) == len(SLOTS):
                self.all_asked.set()
            if prompt.draw.startswith("slot 0 ") and prompt.role == "strategist":
                await asyncio.wait_for(self.all_asked.wait(), 10)
            return answer

    assert [one.slot.number for one in _design(First(), len(SLOTS))] == [slot.number for slot in SLOTS]
