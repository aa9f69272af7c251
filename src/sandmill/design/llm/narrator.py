"""The strategist for items that are turned into another form: it invents the world that they come from, and no rule."""

import json
from collections.abc import Sequence

from sandmill.design.llm.conversation import Conversation, fill
from sandmill.design.llm.facts import describe_structure, quote_seed
from sandmill.design.llm.strategist import AREAS, MOST_KNOWN
from sandmill.design.soundness import world_problems
from sandmill.models.domain import World, WorldMedium
from sandmill.models.plan import Slot


async def narrate(
    conversation: Conversation, slot: Slot, medium: WorldMedium, known: Sequence[str], giveaways: tuple[str, ...]
) -> World:
    """Ask the model for the texts of a task: where its items come from, and why the answers are wanted.

    Raises:
        GivenUp: if no answer is valid.
    """
    values = {
        "structure": describe_structure(slot.seed.structure),
        "seed": quote_seed(slot.seed),
        "area": AREAS[(slot.number * 7) % len(AREAS)],
        "known": ", ".join(known[-MOST_KNOWN:]) or "none",
        "medium": _shown(medium),
    }

    def judge(answer: World) -> list[str]:
        taken = [*known, medium.name]
        problems = [f"the domain {answer.name} exists already; choose another one"] if answer.name in taken else []
        return [*problems, *world_problems(answer, giveaways), *medium.problems_of(answer)]

    return await conversation.settle("narrator", fill("narrator_question", values), medium.answer, judge)


def _shown(medium: WorldMedium) -> str:
    """Return the medium as JSON, without what is added to the meaning of its target."""
    fields = medium.model_dump(mode="json")
    fields["target_meaning"] = medium.target_meaning.removesuffix(medium.target_ending)
    return json.dumps(fields, ensure_ascii=False)
