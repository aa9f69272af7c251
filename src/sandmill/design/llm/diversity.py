"""Choice among a strategist's candidates: the one least similar to the known domains."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandmill.design.llm.strategist import Idea
from sandmill.models.domain import Domain, Named
from sandmill.models.spec import TaskSpec

_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True)
class KnownDomain:
    """A domain that exists already, as a bag of words."""

    name: str
    words: frozenset[str]

    @classmethod
    def of_domain(cls, domain: Domain) -> "KnownDomain":
        """Collect the words of a domain."""
        columns: list[Named] = [*domain.numeric, *domain.categorical]
        texts = [domain.title, domain.row, *domain.overview, *(word.name for word in columns)]
        return cls(domain.name, _words(texts))

    @classmethod
    def of_spec(cls, spec: TaskSpec) -> "KnownDomain":
        """Collect the words of a finished task."""
        story = spec.story
        return cls(spec.domain, _words([story.title, story.row, story.overview, *story.column_meanings]))

    @classmethod
    def of_idea(cls, idea: Idea) -> "KnownDomain":
        """Collect the words of an idea."""
        texts = [idea.title, idea.row, *idea.overview, *idea.quantities, *idea.categories, idea.target_name]
        return cls(idea.name, _words(texts))


def choose_idea(candidates: Sequence[Idea], known: Sequence[KnownDomain]) -> Idea:
    """Return the candidate whose nearest known domain is farthest; the first one of equals."""
    return max(candidates, key=lambda idea: (distance(KnownDomain.of_idea(idea), known), -candidates.index(idea)))


def distance(one: KnownDomain, others: Sequence[KnownDomain]) -> float:
    """Return 1 minus the largest Jaccard similarity to any other domain; equal names count as similarity 1."""
    return 1 - max((1.0 if one.name == other.name else _overlap(one.words, other.words) for other in others), default=0)


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    common = len(left & right)
    return common / max(1, len(left) + len(right) - common)


def _words(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))
