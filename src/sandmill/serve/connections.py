"""Limit how many connections a server holds, and how long one may stay open without the token.

A connection waits for a request from its start, and again from the end of each reply. While a request with the token is
handled, it does not wait, and the limits below do not close it.
"""

import asyncio
import resource
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from sandmill.sandbox.admission import RUN_DESCRIPTORS

ACCEPTED_AT_ONCE = 16
"""Connections that asyncio accepts before it handles the first of them."""
_OWN_DESCRIPTORS = 128
"""Descriptors kept for files and the sandbox, and for connections that are accepted while others are still closed."""
_FEWEST = 16
_MOST_DESCRIPTORS = 1 << 16
_REQUEST_S = 10.0
"""Longest time in which a connection may wait for all headers of a request with the token, in seconds."""
_KEY = "sandmill.connection"


class Connections:
    """The connections of one server. At the limit, a new one replaces the one that has waited longest."""

    def __init__(self, most: int) -> None:
        self._most, self._open = most, 0
        self._waiting: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        self._handled = Counter[asyncio.Transport]()

    def add(self, transport: asyncio.Transport) -> None:
        """Count a new connection. If all others have the token, it is the one that is closed."""
        self._open += 1
        self._wait(transport)
        if self._open > self._most:
            oldest = next(iter(self._waiting))
            self._forget(oldest)
            oldest.abort()

    def remove(self, transport: asyncio.Transport) -> None:
        """Forget a connection that is closed."""
        self._open -= 1
        self._forget(transport)

    @contextmanager
    def admitted(self, transport: asyncio.Transport) -> Iterator[None]:
        """Let a connection take its time until the block ends."""
        self._forget(transport)
        # The next request of a client can begin before the work on its last one has ended.
        self._handled[transport] += 1
        try:
            yield
        finally:
            self._handled[transport] -= 1
            if not self._handled[transport]:
                del self._handled[transport]
                if not transport.is_closing():
                    self._wait(transport)

    def _wait(self, transport: asyncio.Transport) -> None:
        self._waiting[transport] = asyncio.get_running_loop().call_later(_REQUEST_S, transport.abort)

    def _forget(self, transport: asyncio.Transport) -> None:
        if timer := self._waiting.pop(transport, None):
            timer.cancel()


class Connection(H11Protocol):
    """A connection that is counted."""

    def __init__(self, connections: Connections, **settings: Any) -> None:
        super().__init__(**settings)
        self._counted = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and add it to the state of its requests."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, _KEY: partial(self._counted.admitted, transport)}
        self._counted.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._counted.remove(self.transport)


def admitted(scope: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Let the connection of a request take its time until the block ends."""
    admit: Callable[[], AbstractContextManager[None]] = scope["state"][_KEY]
    return admit()


def raise_descriptor_limit() -> None:
    """Raise the soft limit of open descriptors to the hard one, at most to 65,536."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections(runs: int) -> int:
    """Return how many connections leave enough descriptors for this number of runs at a time."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return max(_FEWEST, limit - runs * RUN_DESCRIPTORS - _OWN_DESCRIPTORS)
