"""Ask a language model, in several roles, to design each slot.

The result for a slot is a draft of a rule and its texts, or texts alone (a world), or a refusal.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic_core import to_json

from sandmill.design.conditions import possible_splits
from sandmill.design.grammar import medium_of
from sandmill.design.llm.conversation import Ask, Conversation, GivenUp
from sandmill.design.llm.developer import develop
from sandmill.design.llm.dresser import dress, narrate
from sandmill.design.llm.strategist import Idea, KnownDomain, choose_idea, propose
from sandmill.design.llm.writer import write
from sandmill.errors import NoAnswer, ReplayMiss, SpendLimit
from sandmill.kinds.library import medium_at
from sandmill.models.channel import Medium
from sandmill.models.design_draft import Authorship, DesignDraft
from sandmill.models.domain import Domain, World
from sandmill.models.kind import Kind, kind_of
from sandmill.models.llm import Usage
from sandmill.models.plan import Slot
from sandmill.models.structure import SplitKind

MONEY_SPENT = "max_usd"
"""Reason of a refusal because the spending limit is reached; it does not count as a failed design."""
_LONGEST_DETAIL = 600

Result = TypeVar("Result")


@dataclass(frozen=True)
class Designed:
    """A slot with its draft or its world, and the transcript of its conversation."""

    slot: Slot
    transcript: str
    """Private: it names the motifs."""


@dataclass(frozen=True)
class Refused:
    """A slot without a draft."""

    slot: Slot
    reason: str
    detail: str
    """Names no motif: it is published."""
    usage: Usage
    """Sum over all replies; recorded replies count with their original cost."""
    transcript: str


@dataclass(frozen=True)
class LlmDesigner:
    """Drafts designs for slots concurrently. Equal slots, known domains and replies give equal drafts.

    Args:
        ask: answers prompts.
        repairs: most repair requests per question.
        giveaways: phrases that no text may contain.
        at_once: number of designs in progress at a time; it does not change any draft.
        forgives_misses: in replay, refuse a slot whose request is not recorded instead of stopping the run.
    """

    ask: Ask
    repairs: int
    giveaways: tuple[str, ...]
    at_once: int = 8
    forgives_misses: bool = False

    async def design(self, slots: Sequence[Slot], known: Sequence[KnownDomain], draw: str) -> list[Designed | Refused]:
        """Draft a design for every slot.

        Ideas are chosen in the order of the slots, each as far as possible from known domains and from the ideas of
        earlier slots, so the order of replies changes nothing. Designs start in the same order and few at a time:
        when the spending limit is reached, few are unfinished. `draw` names the round: equal questions of two rounds
        are different requests.

        Raises:
            ReplayMiss: in replay, if a request is not recorded and misses are not forgiven.
        """
        taken, gate = list(known), asyncio.Semaphore(self.at_once)
        names = [one.name for one in known]
        turns = [asyncio.Event() for _ in slots]

        async def one(place: int, slot: Slot) -> Designed | Refused:
            async with gate:
                conversation = Conversation(self.ask, self.repairs, f"slot {slot.number} {draw}")
                try:
                    if (kind := kind_of(slot.seed.structure)) and kind.media:
                        return await self._try(slot, conversation, self._narrate(conversation, slot, kind, names))
                    if (medium := medium_of(slot)) is not None:
                        return await self._try(slot, conversation, self._dress(conversation, slot, medium, names))
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
        """Turn the failure of one design into a refusal."""
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

    async def _dress(self, conversation: Conversation, slot: Slot, medium: Medium, known: Sequence[str]) -> Designed:
        """Let the strategist invent the world of items; the things that they show are the medium's."""
        domain, answer = await dress(conversation, slot, medium, known, self.giveaways)
        split = slot.seed.structure.split or SplitKind.RANDOM
        written = {"item": answer.item, "place": slot.place or 0.0, "baselines": answer.baselines}
        return _drafted(conversation, slot, domain, motifs=answer.motifs, split=split, **written)

    async def _narrate(self, conversation: Conversation, slot: Slot, kind: Kind, known: Sequence[str]) -> Designed:
        """Ask for the texts of a task that has no rule over columns, such as one of tokens or pages."""
        medium = medium_at(kind.load("media").media_of(kind), slot)
        world = await narrate(conversation, slot, medium, known, self.giveaways)
        return _designed(conversation, slot, world=world)

    async def _settle(self, conversation: Conversation, slot: Slot, idea: Idea) -> Designed:
        domain, columns = await develop(conversation, slot, idea, self.giveaways)
        domain = await write(conversation, domain, columns.motifs, self.giveaways)
        structure = slot.seed.structure
        split = possible_splits(structure, structure.pathologies)[0]
        written = {"faults": idea.faults, "baselines": idea.baselines}
        return _drafted(conversation, slot, domain, motifs=columns.motifs, split=split, **written)


def _drafted(conversation: Conversation, slot: Slot, domain: Domain, **written: Any) -> Designed:
    metric = slot.seed.structure.metric
    draft = DesignDraft(domain=Domain.model_validate(domain.model_dump()), metric=metric, **written)
    return _designed(conversation, slot, draft=draft)


def _designed(conversation: Conversation, slot: Slot, **written: DesignDraft | World) -> Designed:
    designed = slot.model_copy(update={**written, "authorship": _authorship(conversation)})
    return Designed(designed, _transcript(conversation))


def _without_rule(error: GivenUp) -> str:
    """Describe the problems without those that name motifs, which stay in the transcript."""
    public = [problem for problem in error.problems if "motif" not in problem and error.role != "writer"]
    count = len(error.problems)
    problems = f"{count} problem" + ("s" if count != 1 else "")
    return f"{error.role}: {problems} left after all repairs" + (f": {'; '.join(public)}" if public else "")


def _authorship(conversation: Conversation) -> Authorship:
    replies = [exchange.reply for exchange in conversation.exchanges]
    sources = sorted({reply.source for reply in replies})
    return Authorship(
        models=tuple(dict.fromkeys(reply.model for reply in replies)),
        replies=tuple(reply.key for reply in replies),
        source=" and ".join(sources),
        usage=conversation.usage,
        repairs=conversation.repairs_made,
    )


def _transcript(conversation: Conversation) -> str:
    exchanges = [
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
    return to_json(exchanges, indent=1).decode()
