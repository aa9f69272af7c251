"""The technical writer, who does not know the motifs, and the reviewer, who searches the texts for hints at them."""

import json
from functools import cache, partial
from typing import Literal

from pydantic import Field
from pydantic_core import to_json

from sandmill.design.llm.conversation import Conversation, fill, repeated
from sandmill.design.soundness import domain_problems, named_meanings
from sandmill.models.base import Frozen
from sandmill.models.design_draft import MotifChoice
from sandmill.models.domain import Domain


class NamedMeaning(Frozen):
    """Meaning of one column or target, as a phrase."""

    name: str
    meaning: str


class Texts(Frozen):
    """Texts of a task."""

    title: str
    row: str
    overview: tuple[str, ...] = Field(min_length=3, max_length=5)
    meanings: tuple[NamedMeaning, ...]


class Objection(Frozen):
    """One problem of the texts."""

    kind: Literal["leak", "ambiguity", "contradiction"]
    where: str = Field(max_length=80)
    what: str = Field(max_length=300)


class Review(Frozen):
    """Problems of the texts; an empty list approves them."""

    objections: tuple[Objection, ...] = Field(max_length=10)


async def write(
    conversation: Conversation, domain: Domain, motifs: tuple[MotifChoice, ...], giveaways: tuple[str, ...]
) -> Domain:
    """Ask for the texts of a task and have them reviewed.

    Returns:
        The domain with its new texts.

    Raises:
        GivenUp: if the texts stay invalid or the reviewer still objects.
    """
    question = fill("writer_question", {"domain": describe_domain(domain)})
    worded = cache(partial(with_texts, domain))

    def judge(texts: Texts) -> list[str]:
        return _names_problems(domain, texts) or domain_problems(worded(texts), giveaways)

    async def review(texts: Texts) -> list[str]:
        listed = json.dumps([choice.model_dump(mode="json") for choice in motifs])
        asked = fill("reviewer_question", {"domain": describe_domain(worded(texts)), "motifs": listed})
        answer = await conversation.settle("reviewer", asked, Review, lambda _: [])
        return [f"{found.kind} in {found.where}: {found.what}" for found in answer.objections]

    texts = await conversation.settle("writer", question, Texts, judge, review)
    return worded(texts)


def describe_domain(domain: Domain) -> str:
    """Return everything that a solver will read about the task, as JSON."""
    columns = {
        **{word.name: {"meaning": word.meaning, "kind": "number"} for word in domain.numeric},
        **{w.name: {"meaning": w.meaning, "kind": "category", "levels": list(w.levels)} for w in domain.categorical},
    }
    rest = {name: {"meaning": meaning} for name, meaning in named_meanings(domain) if name not in columns}
    facts = {"title": domain.title, "row": domain.row, "overview": list(domain.overview), "names": {**columns, **rest}}
    return to_json(facts, indent=1).decode()


def with_texts(domain: Domain, texts: Texts) -> Domain:
    """Replace the texts of a domain; names and numbers stay."""
    meanings = {named.name: named.meaning for named in texts.meanings}

    def renewed(words: tuple[Frozen, ...]) -> tuple[Frozen, ...]:
        return tuple(word.model_copy(update={"meaning": meanings.get(word.name, word.meaning)}) for word in words)  # type: ignore[attr-defined]

    columns = {
        name: renewed(getattr(domain, name))
        for name in ("numeric", "categorical", "high_cardinality", "dates", "units")
    }
    kinds = type(domain.targets).model_fields
    targets = domain.targets.model_copy(update={kind: renewed(getattr(domain.targets, kind)) for kind in kinds})
    words = {"title": texts.title, "row": texts.row, "overview": texts.overview, "targets": targets}
    return domain.model_copy(update={**columns, **words})


def _names_problems(domain: Domain, texts: Texts) -> list[str]:
    wanted, given = [name for name, _ in named_meanings(domain)], [named.name for named in texts.meanings]
    problems = [f"meanings: {name} is left out" for name in wanted if name not in given]
    problems += [f"meanings: there is no column {name[:60]}" for name in given if name not in wanted]
    return problems + [f"meanings: {name} is there twice" for name in repeated(given)]
