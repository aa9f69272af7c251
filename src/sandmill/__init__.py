"""Micro-scale, verifiable, calibrated machine-learning-engineering environments for RL.

Example:
    >>> import sandmill
    >>> release = sandmill.load("releases/micro")  # doctest: +SKIP
    >>> release.tasks  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandmill.former import keep_former_names

if TYPE_CHECKING:
    from sandmill.models.rollout import Act, EpisodeLimits, Rollout
    from sandmill.models.run import RunLimits
    from sandmill.play.env import MLEnv, SyncMLEnv
    from sandmill.play.feedback import Feedback
    from sandmill.play.prompt import prompt
    from sandmill.play.release import Release, load, open_task
    from sandmill.play.score import score
    from sandmill.play.task import EpisodeTask
    from sandmill.sandbox import AsyncSandbox, RemoteSandbox, Sandbox

    __version__: str

__all__ = [
    "Act",
    "AsyncSandbox",
    "EpisodeLimits",
    "EpisodeTask",
    "Feedback",
    "MLEnv",
    "Release",
    "RemoteSandbox",
    "Rollout",
    "RunLimits",
    "Sandbox",
    "SyncMLEnv",
    "__version__",
    "load",
    "open_task",
    "prompt",
    "score",
]

keep_former_names()

_NAMES = {
    "models.rollout": ("Act", "EpisodeLimits", "Rollout"),
    "models.run": ("RunLimits",),
    "play.env": ("MLEnv", "SyncMLEnv"),
    "play.feedback": ("Feedback",),
    "play.prompt": ("prompt",),
    "play.release": ("Release", "load", "open_task"),
    "play.score": ("score",),
    "play.task": ("EpisodeTask",),
    "sandbox": ("AsyncSandbox", "RemoteSandbox", "Sandbox"),
}
_MODULES = {name: f"sandmill.{module}" for module, names in _NAMES.items() for name in names}
"""Public names and the modules that define them."""


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that `import sandmill` is fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("sandmill")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'sandmill' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
