"""The strategist for items that are no rows of a table: it invents the world that they come from."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from sandmill.design.llm.conversation import Conversation, column_problems, facts_of, fill, name_problems
from sandmill.design.llm.developer import stand_in_levels, texts_of, with_targets
from sandmill.design.rule import rule_problems
from sandmill.design.soundness import domain_problems, world_problems
from sandmill.design.vocabulary import Vocabulary
from sandmill.kinds.table import TABLE
from sandmill.models.base import Frozen, Name
from sandmill.models.channel import Medium
from sandmill.models.design_draft import MotifChoice
from sandmill.models.domain import Domain, World, WorldMedium
from sandmill.models.kind import kind_of
from sandmill.models.plan import Slot
from sandmill.models.structure import TargetKind


class Dress(Frozen):
    """The domain and target of a task, and the motifs of its rule. What items can show is given."""

    name: Name
    title: str = Field(min_length=3, max_length=51)
    row: str = Field(max_length=90)
    overview: tuple[str, ...] = Field(min_length=3, max_length=5)
    item: str = Field(min_length=3, max_length=90)
    motifs: tuple[MotifChoice, ...] = Field(min_length=5, max_length=7)
    baselines: tuple[str, ...] = Field(min_length=3, max_length=5)


async def dress(
    conversation: Conversation, slot: Slot, medium: Medium, known: Sequence[str], giveaways: tuple[str, ...]
) -> tuple[Domain, Dress]:
    """Ask for the world of a slot.

    Raises:
        GivenUp: if no answer is valid.
    """
    structure = slot.seed.structure
    kind = kind_of(structure) or TABLE
    most = {TargetKind.MULTICLASS: ("classes", kind.classes[1]), TargetKind.MULTILABEL: ("labels", kind.labels[1])}
    what, needed = most.get(structure.target, ("", 0))
    values = {
        **facts_of(slot, known),
        "shown": json.dumps(_shown(medium.domain)),
        "names": f"The target needs at least {needed} {what}." if needed else "",
    }

    def judge(answer: Dress) -> list[str]:
        names = {target.name: getattr(target, what) if needed else () for target in answer.targets}  # type: ignore[attr-defined]
        few = [
            f"targets: {name} has {len(some)} {what}; a design may need {needed}"
            for name, some in names.items()
            if len(some) < needed
        ]
        return [*few, *_problems(answer, medium.domain, structure.target, known, giveaways)]

    schema = with_targets(Dress, structure.target)
    answer = await conversation.settle("dresser", fill("dresser_question", values), schema, judge)
    return dressed(medium.domain, answer, structure.target), answer


def dressed(domain: Domain, answer: Dress, kind: TargetKind) -> Domain:
    """Give the columns of a medium the texts and targets of an answer."""
    return domain.model_copy(update=texts_of(answer, answer, kind))


def _shown(domain: Domain) -> dict[str, dict[str, Any]]:
    numbers = {word.name: {"shows": word.meaning, "kind": "quantity"} for word in domain.numeric}
    categories = {
        word.name: {"shows": word.meaning, "kind": "category", "values": list(word.levels)}
        for word in domain.categorical
    }
    return {**numbers, **categories}


def _problems(
    answer: Dress, domain: Domain, kind: TargetKind, known: Sequence[str], giveaways: tuple[str, ...]
) -> list[str]:
    problems = name_problems(answer.name, known)
    problems += column_problems(answer.motifs, _shown(domain), "the items do not show")
    worded = dressed(domain, answer, kind)
    # What the medium itself brings is not the model's to mend.
    known_problems = set(domain_problems(domain, giveaways))
    problems += [one for one in domain_problems(worded, giveaways) if one not in known_problems]
    return problems or rule_problems(answer.motifs, Vocabulary(worded, stand_in_levels(worded), None, None))


async def narrate(
    conversation: Conversation, slot: Slot, medium: WorldMedium, known: Sequence[str], giveaways: tuple[str, ...]
) -> World:
    """Ask the model for the texts of a task: where its items come from, and why the answers are wanted.

    Raises:
        GivenUp: if no answer is valid.
    """

    def judge(answer: World) -> list[str]:
        problems = name_problems(answer.name, [*known, medium.name])
        return [*problems, *world_problems(answer, giveaways), *medium.problems_of(answer)]

    # Without what the medium adds to the meaning of its target.
    meaning = medium.target_meaning.removesuffix(medium.target_ending)
    shown = json.dumps({**medium.model_dump(mode="json"), "target_meaning": meaning}, ensure_ascii=False)
    question = fill("narrator_question", {**facts_of(slot, known), "medium": shown})
    return await conversation.settle("narrator", question, medium.answer, judge)
