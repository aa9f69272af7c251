"""The client for prompts: recorded replies first, then each model in turn, within limits of time and money."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from sandmill.errors import NoAnswer, ReplayMiss
from sandmill.llm.budget import Budget, prices_of
from sandmill.llm.cache import Recordings, request_key
from sandmill.llm.provider import FORMS, RequestFailed, complete, read_json
from sandmill.models.llm import AnswerForm, LlmSettings, ModelChoice, Prompt, Reply

FIRST_WAIT_S = 0.5
"""Mean wait before the first retry; doubled for each further one."""
LONGEST_WAIT_S = 60.0
"""Longest wait before a retry. A model whose server asks for more is passed over."""


_Answer = TypeVar("_Answer")


async def retry(send: Callable[[], Awaitable[_Answer]], retries: int) -> _Answer:
    """Send a request, and send it again after each transient failure.

    Raises:
        RequestFailed: the last failure.
    """
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


class LlmClient:
    """Answers prompts. Concurrent tasks of one event loop may share a client.

    Args:
        choice: models and parameters; they are part of every request's key.
        settings: how requests are sent.
        recordings: replies that were paid for, and where new ones are written.
        budget: spending limit; None means no limit.
        prices: dollars per million tokens of `input` and `output`; they replace LiteLLM's table.
    """

    def __init__(
        self,
        choice: ModelChoice,
        settings: LlmSettings,
        recordings: Recordings,
        budget: Budget | None = None,
        prices: Mapping[str, float] | None = None,
    ) -> None:
        self._choice, self._settings, self._recordings, self._prices = choice, settings, recordings, prices
        self.budget = budget or Budget()
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._form_number: dict[str, int] = {}
        """Place in `FORMS` of the strictest form that each model's server accepts."""
        self._in_flight: dict[str, asyncio.Task[Reply]] = {}

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer a prompt. Equal prompts that are asked at the same time are sent once.

        Raises:
            ReplayMiss: in replay, if the request is not recorded.
            SpendLimit: if the request could cost more than what is left.
            NoAnswer: if every model failed; the message says how each did.
        """
        keys = [request_key(model, self._choice, prompt) for model in self._choice.models]
        if running := self._in_flight.get(keys[0]):
            return (await asyncio.shield(running)).model_copy(update={"is_recorded": True})
        task = self._in_flight[keys[0]] = asyncio.create_task(self._answer(prompt, keys))
        task.add_done_callback(lambda _: self._in_flight.pop(keys[0]))
        return await asyncio.shield(task)

    async def _answer(self, prompt: Prompt, keys: list[str]) -> Reply:
        reply = await self._find(keys) or await self._ask_models(prompt, keys)
        found = read_json(reply.text)
        return reply.model_copy(update={"problem": found} if isinstance(found, str) else {"value": found})

    async def _find(self, keys: list[str]) -> Reply | None:
        for key in keys:
            if found := await asyncio.to_thread(self._recordings.find, key):
                return found
        return None

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

    async def _ask_model(self, model: str, key: str, prompt: Prompt) -> Reply:
        """Ask one model in the strictest form that its server accepts."""
        for number in range(self._form_number.get(model, 0), len(FORMS)):
            try:
                reply = await retry(partial(self._send, model, key, prompt, FORMS[number]), self._settings.retries)
            except RequestFailed as failure:
                if failure.may_be_form and FORMS[number] != FORMS[-1]:
                    continue
                raise
            self._form_number[model] = max(number, self._form_number.get(model, 0))
            return reply
        raise AssertionError("unreachable: the last form returns or raises")

    async def _send(self, model: str, key: str, prompt: Prompt, form: AnswerForm) -> Reply:
        """Send a request once and book its cost, whether the answer is usable or not."""
        prices = prices_of(model, self._prices)
        async with self._slots, self.budget.reserve(prices.highest(prompt, self._choice.max_tokens)):
            completion = await complete(model, self._choice, self._settings, prompt, form)
            usage = prices.usage(prompt, form, completion)
            self.budget.paid = self.budget.paid.plus(usage)
        if completion.problem:
            await asyncio.to_thread(self.budget.add_receipt, key, usage)
            raise RequestFailed(completion.problem)
        return Reply(text=completion.text, model=model, form=form, usage=usage, key=key)

    def _record(self, prompt: Prompt, reply: Reply) -> Reply:
        """Write the receipt before the reply, so that no reply is found again whose cost is not counted."""
        self.budget.add_receipt(reply.key, reply.usage)
        return self._recordings.add(prompt, reply)
