"""The ML developer: turns an idea into columns with plausible magnitudes and motifs."""

from functools import cache
from typing import Any

from pydantic import Field, create_model

from sandmill.design.llm.conversation import Answer, Conversation, column_problems, fill
from sandmill.design.llm.strategist import Idea
from sandmill.design.rule import rule_problems
from sandmill.design.shape import shape_of, trait_problems
from sandmill.design.soundness import domain_problems
from sandmill.design.vocabulary import Vocabulary
from sandmill.kinds.table import TABLE
from sandmill.models.base import Frozen
from sandmill.models.design_draft import MotifChoice
from sandmill.models.domain import (
    CategoricalWord,
    DateWord,
    Domain,
    HighCardinalityWord,
    NumericWord,
    TargetWords,
    UnitWord,
)
from sandmill.models.kind import kind_of
from sandmill.models.plan import Slot
from sandmill.models.structure import TargetKind

_MOST_NUMBERS = 3
_LEVELS = 30


class Columns(Frozen):
    """Columns of a task and the motifs that act on its target."""

    numeric: tuple[NumericWord, ...] = Field(min_length=10, max_length=22)
    categorical: tuple[CategoricalWord, ...] = Field(min_length=3, max_length=8)
    high_cardinality: tuple[HighCardinalityWord, ...] = Field(min_length=2, max_length=4)
    dates: tuple[DateWord, ...] = Field(min_length=1, max_length=2)
    units: tuple[UnitWord, ...] = Field(min_length=1, max_length=2)
    periods: tuple[tuple[str, float], ...] = Field(default=(), max_length=5)
    motifs: tuple[MotifChoice, ...] = Field(min_length=5, max_length=7)


@cache
def with_targets(answer: type[Answer], kind: TargetKind) -> type[Answer]:
    """Return the schema of an answer for a kind of target; it adds the field `targets`."""
    targets: Any = targets_field(kind)
    return create_model(answer.__name__, __base__=answer, __doc__=answer.__doc__, targets=targets)


def targets_field(kind: TargetKind) -> Any:
    """Return the field of an answer that holds the words of the target, or of several numbers."""
    least, most = (2, _MOST_NUMBERS) if kind is TargetKind.MULTI_TARGET else (1, 1)
    return TargetWords.model_fields[_field_of(kind)].annotation, Field(min_length=least, max_length=most)


async def develop(
    conversation: Conversation, slot: Slot, idea: Idea, giveaways: tuple[str, ...]
) -> tuple[Domain, Columns]:
    """Ask for the columns of an idea.

    Raises:
        GivenUp: if no answer is valid.
    """
    structure = slot.seed.structure
    kind, shape = structure.target, shape_of(structure, kind_of(structure) or TABLE)

    def judge(columns: Columns) -> list[str]:
        domain = domain_of(idea, columns, kind)
        lost = trait_problems(structure, shape, domain, columns.motifs) if shape else []
        return [*columns_problems(domain, columns.motifs, giveaways), *lost]

    values = {"idea": idea.model_dump_json(indent=1), "target": kind}
    question = fill("developer_question", values)
    columns = await conversation.settle("developer", question, with_targets(Columns, kind), judge)
    return domain_of(idea, columns, kind), columns


def domain_of(idea: Idea, columns: Columns, kind: TargetKind) -> Domain:
    """Combine the texts of an idea with its columns, without validation."""
    parts = {name: getattr(columns, name) for name in Columns.model_fields if name in Domain.model_fields}
    return Domain.model_construct(**texts_of(idea, columns, kind), **parts, ratios=(), products=())


def texts_of(topic: Any, words: Any, kind: TargetKind) -> dict[str, Any]:
    """Return the texts of a domain by field: those of a topic, and the words of the target."""
    targets = {**dict.fromkeys(TargetWords.model_fields, ()), _field_of(kind): words.targets}
    texts = {name: getattr(topic, name) for name in ("name", "title", "row", "overview")}
    return {**texts, "targets": TargetWords.model_construct(**targets)}


def _field_of(kind: TargetKind) -> str:
    return "regression" if kind is TargetKind.MULTI_TARGET else str(kind)


def columns_problems(domain: Domain, motifs: tuple[MotifChoice, ...], giveaways: tuple[str, ...]) -> list[str]:
    """List the problems of a domain and of its motifs."""
    words = (*domain.numeric, *domain.categorical, *domain.high_cardinality)
    names = {word.name for word in (*words, *domain.dates, *domain.units)}
    problems = [*domain_problems(domain, giveaways), *column_problems(motifs, names, "are no columns")]
    unknown = {name for name, _ in domain.periods} - {word.name for word in domain.numeric}
    problems += [f"periods: {name} is not a numeric column" for name in sorted(unknown)]
    if problems:
        return problems
    return rule_problems(motifs, Vocabulary(domain, stand_in_levels(domain), None, None))


def stand_in_levels(domain: Domain) -> tuple[CategoricalWord, ...]:
    """Return high-cardinality columns with levels that stand in for those that are drawn later."""
    many = tuple(f"name_{number}" for number in range(_LEVELS))
    return tuple(CategoricalWord(name=word.name, meaning=word.meaning, levels=many) for word in domain.high_cardinality)
