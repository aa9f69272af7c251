"""The data strategist: proposes tasks in new domains for the structure of a seed; the least similar one is chosen."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from sandmill.design.llm.conversation import Conversation, column_problems, facts_of, fill, name_problems
from sandmill.design.rule import kind_problems
from sandmill.models.base import Frozen, Name
from sandmill.models.design_draft import FreeFault, MotifChoice
from sandmill.models.domain import Domain, Named
from sandmill.models.plan import Slot
from sandmill.models.spec import TaskSpec

_WORD = re.compile(r"[a-z]{3,}")


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
    question = fill("strategist_question", facts_of(slot, known))
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
    problems = name_problems(idea.name, known)
    columns = {*idea.quantities, *idea.categories}
    problems += column_problems(idea.motifs, columns, "are neither quantities nor categories")
    if idea.target_name in columns:
        problems.append(f"{idea.target_name} is the target and a column; it can be one of them")
    return [*problems, *kind_problems(idea.motifs)]


@dataclass(frozen=True)
class KnownDomain:
    """A domain that exists already, as a bag of words."""

    name: str
    words: frozenset[str]

    @classmethod
    def of(cls, name: str, *texts: str) -> "KnownDomain":
        """Collect the words of some texts."""
        return cls(name, frozenset(word for text in texts for word in _WORD.findall(text.lower())))

    @classmethod
    def of_domain(cls, domain: Domain) -> "KnownDomain":
        """Collect the words of a domain."""
        columns: list[Named] = [*domain.numeric, *domain.categorical]
        return cls.of(domain.name, domain.title, domain.row, *domain.overview, *(word.name for word in columns))

    @classmethod
    def of_spec(cls, spec: TaskSpec) -> "KnownDomain":
        """Collect the words of a finished task."""
        story = spec.story
        return cls.of(spec.domain, story.title, story.row, story.overview, *story.column_meanings)

    @classmethod
    def of_idea(cls, idea: Idea) -> "KnownDomain":
        """Collect the words of an idea."""
        columns = (*idea.quantities, *idea.categories, idea.target_name)
        return cls.of(idea.name, idea.title, idea.row, *idea.overview, *columns)


def choose_idea(candidates: Sequence[Idea], known: Sequence[KnownDomain]) -> Idea:
    """Return the candidate whose nearest known domain is farthest; the first one of equals."""
    return max(candidates, key=lambda idea: (distance(KnownDomain.of_idea(idea), known), -candidates.index(idea)))


def distance(one: KnownDomain, others: Sequence[KnownDomain]) -> float:
    """Return 1 minus the largest Jaccard similarity to any other domain; equal names count as similarity 1."""
    shared = [
        1.0 if one.name == other.name else len(one.words & other.words) / max(1, len(one.words | other.words))
        for other in others
    ]
    return 1 - max(shared, default=0)
