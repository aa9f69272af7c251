"""How far a whole build is, in words, and how long the rest of it may take."""

from dataclasses import dataclass

from sandmill.errors import count
from sandmill.models.base import Stage

ATTEMPTS_A_TASK, WEIGHT = 3.6, 5
"""Attempts that a task is expected to take before this build has made any, and the number of tasks that this
expectation counts as. Builds took 2.6 to 4.8 attempts a task."""
STAGE_WORDS = {
    Stage.DESIGN: "designing",
    Stage.GENERATE: "drawing rows",
    Stage.CALIBRATE: "measuring difficulty",
    Stage.CHECK: "checking files",
    Stage.VERIFY: "running the scripts again",
    Stage.PUBLISH: "keeping finished tasks",
}
_MINUTE = 60.0


@dataclass(frozen=True)
class Moment:
    """How far a build is at one time."""

    seconds: float
    attempts: int
    made: int
    """Slots that hold a task."""


@dataclass(frozen=True)
class BuildFigures:
    """What is said of a build while it runs. All counts are over all shards and rounds."""

    slots: int
    made: int
    in_band: int
    kept: int
    steered: int
    """Designs outside their band. The search for the band goes on from them, so they are no faults."""
    faulty: int
    stage: str

    def line(self, left: float | None) -> str:
        """Write one line, with the estimate of `seconds_left`."""
        other = f", {self.made - self.in_band} in another" if self.made > self.in_band else ""
        kept = f" ({self.kept} kept from before)" if self.kept else ""
        aside = f"{count(self.steered, 'design')} off the band, {self.faulty} faulty"
        rest = [] if self.made == self.slots else [f"about {_duration(left)} left" if left else "no estimate yet"]
        return "; ".join([f"{self.in_band} of {self.slots} tasks in band{other}{kept}", self.stage, aside, *rest])


def seconds_left(start: Moment, now: Moment, slots: int, workers: int) -> float | None:
    """Estimate how long the attempts still take; None before one has ended since the start.

    The pace is that of the attempts since `start`. Tasks of an earlier run are in both moments: they tell how
    many attempts a task takes, not how fast they end. Where fewer slots are open than there are workers, some are idle.
    """
    ended, unfilled = now.attempts - start.attempts, slots - now.made
    if ended <= 0:
        return None
    a_task = (WEIGHT * ATTEMPTS_A_TASK + now.attempts) / (WEIGHT + now.made)
    return (now.seconds - start.seconds) / ended * a_task * unfilled * max(1.0, workers / max(1, unfilled))


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{max(1.0, seconds):.0f} s"
    minutes = round(seconds / _MINUTE)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
