"""One thread of linear algebra for solvers, whatever the machine: sums are then the same everywhere."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Limit linear algebra to one thread within a block."""
    limits: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limits


@cache
def _controller() -> Any:
    """Look up the loaded libraries once for each process: it takes about as long as fitting a linear model."""
    import scipy.linalg  # noqa: F401
    import sklearn.ensemble  # noqa: F401

    # A controller knows only libraries that are loaded before it is made.
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
