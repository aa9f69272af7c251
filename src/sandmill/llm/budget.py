"""A hard stop for money: what a request can cost at most is set aside before it is sent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import reduce

from sandmill.errors import SpendLimit
from sandmill.llm.cache import Files
from sandmill.models.llm import Usage

_MICRO = 1_000_000


@dataclass
class Ledger:
    """What a build has paid, over all its runs. A receipt's name holds its amount, so that one listing adds them up."""

    files: Files
    folder: str

    def total(self) -> float:
        """Dollars paid so far."""
        names = (path.rpartition("/")[2] for path in self.files.list(self.folder))
        return sum(int(name.partition("-")[0]) for name in names) / _MICRO

    def note(self, key: str, usages: Sequence[Usage]) -> None:
        """Keep one receipt for all. Fractions of a millionth are rounded up, so that the sum never says too little."""
        usage = reduce(Usage.plus, usages)
        micro = -int(-usage.usd * _MICRO // 1)
        if not micro:
            return
        for number in range(1000):
            path = f"{self.folder}/{micro}-{key[:24]}-{number}.json"
            if self.files.create(path, usage.model_dump_json().encode(), owner_only=True):
                return


@dataclass
class Budget:
    """Money of one build: paid, set aside for requests in flight, and the most that may be paid."""

    max_usd: float | None = None
    ledger: Ledger | None = None
    paid: Usage = field(default_factory=Usage)
    """In this run."""
    _before: float = field(init=False, default=0.0)
    _in_flight: float = field(init=False, default=0.0)
    _waiting: list["asyncio.Future[None]"] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._before = self.ledger.total() if self.ledger else 0.0

    @property
    def spent(self) -> float:
        """Dollars paid by this run and by earlier runs of the same build."""
        return self._before + self.paid.usd

    @asynccontextmanager
    async def reserve(self, usd: float) -> AsyncIterator[None]:
        """Set aside what a request can cost, for as long as it is in flight.

        Where it does not fit beside what is in flight, it waits until that is paid: most requests cost less than they
        could.

        Raises:
            SpendLimit: if it is more than what is left. Nothing was sent then.
        """
        while self.max_usd is not None and self.spent + self._in_flight + usd > self.max_usd:
            if self.spent + usd > self.max_usd:
                raise SpendLimit(f"spent {self.spent:.4f} of {self.max_usd:g} USD; the next request may cost {usd:.4f}")
            await self._change()
        self._in_flight += usd
        try:
            yield
        finally:
            self._in_flight -= usd
            waiting, self._waiting = self._waiting, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    async def _change(self) -> None:
        """Wait until a request in flight has ended."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    def pay(self, usage: Usage) -> None:
        """Book what an answered request cost, whether its answer was of use or not."""
        self.paid = self.paid.plus(usage)

    def note(self, key: str, usages: Sequence[Usage]) -> None:
        """Keep the receipt of requests, named by the first of them, so that the next run knows of it."""
        if self.ledger:
            self.ledger.note(key, usages)
