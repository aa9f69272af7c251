"""The name under which verifiers finds the taskset: `vf-eval sandmill_verifiers`."""

from sandmill.trainers.verifiers import SandmillEnv, SandmillHarness, SandmillTaskset

__all__ = ["SandmillEnv", "SandmillHarness", "SandmillTaskset"]
