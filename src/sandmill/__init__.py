"""Micro-scale, verifiable, calibrated machine-learning-engineering environments for RL.

Example:
    >>> import sandmill
    >>> release = sandmill.load("releases/micro")  # doctest: +SKIP
    >>> release.tasks  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandmill.sandbox import AsyncSandbox, Sandbox
    from sandmill.store.release import Release, load

    __version__: str

__all__ = ["AsyncSandbox", "Release", "Sandbox", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """Load what is asked for and no more, so that `import sandmill` costs a trainer nothing."""
    if name == "__version__":
        from importlib.metadata import version

        return version("sandmill")
    if name in ("Release", "load"):
        from sandmill.store import release

        return getattr(release, name)
    if name in ("AsyncSandbox", "Sandbox"):
        from sandmill import sandbox

        return getattr(sandbox, name)
    raise AttributeError(f"module 'sandmill' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
