"""The client for conversations: one model, plain text in turns, within limits of time and money; records nothing."""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandmill.llm.budget import Budget, Prices, count_tokens, prices_of
from sandmill.llm.client import retry
from sandmill.llm.provider import Completion, find_context, send
from sandmill.models.llm import LlmSettings, Message, ModelChoice, Usage

_TOKENS_PER_MESSAGE = 8
"""Tokens that each message costs in addition to its text."""


@dataclass(frozen=True)
class ChatReply:
    """One message of the model."""

    text: str
    """The message as the model wrote it; empty if the model refused."""
    usage: Usage
    seconds: float
    """Time from the request to the answer, with retries and waiting."""
    is_cut_off: bool = False
    """Whether the message reached the limit of tokens."""
    is_priced: bool = True
    """Whether the price of the model is known, so that `usage.usd` means something."""


class ChatClient:
    """Continues conversations. All coroutines of one event loop may share a client.

    Args:
        choice: one model and its parameters.
        settings: how requests are sent.
        budget: spending limit; None means no limit.
        prices: dollars per million tokens of `input` and `output`; they replace LiteLLM's table.
    """

    def __init__(
        self,
        choice: ModelChoice,
        settings: LlmSettings,
        budget: Budget | None = None,
        prices: Mapping[str, float] | None = None,
    ) -> None:
        self._choice, self._settings, self._prices = choice, settings, prices
        self.budget = budget or Budget()
        self._slots = asyncio.Semaphore(settings.concurrency)

    @property
    def prices(self) -> Prices:
        """Prices of the model, which may be unknown."""
        return prices_of(self._choice.models[0], self._prices)

    async def context_tokens(self) -> int | None:
        """Return the longest conversation that leaves room for an answer; None if the server does not say."""
        context = await find_context(self._choice.models[0], self._settings)
        return None if context is None else max(1, context - self._choice.max_tokens)

    async def reply(
        self, messages: Sequence[Message], seed: int | None = None, most_tokens: int | None = None
    ) -> ChatReply:
        """Return the next message of the model. Transient failures are tried again.

        Args:
            messages: the conversation, whose last message is not the model's.
            seed: for servers that can repeat a draw; other servers do not get it.
            most_tokens: of the message. None means the choice of this client.

        Raises:
            SpendLimit: if the request could cost more than what is left.
            RequestFailed: if the last attempt failed.
        """
        began = time.monotonic()
        wire = [message.model_dump() for message in messages]
        choice = self._choice.model_copy(update={"max_tokens": most_tokens} if most_tokens else {})
        completion, usage = await retry(lambda: self._send(choice, wire, seed), self._settings.retries)
        text = completion.text
        if completion.reasoning:
            text = f"<think>\n{completion.reasoning.strip()}\n</think>\n{text.lstrip()}"
        return ChatReply(text, usage, time.monotonic() - began, completion.is_cut_off, self.prices.is_known)

    async def _send(
        self, choice: ModelChoice, wire: list[dict[str, str]], seed: int | None
    ) -> tuple[Completion, Usage]:
        """Send a request once, and book its cost."""
        model, prices = choice.models[0], self.prices
        options: dict[str, Any] = {} if seed is None else {"seed": seed}
        asked = sum(count_tokens(message["content"]) + _TOKENS_PER_MESSAGE for message in wire)
        highest = prices.prompt * asked + prices.answer * choice.max_tokens
        async with self._slots, self.budget.reserve(highest):
            completion = await send(model, choice, self._settings, wire, options)
            usage = _usage(prices, completion, asked)
            self.budget.paid = self.budget.paid.plus(usage)
        await asyncio.to_thread(self.budget.add_receipt, secrets.token_hex(12), usage)
        return completion, usage


def _usage(prices: Prices, completion: Completion, asked: int) -> Usage:
    """Return the usage of one request: the server's token counts, or estimates if it gives none."""
    prompt = completion.prompt_tokens if completion.prompt_tokens is not None else asked
    answer = completion.answer_tokens
    if answer is None:
        answer = count_tokens(completion.text + completion.reasoning)
    usd = round(prices.prompt * prompt + prices.answer * answer, 9)
    return Usage(requests=1, prompt_tokens=prompt, answer_tokens=answer, usd=usd)
