"""Micro-scale, verifiable, calibrated machine-learning-engineering environments for RL.

Example:
    >>> import sandmill
    >>> release = sandmill.load("releases/micro")  # doctest: +SKIP
    >>> release.tasks  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandmill.episodes.env import MLEnv
    from sandmill.episodes.feedback import Feedback
    from sandmill.episodes.prompt import prompt
    from sandmill.episodes.release import Release, load, open_task
    from sandmill.episodes.score import score
    from sandmill.episodes.sync import SyncMLEnv
    from sandmill.episodes.task import EpisodeTask
    from sandmill.models.rollout import Act, EpisodeLimits, Rollout
    from sandmill.models.run import RunLimits
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

_MODULES = {
    "Act": "sandmill.models.rollout",
    "AsyncSandbox": "sandmill.sandbox",
    "EpisodeLimits": "sandmill.models.rollout",
    "EpisodeTask": "sandmill.episodes.task",
    "Feedback": "sandmill.episodes.feedback",
    "MLEnv": "sandmill.episodes.env",
    "Rollout": "sandmill.models.rollout",
    "Release": "sandmill.episodes.release",
    "RemoteSandbox": "sandmill.sandbox",
    "RunLimits": "sandmill.models.run",
    "SyncMLEnv": "sandmill.episodes.sync",
    "Sandbox": "sandmill.sandbox",
    "load": "sandmill.episodes.release",
    "open_task": "sandmill.episodes.release",
    "prompt": "sandmill.episodes.prompt",
    "score": "sandmill.episodes.score",
}
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
