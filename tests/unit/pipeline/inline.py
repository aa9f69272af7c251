"""Work done in this process, in a chosen order: what `WorkerPool.batch` gives, without processes."""

from collections.abc import Callable, Iterator
from typing import Any, Self


class InlineBatch:
    """A batch whose items end one by one, the oldest first or the latest first."""

    def __init__(self, perform: Callable[[Any, Any], Any], backwards: bool = False) -> None:
        self._perform, self._next = perform, -1 if backwards else 0
        self._waiting: list[tuple[int, Any, Any]] = []
        self._submitted = 0

    def submit(self, function: Any, item: Any, urgency: int = 0) -> int:
        self._waiting.append((self._submitted, function, item))
        self._submitted += 1
        return self._submitted - 1

    def ended(self) -> Iterator[tuple[int, Any]]:
        while self._waiting:
            number, function, item = self._waiting.pop(self._next)
            yield number, self._perform(function, item)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass
