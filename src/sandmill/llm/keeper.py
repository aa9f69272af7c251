"""Paid answers on their way to the store: many at a time, so that the thread that asks is seldom interrupted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandmill.errors import StoreError
from sandmill.llm.budget import Budget
from sandmill.llm.cache import Recordings
from sandmill.models.llm import Prompt, Reply

MOST_AT_ONCE = 16
"""Answers that one writer takes. One is enough for a disk; a slow store gets another for every so many that wait."""

_Paid = tuple[Prompt, Reply]


@dataclass
class Keeper:
    """Keeps answers in the order in which they came. Safe for many tasks of one event loop.

    Args:
        recordings: where answers go.
        budget: where receipts go.
    """

    recordings: Recordings
    budget: Budget
    _waiting: list[tuple[_Paid, "asyncio.Future[Reply]"]] = field(init=False, default_factory=list)
    _writers: set["asyncio.Task[None]"] = field(init=False, default_factory=set)

    async def keep(self, prompt: Prompt, reply: Reply) -> Reply:
        """Return as soon as an answer and its receipt are written.

        Raises:
            StoreError: if they cannot be written.
        """
        kept: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append(((prompt, reply), kept))
        if len(self._waiting) > MOST_AT_ONCE * len(self._writers):
            writer = asyncio.create_task(self._write())
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        return await kept

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            outcomes = await asyncio.to_thread(self._write_all, [paid for paid, _ in batch])
            for (_, kept), outcome in zip(batch, outcomes, strict=True):
                if kept.done():
                    continue  # whoever asked was cancelled meanwhile
                if isinstance(outcome, StoreError):
                    kept.set_exception(outcome)
                else:
                    kept.set_result(outcome)

    def _write_all(self, batch: Sequence[_Paid]) -> list[Reply | StoreError]:
        """Write one receipt, then the answers: an answer that is found again was paid for on record."""
        try:
            self.budget.note(batch[0][1].key, [reply.usage for _, reply in batch])
        except StoreError as error:
            return [error] * len(batch)
        return [self._write_one(prompt, reply) for prompt, reply in batch]

    def _write_one(self, prompt: Prompt, reply: Reply) -> Reply | StoreError:
        try:
            return self.recordings.keep(prompt, reply)
        except StoreError as error:
            return error
