"""Spending limit of a build, prices of models, and costs. A request is sent once its highest cost is set aside."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from secrets import token_hex

from sandmill.errors import SpendLimit
from sandmill.llm.cache import Files
from sandmill.llm.provider import Completion, load_litellm
from sandmill.models.llm import Usage

_MICRO = 1_000_000

_CHARACTERS_PER_TOKEN = 3
"""Low on purpose, so that estimates are too high: English has about 4, JSON a little more than 3."""


@dataclass
class Ledger:
    """Receipts of a build over all its runs. A receipt's file name holds its amount, so one listing gives the total."""

    files: Files
    folder: str

    def total(self) -> float:
        """Return the dollars paid so far."""
        names = (path.rpartition("/")[2] for path in self.files.list(self.folder))
        return sum(int(name.partition("-")[0]) for name in names) / _MICRO

    def add(self, key: str, usage: Usage) -> None:
        """Write a receipt. Amounts are rounded up to a millionth of a dollar, so the total is never too low."""
        micro = -int(-usage.usd * _MICRO // 1)
        if not micro:
            return
        path = f"{self.folder}/{micro}-{key[:24]}-{token_hex(4)}.json"
        self.files.create(path, usage.model_dump_json().encode(), owner_only=True)


@dataclass
class Budget:
    """Money of one build: what is paid, what is set aside for requests in flight, and the limit.

    Args:
        max_usd: the limit over all runs of the build; None means no limit.
        ledger: receipts of earlier runs and of this one; None keeps no receipts.
    """

    max_usd: float | None = None
    ledger: Ledger | None = None
    paid: Usage = field(init=False, default_factory=Usage)
    """Usage of this run alone."""
    _before: float = field(init=False)
    _in_flight: float = field(init=False, default=0.0)
    _released: asyncio.Condition = field(init=False, default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        self._before = self.ledger.total() if self.ledger else 0.0

    @property
    def spent(self) -> float:
        """Dollars paid by this run and by earlier runs of the same build."""
        return self._before + self.paid.usd

    @asynccontextmanager
    async def reserve(self, usd: float) -> AsyncIterator[None]:
        """Set aside the highest cost of a request while it is in flight.

        Most requests cost less than their highest cost. A request that does not fit beside those in flight therefore
        waits until one of them has ended.

        Raises:
            SpendLimit: if the request could cost more than what is left. Nothing was sent then.
        """
        async with self._released:
            await self._released.wait_for(lambda: self._fits(usd))
            self._in_flight += usd
        try:
            yield
        finally:
            self._in_flight -= usd
            async with self._released:
                self._released.notify_all()

    def _fits(self, usd: float) -> bool:
        if self.max_usd is None:
            return True
        if self.spent + usd > self.max_usd:
            raise SpendLimit(f"spent {self.spent:.4f} of {self.max_usd:g} USD; the next request may cost {usd:.4f}")
        return self.spent + self._in_flight + usd <= self.max_usd

    def add_receipt(self, key: str, usage: Usage) -> None:
        """Write the receipt of a request, so that the next run counts it."""
        if self.ledger:
            self.ledger.add(key, usage)


@dataclass(frozen=True)
class Prices:
    """Dollars per token of the prompt and of the answer."""

    prompt: float = 0.0
    answer: float = 0.0
    is_known: bool = True

    def usage(self, completion: Completion, asked: int) -> Usage:
        """Return the usage of one request: the server's token counts, or estimates if it gives none."""
        prompt, answer = completion.prompt_tokens, completion.answer_tokens
        prompt = asked if prompt is None else prompt
        answer = count_tokens(completion.text + completion.reasoning) if answer is None else answer
        usd = round(self.prompt * prompt + self.answer * answer, 9)
        return Usage(requests=1, prompt_tokens=prompt, answer_tokens=answer, usd=usd)


def prices_of(model: str, given: Mapping[str, float] | None = None) -> Prices:
    """Return a model's prices: the given ones, in dollars per million tokens of `input` and `output`, or LiteLLM's."""
    if given:
        return Prices(given.get("input", 0.0) / 1e6, given.get("output", 0.0) / 1e6)
    return _listed_prices(model)


@cache
def _listed_prices(model: str) -> Prices:
    try:
        info = load_litellm().get_model_info(model)
    except Exception:  # noqa: BLE001  LiteLLM raises a bare Exception for models that it does not list
        return Prices(is_known=False)
    return Prices(info.get("input_cost_per_token") or 0.0, info.get("output_cost_per_token") or 0.0)


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer. The estimate is too high rather than too low."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
