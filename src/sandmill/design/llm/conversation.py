"""A conversation with one role: a question, an answer that is judged, and the exact problems back until it holds."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from sandmill.models.llm import Message, Prompt, Reply, Usage

Answer = TypeVar("Answer", bound=BaseModel)

MOST_PROBLEMS = 12
"""Told at once: a longer list is not read."""
LONGEST_ANSWER = 40_000
"""Characters of an answer that are given back with its problems."""
_LONGEST_VALUE = 80
_PLACE = re.compile(r"\{\{(\w+)\}\}")


class Ask(Protocol):
    """Whoever answers prompts: the client of `sandmill.llm`, passed in by the build."""

    def __call__(self, prompt: Prompt) -> Awaitable[Reply]:
        """Answer one prompt."""


class GivenUp(Exception):
    """A role did not come to an answer that holds."""

    def __init__(self, role: str, problems: list[str]) -> None:
        self.role, self.problems = role, problems
        super().__init__(f"{role}: {'; '.join(problems)}")


@dataclass(frozen=True)
class Exchange:
    """One question, its answer and what was wrong with it."""

    role: str
    question: str
    reply: Reply
    problems: tuple[str, ...] = ()


@dataclass
class Conversation:
    """Everything that was said over one design, and what it took."""

    ask: Ask
    repairs: int
    """Times that a role may mend its answer."""
    draw: str
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Of all replies, when they were given."""
        return _sum(exchange.reply.usage for exchange in self.exchanges)

    @property
    def sent_back(self) -> int:
        """Answers that did not hold."""
        return sum(bool(exchange.problems) for exchange in self.exchanges)

    async def settle(
        self,
        role: str,
        question: str,
        answer: type[Answer],
        judge: Callable[[Answer], list[str]],
        ask_others: Callable[[Answer], Awaitable[list[str]]] | None = None,
    ) -> Answer:
        """Ask a role until its answer holds.

        Args:
            role: names the prompt file of its standing orders.
            question: what is asked this time, facts and data included.
            answer: schema of the answer.
            judge: lists what is wrong with a well-formed answer.
            ask_others: does the same by asking another role; only of what the judge found no fault with.

        Raises:
            GivenUp: after as many repairs as allowed; holds the last problems.
        """
        messages = [Message(role="system", content=orders_of(role)), Message(role="user", content=question)]
        for attempt in range(self.repairs + 1):
            prompt = Prompt(role=role, messages=tuple(messages), answer=_schema_of(answer), draw=self.draw)
            reply = await self.ask(prompt)
            found, problems = _read(reply, answer)
            if found is not None:
                problems = judge(found)
            place = len(self.exchanges)
            self.exchanges.append(Exchange(role, messages[-1].content, reply, tuple(problems)))
            if found is not None and not problems and ask_others:
                problems = await ask_others(found)
                self.exchanges[place] = Exchange(role, messages[-1].content, reply, tuple(problems))
            if found is not None and not problems:
                return found
            if attempt == self.repairs:
                raise GivenUp(role, problems)
            messages += [
                Message(role="assistant", content=reply.text[:LONGEST_ANSWER]),
                Message(role="user", content=_send_back(problems)),
            ]
        raise AssertionError("unreachable: the last attempt returns or raises")


@cache
def _template(name: str) -> str:
    return files("sandmill.design").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def _schema_of(answer: type[BaseModel]) -> dict[str, Any]:
    return answer.model_json_schema()


@cache
def orders_of(role: str) -> str:
    """The standing orders of a role: the same for every design, so no data can change them."""
    return f"{_template('common')}\n\n{_template(role)}"


def fill(name: str, values: Mapping[str, str]) -> str:
    """Fill a prompt file. What is put in is never read as a template again.

    Raises:
        KeyError: if the file has a place that no value is given for.
    """
    return _PLACE.sub(lambda place: values[place[1]], _template(name))


def _read(reply: Reply, answer: type[Answer]) -> tuple[Answer | None, list[str]]:
    if reply.value is None:
        return None, [reply.problem]
    try:
        return answer.model_validate(reply.value), []
    except ValidationError as error:
        return None, [_told(dict(detail)) for detail in error.errors(include_url=False)]


def _told(detail: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in detail["loc"]) or "the answer"
    if detail["type"] == "extra_forbidden":
        return f"{where}: there is no such field; leave it out"
    if detail["type"] in ("missing", "value_error"):
        return f"{where}: {detail['msg']}"
    saw = str(detail["input"])
    return f"{where}: {detail['msg']}; saw {saw if len(saw) <= _LONGEST_VALUE else saw[:_LONGEST_VALUE] + ' ...'}"


def _send_back(problems: list[str]) -> str:
    told = "\n".join(f"- {problem}" for problem in problems[:MOST_PROBLEMS])
    rest = len(problems) - MOST_PROBLEMS
    more = f"\n- and {rest} more of the same kinds" if rest > 0 else ""
    return fill("repair", {"problems": told + more})


def _sum(usages: Any) -> Usage:
    total = Usage()
    for usage in usages:
        total = total.plus(usage)
    return total
