"""Conversation with a role: a question, an answer that code checks, and repairs until the answer is valid."""

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from importlib.resources import files
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from sandmill.design.shape import MOST_CLASSES
from sandmill.errors import name_some, visible
from sandmill.models.design_draft import MotifChoice
from sandmill.models.english import unfit_parts
from sandmill.models.llm import Message, Prompt, Reply, Usage
from sandmill.models.plan import Slot
from sandmill.models.profile import ColumnRole, TableProfile
from sandmill.models.seed import SeedTask
from sandmill.models.structure import SplitKind, Structure

Answer = TypeVar("Answer", bound=BaseModel)

MOST_PROBLEMS = 12
"""Problems that one repair request lists; models do not read longer lists."""
LONGEST_ANSWER = 40_000
"""Characters of an invalid answer that a repair request repeats."""
_LONGEST_VALUE = 80
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")

MOST_KNOWN = 40
"""Known domains that a question lists; the latest ones."""
LONGEST_TEXT = 500
"""Characters of a seed's text that are passed on; longer texts only cost money."""


class Ask(Protocol):
    """Answers prompts. The pipeline passes in the client of `sandmill.llm`."""

    def __call__(self, prompt: Prompt) -> Awaitable[Reply]:
        """Answer one prompt."""


class GivenUp(Exception):
    """A role gave no valid answer within its repairs."""

    def __init__(self, role: str, problems: list[str]) -> None:
        self.role, self.problems = role, problems
        super().__init__(f"{role}: {'; '.join(problems)}")


@dataclass(frozen=True)
class Exchange:
    """A question, its answer and the problems of the answer."""

    role: str
    question: str
    reply: Reply
    problems: tuple[str, ...] = ()


@dataclass
class Conversation:
    """All exchanges about one design, with their cost."""

    ask: Ask
    repairs: int
    """Most repair requests per question."""
    draw: str
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Sum over all replies; recorded replies count with their original cost."""
        return reduce(Usage.plus, (exchange.reply.usage for exchange in self.exchanges), Usage())

    @property
    def repairs_made(self) -> int:
        """Number of invalid answers."""
        return sum(bool(exchange.problems) for exchange in self.exchanges)

    async def settle(
        self,
        role: str,
        question: str,
        answer: type[Answer],
        judge: Callable[[Answer], list[str]],
        review: Callable[[Answer], Awaitable[list[str]]] | None = None,
    ) -> Answer:
        """Ask a role until its answer is valid.

        Args:
            role: name of the prompt file with its instructions.
            question: the question with its facts and data.
            answer: schema of the answer.
            judge: lists the problems of a well-formed answer.
            review: lists problems by asking another role; called only if `judge` finds none.

        Raises:
            GivenUp: if the answer after the last repair is invalid; holds its problems.
        """
        messages = [Message(role="system", content=instructions_for(role)), Message(role="user", content=question)]
        for attempt in range(self.repairs + 1):
            prompt = Prompt(role=role, messages=tuple(messages), answer=answer.model_json_schema(), draw=self.draw)
            reply = await self.ask(prompt)
            found, problems = _read(reply, answer)
            if found is not None:
                problems = [*_unfit(found.model_dump()), *judge(found)]
            place, problems = len(self.exchanges), list(map(visible, problems))
            self.exchanges.append(Exchange(role, messages[-1].content, reply, tuple(problems)))
            if found is not None and not problems:
                problems = await review(found) if review else []
                if not problems:
                    return found
                self.exchanges[place] = replace(self.exchanges[place], problems=tuple(problems))
            if attempt == self.repairs:
                raise GivenUp(role, problems)
            messages += [
                Message(role="assistant", content=reply.text[:LONGEST_ANSWER]),
                Message(role="user", content=_repair_request(problems)),
            ]
        raise AssertionError("unreachable: the last attempt returns or raises")


@cache
def _template(name: str) -> str:
    return files("sandmill.design").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


AREAS = tuple(_template("areas").splitlines())
"""Areas for domains, one per slot in turn, so that concurrent strategists choose different domains."""


@cache
def instructions_for(role: str) -> str:
    """Return a role's instructions. They are the same for every design, so no data can change them."""
    return f"{_template('common')}\n\n{_template(role)}"


