"""A taskset for verifiers 0.4: tasks of a release, with tools whose code runs in our sandbox.

verifiers finds a taskset by the name of a top-level package: `sandmill_verifiers` exports the classes of this one.
"""

from sandmill.trainers.extras import require

with require("verifiers"):
    import verifiers.v1 as _client  # noqa: F401

from sandmill.trainers.verifiers.harness import SandmillEnv, SandmillHarness
from sandmill.trainers.verifiers.taskset import SandmillTaskset

__all__ = ["SandmillEnv", "SandmillHarness", "SandmillTaskset"]
