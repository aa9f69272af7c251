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

_MODULES = {
    "Act": "sandmill.models.rollout",
    "AsyncSandbox": "sandmill.sandbox",
    "EpisodeLimits": "sandmill.models.rollout",
    "EpisodeTask": "sandmill.play.task",
    "Feedback": "sandmill.play.feedback",
    "MLEnv": "sandmill.play.env",
    "Rollout": "sandmill.models.rollout",
    "Release": "sandmill.play.release",
    "RemoteSandbox": "sandmill.sandbox",
    "RunLimits": "sandmill.models.run",
    "SyncMLEnv": "sandmill.play.env",
    "Sandbox": "sandmill.sandbox",
    "load": "sandmill.play.release",
    "open_task": "sandmill.play.release",
    "prompt": "sandmill.play.prompt",
    "score": "sandmill.play.score",
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