def fill(name: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a prompt file. Values are inserted as they are, placeholders in them included.

    Raises:
        KeyError: if a placeholder has no value.
    """
    return _PLACEHOLDER.sub(lambda found: values[found[1]], _template(name))


def _read(reply: Reply, answer: type[Answer]) -> tuple[Answer | None, list[str]]:
    if reply.value is None:
        return None, [reply.problem]
    try:
        return answer.model_validate(reply.value), []
    except ValidationError as error:
        return None, [_problem(dict(detail)) for detail in error.errors(include_url=False)]


def _unfit(value: object, where: str = "") -> Iterator[str]:
    """List the texts of an answer that are not plain. They may reach a description or a prompt."""
    if isinstance(value, str) and (parts := unfit_parts(value)):
        yield f"{where}: holds {name_some(parts)}; no HTML, links, special tokens and characters that do not show"
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
    for name, item in items:
        yield from _unfit(item, f"{where}.{name}".removeprefix("."))


def _problem(detail: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in detail["loc"]) or "the answer"
    if detail["type"] == "extra_forbidden":
        return f"{where}: there is no such field; leave it out"
    if detail["type"] in ("missing", "value_error"):
        return f"{where}: {detail['msg']}"
    saw = str(detail["input"])
    return f"{where}: {detail['msg']}; saw {saw if len(saw) <= _LONGEST_VALUE else saw[:_LONGEST_VALUE] + ' ...'}"


def _repair_request(problems: list[str]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems[:MOST_PROBLEMS])
    rest = len(problems) - MOST_PROBLEMS
    more = f"\n- and {rest} more of the same kinds" if rest > 0 else ""
    return fill("repair", {"problems": listed + more})


def facts_of(slot: Slot, known: Sequence[str]) -> dict[str, str]:
    """Return what a question about a new world holds: structure and texts of the seed, an area, and known domains."""
    return {
        "structure": describe_structure(slot.seed.structure),
        "seed": quote_seed(slot.seed),
        "area": AREAS[(slot.number * 7) % len(AREAS)],
        "known": ", ".join(known[-MOST_KNOWN:]) or "none",
    }


def name_problems(name: str, known: Sequence[str]) -> list[str]:
    """Refuse the name of a domain that exists."""
    return [f"the domain {name} exists already; choose another one"] if name in known else []


def column_problems(motifs: Sequence[MotifChoice], columns: Collection[str], unknown_are: str) -> list[str]:
    """Refuse motifs on columns that there are not, and columns of two motifs."""
    used = [column for choice in motifs for column in choice.columns]
    unknown, twice = sorted(set(used).difference(columns)), repeated(used)
    problems = [f"motifs use {', '.join(unknown)}, which {unknown_are}"] if unknown else []
    return problems + ([f"motifs: {', '.join(twice)} in two motifs; a column serves one"] if twice else [])


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, in order."""
    return sorted({name for name in names if names.count(name) > 1})


def quote_seed(seed: SeedTask) -> str:
    """Return a seed's shortened title and summary as one line of JSON. Control characters are escaped."""
    return json.dumps({"title": _short(seed.title), "summary": _short(seed.summary)}, ensure_ascii=True)


def describe_structure(structure: Structure) -> str:
    """List what a design must preserve. The list holds numbers and fixed words only, no text of the seed."""
    faults = ", ".join(sorted(structure.pathologies)) or "none"
    lines = [
        f"modality: {structure.modality}",
        f"target: {structure.target}",
        f"classes: {structure.n_classes or '-'}",
        f"targets: {structure.n_targets}",
        f"metric: {structure.metric}",
        f"split: {structure.split or SplitKind.RANDOM}",
        f"columns: {structure.columns.numeric} numeric, {structure.columns.categorical} categorical, "
        f"{structure.columns.date} date",
        f"share of missing cells: {structure.missing_share:.2f}",
        f"faults of its data: {faults}",
    ]
    lines += _details(structure.profile) if structure.profile else []
    return "\n".join(f"- {line}" for line in lines)


def _details(profile: TableProfile) -> list[str]:
    """List what is measured of the columns and classes of a seed's table."""
    roles = Counter(column.role for column in profile.columns)
    levels = sorted(column.levels for column in profile.columns if column.role is ColumnRole.CATEGORY)
    shares = ", ".join(f"{share:.2f}" for share in profile.class_shares[:MOST_CLASSES])
    return [
        f"kinds of columns: {', '.join(f'{count} {role}' for role, count in roles.items())}",
        *([f"values of the categorical columns: {levels[0]} to {levels[-1]}"] if levels else []),
        *([f"shares of the classes: {shares}"] if shares else []),
        f"motifs may use at most {roles[ColumnRole.REAL] + roles[ColumnRole.WHOLE]} quantities and {len(levels)} "
        "categories; more columns are added later, and those without a motif are left out if they are too many",
    ]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} ..."
