"""The data strategist: proposes tasks in new domains for the structure of a seed."""

from collections.abc import Sequence

from pydantic import Field

from sandmill.design.draft_rule import FEWEST_PLAIN, MOST_PLAIN
from sandmill.design.llm.conversation import Conversation, fill
from sandmill.design.llm.facts import describe_structure, quote_seed
from sandmill.design.motifs import FINDABLE_KINDS, HIDDEN_KINDS, PLAIN_KINDS
from sandmill.design.rule import HIDDEN_MOTIFS
from sandmill.models.base import Frozen, Name
from sandmill.models.design_draft import FreeFault, MotifChoice
from sandmill.models.plan import Slot

AREAS = (
    *("farming", "fishing", "forestry", "mining", "energy", "water supply", "waste and recycling", "construction"),
    *("textiles", "food processing", "chemistry", "electronics", "machine tools", "printing", "shipbuilding", "rail"),
    *("roads", "air traffic", "space flight", "post and freight", "shops and markets", "restaurants", "tourism"),
    *("sports", "music and theatre", "museums and archives", "schools", "languages", "public offices", "courts"),
    *("elections", "insurance", "pensions", "housing", "gardens and parks", "pets and veterinary care", "dentistry"),
    *("nursing", "pharmacy", "laboratories", "astronomy", "geology", "oceans", "weather", "wildlife", "archaeology"),
    *("fire brigades", "mountain rescue", "telephony", "software operations", "video games", "repair shops", "crafts"),
)
"""Areas for domains, one per slot in turn, so that concurrent strategists choose different domains."""
MOST_KNOWN = 40
"""Known domains that a question lists; the latest ones."""


class Idea(Frozen):
    """One candidate task: its domain, target and columns, and how the columns act on the target."""

    name: Name
    title: str = Field(min_length=3, max_length=51)
    row: str = Field(max_length=90)
    overview: tuple[str, ...] = Field(min_length=3, max_length=5)
    target_name: Name
    target_meaning: str = Field(max_length=110)
    quantities: tuple[Name, ...] = Field(min_length=10, max_length=20)
    categories: tuple[Name, ...] = Field(min_length=3, max_length=8)
    motifs: tuple[MotifChoice, ...] = Field(min_length=5, max_length=7)
    faults: tuple[FreeFault, ...] = Field(default=(), max_length=3)
    baselines: tuple[str, ...] = Field(min_length=3, max_length=5)


class Ideas(Frozen):
    """Candidate tasks."""

    candidates: tuple[Idea, ...] = Field(min_length=2, max_length=3)


async def propose(conversation: Conversation, slot: Slot, known: Sequence[str]) -> tuple[Idea, ...]:
    """Ask for candidates in domains that are not among the `known` names, and return the valid ones.

    Raises:
        GivenUp: if no candidate is valid.
    """
    question = fill(
        "strategist_question",
        {
            "structure": describe_structure(slot.seed.structure),
            "seed": quote_seed(slot.seed),
            "area": AREAS[(slot.number * 7) % len(AREAS)],
            "known": ", ".join(known[-MOST_KNOWN:]) or "none",
        },
    )
    answer = await conversation.settle("strategist", question, Ideas, lambda ideas: _judge(ideas, known))
    return tuple(idea for idea in answer.candidates if not _problems(idea, known))


def _judge(ideas: Ideas, known: Sequence[str]) -> list[str]:
    """List all problems, or none if one candidate is valid: a repair of the others would only cost money."""
    if not all(_problems(idea, known) for idea in ideas.candidates):
        return []
    return [
        f"candidates.{place} ({idea.name}): {problem}"
        for place, idea in enumerate(ideas.candidates)
        for problem in _problems(idea, known)
    ]


def _problems(idea: Idea, known: Sequence[str]) -> list[str]:
    problems = [f"the domain {idea.name} exists already; choose another one"] if idea.name in known else []
    columns = {*idea.quantities, *idea.categories}
    used = [column for choice in idea.motifs for column in choice.columns]
    if unknown := sorted(set(used) - columns):
        problems.append(f"motifs use {', '.join(unknown)}, which are neither quantities nor categories")
    if twice := sorted({column for column in used if used.count(column) > 1}):
        problems.append(f"{', '.join(twice)} in two motifs; a column serves one")
    if idea.target_name in columns:
        problems.append(f"{idea.target_name} is the target and a column; it can be one of them")
    kinds = [choice.kind for choice in idea.motifs]
    plain, hidden = sum(kind in PLAIN_KINDS for kind in kinds), sum(kind in HIDDEN_KINDS for kind in kinds)
    if not FEWEST_PLAIN <= plain <= MOST_PLAIN or hidden != HIDDEN_MOTIFS:
        problems.append(
            f"{plain} motifs of {', '.join(PLAIN_KINDS)} and {hidden} of the others; wanted are {FEWEST_PLAIN} to "
            f"{MOST_PLAIN} and {HIDDEN_MOTIFS}"
        )
    if not set(kinds) & set(FINDABLE_KINDS):
        problems.append(f"at least one motif must be of {', '.join(FINDABLE_KINDS)}")
    return problems
