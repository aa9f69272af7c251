"""The ML developer: an idea in, columns with plausible magnitudes and the final motifs out; one look at a sample."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from pydantic import Field, create_model

from sandmill.design.draft_rule import rule_problems
from sandmill.design.llm.conversation import Conversation, fill
from sandmill.design.llm.strategist import Idea
from sandmill.design.soundness import domain_problems
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.base import Frozen
from sandmill.models.design_draft import MotifChoice
from sandmill.models.domain import (
    CategoricalWord,
    ClassTarget,
    CountTarget,
    DateWord,
    Domain,
    GradeTarget,
    HighCardinalityWord,
    LabelsTarget,
    ManyClassTarget,
    NumberTarget,
    NumericWord,
    TargetWords,
    UnitWord,
)
from sandmill.models.plan import Slot
from sandmill.models.structure import TargetKind

Judge = Callable[[Domain], list[str]]

_TARGETS: dict[TargetKind, tuple[str, type[Frozen]]] = {
    TargetKind.BINARY: ("binary", ClassTarget),
    TargetKind.MULTICLASS: ("multiclass", ManyClassTarget),
    TargetKind.ORDINAL: ("ordinal", GradeTarget),
    TargetKind.COUNT: ("count", CountTarget),
    TargetKind.MULTILABEL: ("multilabel", LabelsTarget),
    TargetKind.REGRESSION: ("regression", NumberTarget),
    TargetKind.MULTI_TARGET: ("regression", NumberTarget),
}
"""Words that a target of each kind takes, and where a domain keeps them."""
_MOST_NUMBERS = 3
_MANY_LEVELS = 30


class Columns(Frozen):
    """What the developer answers with; a subclass for each kind of target adds `targets`."""

    numeric: tuple[NumericWord, ...] = Field(min_length=10, max_length=22)
    categorical: tuple[CategoricalWord, ...] = Field(min_length=3, max_length=8)
    high_cardinality: tuple[HighCardinalityWord, ...] = Field(min_length=2, max_length=4)
    dates: tuple[DateWord, ...] = Field(min_length=1, max_length=2)
    units: tuple[UnitWord, ...] = Field(min_length=1, max_length=2)
    periods: tuple[tuple[str, float], ...] = Field(default=(), max_length=5)
    motifs: tuple[MotifChoice, ...] = Field(min_length=5, max_length=7)


class Second(Frozen):
    """What the developer says after looking at a sample."""

    verdict: Literal["keep", "revise"]
    reason: str = Field(max_length=400)


@cache
def answer_for(kind: TargetKind) -> type[Columns]:
    """The schema of the developer's answer for a kind of target."""
    word = _TARGETS[kind][1]
    most = _MOST_NUMBERS if kind is TargetKind.MULTI_TARGET else 1
    least = 2 if kind is TargetKind.MULTI_TARGET else 1
    targets: Any = (tuple[word, ...], Field(min_length=least, max_length=most))  # type: ignore[valid-type]
    return create_model("Columns", __base__=Columns, __doc__=Columns.__doc__, targets=targets)


async def develop(
    conversation: Conversation, slot: Slot, idea: Idea, giveaways: tuple[str, ...]
) -> tuple[Domain, Columns]:
    """Ask for the columns of an idea.

    Raises:
        GivenUp: if none came that hold.
    """
    values = {"idea": idea.model_dump_json(indent=1), "target": slot.seed.structure.target}
    return await _settle(conversation, slot, idea, fill("developer_question", values), giveaways)


async def look_again(
    conversation: Conversation, slot: Slot, idea: Idea, columns: Columns, sample: str, giveaways: tuple[str, ...]
) -> tuple[Domain, Columns] | None:
    """Show a rendered sample and the first scores; the developer keeps the columns or writes them anew, once.

    Returns:
        The new columns; None if the old ones are kept.

    Raises:
        GivenUp: if it revises and the new ones do not hold.
    """
    written = columns.model_dump_json(indent=1)
    question = fill("developer_look", {"columns": written, "sample": sample})
    second = await conversation.settle("developer_second", question, Second, lambda _: [])
    if second.verdict == "keep":
        return None
    values = {"idea": idea.model_dump_json(indent=1), "target": slot.seed.structure.target}
    again = fill("developer_again", {"columns": written, "sample": sample, "reason": json.dumps(second.reason)})
    question = f"{fill('developer_question', values)}\n\n{again}"
    return await _settle(conversation, slot, idea, question, giveaways)


async def _settle(
    conversation: Conversation, slot: Slot, idea: Idea, question: str, giveaways: tuple[str, ...]
) -> tuple[Domain, Columns]:
    kind = slot.seed.structure.target

    def judge(columns: Columns) -> list[str]:
        return columns_problems(domain_of(idea, columns, kind), columns.motifs, giveaways)

    columns = await conversation.settle("developer", question, answer_for(kind), judge)
    return domain_of(idea, columns, kind), columns


def domain_of(idea: Idea, columns: Columns, kind: TargetKind) -> Domain:
    """Put an idea's words and its columns together. Whether they fit is judged afterwards."""
    targets = TargetWords.model_construct(
        **{**dict.fromkeys(TargetWords.model_fields, ()), _TARGETS[kind][0]: columns.targets}  # type: ignore[attr-defined]
    )
    return Domain.model_construct(
        name=idea.name,
        title=idea.title,
        row=idea.row,
        overview=idea.overview,
        numeric=columns.numeric,
        categorical=columns.categorical,
        high_cardinality=columns.high_cardinality,
        dates=columns.dates,
        units=columns.units,
        ratios=(),
        products=(),
        periods=columns.periods,
        targets=targets,
    )


def columns_problems(domain: Domain, motifs: tuple[MotifChoice, ...], giveaways: tuple[str, ...]) -> list[str]:
    """Whatever is wrong with a domain or with what its motifs are to do."""
    problems = domain_problems(domain, giveaways)
    used = [column for choice in motifs for column in choice.columns]
    if twice := sorted({column for column in used if used.count(column) > 1}):
        problems.append(f"motifs: {', '.join(twice)} in two motifs; a column serves one")
    unknown = {name for name, _ in domain.periods} - {word.name for word in domain.numeric}
    problems += [f"periods: {name} is not a numeric column" for name in sorted(unknown)]
    if problems:
        return problems
    # Which names high-cardinality columns will have is drawn later; here it matters that they have many.
    many = tuple(f"name_{number}" for number in range(_MANY_LEVELS))
    high_cardinality = tuple(
        CategoricalWord(name=word.name, meaning=word.meaning, levels=many) for word in domain.high_cardinality
    )
    return rule_problems(motifs, Vocabulary(domain, high_cardinality, None, None))
