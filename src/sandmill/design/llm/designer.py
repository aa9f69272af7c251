"""Five roles in a row for every slot: what comes out is a draft that the grammar's machinery composes, or a refusal."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic_core import to_json

from sandmill.design.llm.conversation import Ask, Conversation, GivenUp
from sandmill.design.llm.developer import develop, look_again
from sandmill.design.llm.diversity import KnownDomain, choose_idea
from sandmill.design.llm.engineer import choose_evaluation
from sandmill.design.llm.strategist import Idea, propose
from sandmill.design.llm.writer import write
from sandmill.errors import NoAnswer, ReplayMiss, SpendLimit
from sandmill.models.design_draft import Authorship, DesignDraft
from sandmill.models.domain import Domain
from sandmill.models.llm import Usage
from sandmill.models.plan import Slot

MONEY_SPENT = "max_usd"
"""Reason of a refusal that is nobody's fault: the money that may be spent is spent."""
_LONGEST_DETAIL = 600

Result = TypeVar("Result")

Look = Callable[[Slot], Awaitable[str]]
"""Renders a sample of a slot's design and says how the first solvers score on it."""


@dataclass(frozen=True)
class Designed:
    """A slot with its draft, and everything that was said over it."""

    slot: Slot
    transcript: str
    """Private: it names the rule."""


@dataclass(frozen=True)
class Refused:
    """A slot that no draft came of."""

    slot: Slot
    reason: str
    detail: str
    """Says nothing of the rule that was meant."""
    usage: Usage
    """Of all replies, when they were given."""
    transcript: str


@dataclass(frozen=True)
class LlmDesigner:
    """Settles the drafts of slots, all at once. Equal slots, names and replies give equal drafts.

    Args:
        ask: answers prompts.
        repairs: times that a role may mend its answer.
        giveaways: phrases that no text may hold.
        look: shows a design before it is settled; none: the developer is not shown any.
        at_once: designs in the making at a time; which idea each takes does not depend on it.
        forgives_misses: refuse what replay has no answer for, instead of stopping the run.
    """

    ask: Ask
    repairs: int
    giveaways: tuple[str, ...]
    look: Look | None = None
    at_once: int = 8
    """Designs in the making; each asks one question at a time, and waits once, for earlier ones to take their idea."""
    forgives_misses: bool = False
    """Refuse a slot that replay has no answer for, where which slots are asked for was not known to the recording."""

    async def design(self, slots: Sequence[Slot], held: Sequence[KnownDomain], draw: str) -> list[Designed | Refused]:
        """Design for every slot.

        Ideas are taken in the order of the slots, each as far as possible from those that are held and from those of
        earlier slots, so no answer depends on which came first. Designs are begun in that order too, and few at a time:
        money that ends leaves few of them unfinished.

        Args:
            slots: to be designed.
            held: what the release and the library have already.
            draw: which round this is; equal questions of another round are other questions.

        Raises:
            ReplayMiss: in replay, if a request is not recorded and misses are not forgiven.
        """
        taken, gate = list(held), asyncio.Semaphore(self.at_once)
        names = [one.name for one in held]
        turns = [asyncio.Event() for _ in slots]

        async def one(place: int, slot: Slot) -> Designed | Refused:
            async with gate:
                conversation = Conversation(self.ask, self.repairs, f"slot {slot.number} {draw}")
                try:
                    candidates = await self._try(slot, conversation, propose(conversation, slot, names))
                    if place:
                        await turns[place - 1].wait()
                    if isinstance(candidates, Refused):
                        return candidates
                    idea = choose_idea(candidates, taken)
                    taken.append(KnownDomain.of_idea(idea))
                finally:
                    turns[place].set()
                return await self._try(slot, conversation, self._settle(conversation, slot, idea))

        return await asyncio.gather(*(one(place, slot) for place, slot in enumerate(slots)))

    async def _try(self, slot: Slot, conversation: Conversation, work: Awaitable[Result]) -> Result | Refused:
        """Turn whatever one design fails with into a refusal."""
        try:
            return await work
        except GivenUp as error:
            reason, detail = f"unsound_{error.role}", _without_rule(error)
        except SpendLimit as error:
            reason, detail = MONEY_SPENT, str(error)
        except NoAnswer as error:
            reason, detail = "no_answer", str(error)
        except ReplayMiss as error:
            if not self.forgives_misses:
                raise
            reason, detail = "not_recorded", str(error)
        return Refused(slot, reason, detail[:_LONGEST_DETAIL], conversation.usage, _transcript(conversation))

    async def _settle(self, conversation: Conversation, slot: Slot, idea: Idea) -> Designed:
        domain, columns = await develop(conversation, slot, idea, self.giveaways)
        evaluation = await choose_evaluation(conversation, slot, idea)

        def draft_of(domain: Domain) -> DesignDraft:
            return DesignDraft(
                domain=Domain.model_validate(domain.model_dump()),
                motifs=columns.motifs,
                faults=idea.faults,
                metric=evaluation.metric,
                split=evaluation.split,
                baselines=idea.baselines,
            )

        if self.look is not None:
            sample = await self.look(slot.model_copy(update={"draft": draft_of(domain)}))
            revised = await look_again(conversation, slot, idea, columns, sample, self.giveaways)
            domain, columns = revised or (domain, columns)
        domain = await write(conversation, domain, columns.motifs, self.giveaways)
        designed = slot.model_copy(update={"draft": draft_of(domain), "authorship": _authorship(conversation)})
        return Designed(designed, _transcript(conversation))


def _without_rule(error: GivenUp) -> str:
    """The problems that are told outside: those that speak of motifs stay in the transcript."""
    told = [problem for problem in error.problems if "motif" not in problem and error.role != "writer"]
    count = len(error.problems)
    problems = f"{count} problem" + ("s" if count != 1 else "")
    return f"{error.role}: {problems} left after all repairs" + (f": {'; '.join(told)}" if told else "")


def _authorship(conversation: Conversation) -> Authorship:
    replies = [exchange.reply for exchange in conversation.exchanges]
    sources = sorted({reply.source for reply in replies})
    return Authorship(
        models=tuple(dict.fromkeys(reply.model for reply in replies)),
        replies=tuple(reply.key for reply in replies),
        source=" and ".join(sources),
        usage=conversation.usage,
        repairs=conversation.sent_back,
    )


def _transcript(conversation: Conversation) -> str:
    said = [
        {
            "role": exchange.role,
            "question": exchange.question,
            "model": exchange.reply.model,
            "passed_over": exchange.reply.passed_over,
            "answer": exchange.reply.text,
            "problems": exchange.problems,
            "usd": exchange.reply.usage.usd,
            "request": exchange.reply.key,
        }
        for exchange in conversation.exchanges
    ]
    return to_json(said, indent=1).decode()
