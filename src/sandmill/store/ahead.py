"""Fetch the next parts of a release from S3 while earlier ones are read, over several connections."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from sandmill.models.release import PartFile

WHOLE_BYTES = 16 << 20
"""Largest size of a part that is fetched ahead, as a whole. The release's reader fetches larger ones piece by piece."""

PARTS_AT_ONCE = 3
"""Parts that are on their way or wait in memory."""


class PartsAhead:
    """Parts that will be opened one after another, of which the next few are fetched in threads."""

    def __init__(self, fetch: Callable[[PartFile], bytes], parts: Iterable[PartFile]) -> None:
        """Plan what to fetch. Nothing is fetched before the first part is taken.

        Args:
            fetch: returns the bytes of a part. Called in threads.
            parts: in the order in which they will be taken.
        """
        self._fetch = fetch
        self._planned = deque(part for part in parts if part.size <= WHOLE_BYTES)
        self._coming: dict[str, Future[bytes]] = {}
        self._threads = ThreadPoolExecutor(PARTS_AT_ONCE)

    def take(self, part: PartFile) -> Callable[[], bytes] | None:
        """Return what waits for the bytes of a part and raises what its fetch raised; None if it is not planned."""
        self._start_next()
        coming = self._coming.pop(part.path, None)
        self._start_next()
        return None if coming is None else coming.result

    def _start_next(self) -> None:
        while self._planned and len(self._coming) < PARTS_AT_ONCE:
            part = self._planned.popleft()
            self._coming[part.path] = self._threads.submit(self._fetch, part)

    def close(self) -> None:
        """Give up what nobody has taken, and wait for what is on its way."""
        self._threads.shutdown(cancel_futures=True)
