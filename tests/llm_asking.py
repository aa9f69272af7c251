"""Designing with scripted answers in place of a model, without a server."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design.llm import Designed, LlmDesigner, Refused
from sandmill.design.llm.strategist import KnownDomain
from sandmill.fingerprint import fingerprint
from sandmill.kinds.library import load_domains
from sandmill.llm.provider import read_json
from sandmill.models.base import Band
from sandmill.models.llm import Prompt, Reply, Usage
from sandmill.models.plan import Slot
from tests.designs import TASKS, make_seed
from tests.llm_playbook import Playbook

KNOWN = tuple(KnownDomain.of_domain(domain) for domain in load_domains())
ONE = Usage(requests=1, prompt_tokens=100, answer_tokens=50, usd=0.002)


class Scripted:
    """An `Ask` that keeps what it was asked; an answer that is text is given as it is."""

    def __init__(self, spoil: Callable[[str, int, Any], Any] | None = None) -> None:
        self.prompts: list[Prompt] = []
        self._book = Playbook(spoil)

    async def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        answer = self._book.answer(prompt.role, [m.model_dump() for m in prompt.messages])
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        found = read_json(text)
        key = fingerprint({"prompt": prompt.model_dump_json()})
        told = {"problem": found} if isinstance(found, str) else {"value": found}
        return Reply(text=text, model="openai/first", form="text", usage=ONE, key=key, **told)

    def asked(self, role: str) -> list[Prompt]:
        """Prompts of one role."""
        return [prompt for prompt in self.prompts if prompt.role == role]


def make_slot(number: int = 0, task: int = 0, **seed: Any) -> Slot:
    """Make a slot whose seed has one of the usual tasks."""
    made = make_seed(*TASKS[task])
    return Slot(number=number, seed=made.model_copy(update=seed), band=Band.MEDIUM)


def design(ask: Any, *slots: Slot, repairs: int = 2) -> list[Designed | Refused]:
    """Design slots with all that the library knows as known domains."""
    designer = LlmDesigner(ask, repairs, GIVEAWAYS)
    return asyncio.run(designer.design(slots or [make_slot()], KNOWN, "round 0"))
