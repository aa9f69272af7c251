"""Clients: one for prompts (recorded replies first, then each model in turn), one for conversations with one model."""

import asyncio
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sandmill.errors import NoAnswer, ReplayMiss
from sandmill.llm.budget import Budget, Prices, count_tokens, prices_of
from sandmill.llm.cache import Recordings, request_key
from sandmill.llm.provider import (
    Completion,
    RequestFailed,
    complete,
    read_json,
    send,
    wire_messages,
)
from sandmill.models.llm import AnswerForm, LlmSettings, Message, ModelChoice, Prompt, Reply, Usage

FIRST_WAIT_S = 0.5
"""Mean wait before the first retry; doubled for each further one."""
LONGEST_WAIT_S = 60.0
"""Longest wait before a retry. A model whose server asks for more is passed over."""
_TOKENS_PER_MESSAGE = 8
"""Tokens that each message costs in addition to its text."""

_Answer = TypeVar("_Answer")


async def retry(send: Callable[[], Awaitable[_Answer]], retries: int) -> _Answer:
    """Send a request, and send it again after each transient failure. The last failure is raised."""
    for attempt in range(retries + 1):
        try:
            return await send()
        except RequestFailed as failure:
            # The random factor spreads the retries of requests that failed together.
            wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**attempt * random.uniform(0.5, 1.5))
            if failure.retry_after_s is not None:
                wait = failure.retry_after_s
            if not failure.is_transient or attempt == retries or wait > LONGEST_WAIT_S:
                raise
            await asyncio.sleep(wait)
    raise AssertionError("unreachable: the last attempt returns or raises")


class _Client:
    """What both clients have. Concurrent tasks of one event loop may share a client.

    Args:
        choice: models and parameters.
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

    async def _paid(
        self, prices: Prices, highest: float, asked: int, request: Callable[[], Awaitable[Completion]]
    ) -> tuple[Completion, Usage]:
        """Send a request once and book its cost, whether the answer is usable or not."""
        async with self._slots, self.budget.reserve(highest):
            completion = await request()
            usage = prices.usage(completion, asked)
            self.budget.paid = self.budget.paid.plus(usage)
        return completion, usage


def _tokens_of(texts: Iterable[str], each: int = 0) -> int:
    return sum(count_tokens(text) + each for text in texts)


class LlmClient(_Client):
    """Answers prompts. Replies that were paid for are read from the recordings, and new ones are written there."""

    def __init__(
        self,
        choice: ModelChoice,
        settings: LlmSettings,
        recordings: Recordings,
        budget: Budget | None = None,
        prices: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(choice, settings, budget, prices)
        self._recordings = recordings
        self._told_in_words: set[str] = set()
        """Models whose servers refuse schemas."""

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer a prompt.

        Raises:
            ReplayMiss: in replay, if the request is not recorded.
            SpendLimit: if the request could cost more than what is left.
            NoAnswer: if every model failed; the message says how each did.
        """
        keys = [request_key(model, self._choice, prompt) for model in self._choice.models]
        for key in keys:
            if reply := await asyncio.to_thread(self._recordings.find, key):
                break
        else:
            reply = await self._ask_models(prompt, keys)
        found = read_json(reply.text)
        return reply.model_copy(update={"problem": found} if isinstance(found, str) else {"value": found})

    async def _ask_models(self, prompt: Prompt, keys: list[str]) -> Reply:
        if self._settings.is_replay:
            models = " or ".join(self._choice.models)
            raise ReplayMiss(
                f"replay: no reply of {models} is recorded for {prompt.role}, {prompt.draw or '-'} "
                f"(request {keys[0][:12]}). The request, the models or the prompts differ from those of the recording."
            )
        failures: list[str] = []
        for model, key in zip(self._choice.models, keys, strict=True):
            try:
                reply = await self._ask_model(model, key, prompt)
            except RequestFailed as failure:
                failures.append(f"{model}: {failure}")
                continue
            reply = reply.model_copy(update={"passed_over": tuple(failures)})
            return await asyncio.to_thread(self._record, prompt, reply)
        raise NoAnswer("; ".join(failures))

    def _record(self, prompt: Prompt, reply: Reply) -> Reply:
        """Write the receipt before the reply, so that no reply is found again whose cost is not counted."""
        self.budget.add_receipt(reply.key, reply.usage)
        return self._recordings.add(prompt, reply)

    async def _ask_model(self, model: str, key: str, prompt: Prompt) -> Reply:
        """Ask one model for an answer by its schema, and in words where its server refuses the schema."""
        if model not in self._told_in_words:
            try:
                return await retry(partial(self._send, model, key, prompt, "json_schema"), self._settings.retries)
            except RequestFailed as failure:
                if not failure.may_be_form:
                    raise
        reply = await retry(partial(self._send, model, key, prompt, "text"), self._settings.retries)
        self._told_in_words.add(model)
        return reply

    async def _send(self, model: str, key: str, prompt: Prompt, form: AnswerForm) -> Reply:
        choice, prices = self._choice, prices_of(model, self._prices)
        # The highest cost: the whole prompt and the longest answer.
        most = _tokens_of((message.content for message in prompt.messages), _TOKENS_PER_MESSAGE)
        highest = prices.prompt * (most + count_tokens(str(prompt.answer))) + prices.answer * choice.max_tokens
        asked = _tokens_of(message["content"] for message in wire_messages(prompt, form))
        request = partial(complete, model, choice, self._settings, prompt, form)
        completion, usage = await self._paid(prices, highest, asked, request)
        if completion.problem:
            await asyncio.to_thread(self.budget.add_receipt, key, usage)
            raise RequestFailed(completion.problem)
        return Reply(text=completion.text, model=model, form=form, usage=usage, key=key)


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


class ChatClient(_Client):
    """Continues conversations with one model, and records nothing."""

    @property
    def prices(self) -> Prices:
        """Prices of the model, which may be unknown."""
        return prices_of(self._choice.models[0], self._prices)

    async def reply(
        self, messages: Sequence[Message], seed: int | None = None, most_tokens: int | None = None
    ) -> ChatReply:
        """Return the next message of the model. Transient failures are tried again.

        Only servers that can repeat a draw get the seed. Without `most_tokens`, the choice of this client holds.

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
        prices, options = self.prices, {} if seed is None else {"seed": seed}
        asked = _tokens_of((message["content"] for message in wire), _TOKENS_PER_MESSAGE)
        highest = prices.prompt * asked + prices.answer * choice.max_tokens
        request = partial(send, choice.models[0], choice, self._settings, wire, options)
        completion, usage = await self._paid(prices, highest, asked, request)
        await asyncio.to_thread(self.budget.add_receipt, secrets.token_hex(12), usage)
        return completion, usage
