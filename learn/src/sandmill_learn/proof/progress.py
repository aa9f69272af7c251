"""How far the proof is: the scripts that all arms will ask for, those that are done, and the time that remains."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sandmill_learn.proof.settings import ProofSettings

_SECONDS_BETWEEN_LINES = 20.0
"""A unit that says nothing else for this long says how many of its scripts are done."""
_LEAST_SHARE = 0.05
"""Share of all scripts that must be done before an estimate means anything."""
_CANDIDATES_SCORED = {"best-single": 1, "baselines": 4}
"""Scripts for each real task: the portfolio has three, the single pipeline one."""


@dataclass(frozen=True)
class ProofPlan:
    """Scripts that each unit asks for, from the settings and the numbers of tasks."""

    settings: ProofSettings
    tested: int
    """Real tasks of both parts."""
    validation: int
    """Synthetic tasks that choose checkpoints."""

    @property
    def scored(self) -> int:
        """Greedy scripts and samples of one policy on all real tasks."""
        return self.tested * (1 + self.settings.samples)

    @property
    def rejection(self) -> int:
        """One training by rejection fine-tuning, and its scores."""
        return self.settings.executions + self.scored

    @property
    def grpo(self) -> int:
        """One training by GRPO with its validations, and its scores."""
        grpo = self.settings.grpo()
        checks = 1 + -(-grpo.updates // grpo.validate_every)
        return self.settings.executions + checks * self.validation * (1 + grpo.validation_samples) + self.scored

    def baselines(self, arm: str) -> int:
        """The choice of the baselines, which measures the pipelines, and their scores."""
        return self.settings.baseline_budget + self.tested * _CANDIDATES_SCORED[arm]

    @property
    def total(self) -> int:
        """Scripts of all arms and seeds."""
        settings, arms = self.settings, self.settings.arms
        number = settings.seeds * self.scored
        if "rejection" in arms:
            number += (settings.seeds + len(settings.rejection_variants()) - 1) * self.rejection
        number += sum(self.baselines(arm) for arm in settings.baseline_arms)
        return number + settings.seeds * len(settings.rewards) * self.grpo


class ProofProgress:
    """Prints messages with the time, the share of all scripts that is done, and an estimate of the minutes left.

    The estimate is from the scripts of this process. Units that an earlier process finished take no time.
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        """Start the clock. Messages have no estimate before `begin`."""
        self._write, self._clock = write, clock
        self._started = self._latest = self._working = clock()
        self._total = self._known = self._done = 0
        self._unit, self._planned, self._counted = "", 0, 0

    def begin(self, total: int) -> None:
        """Take the number of scripts of all units. From now on the work is timed."""
        self._total, self._working = total, self._clock()

    def say(self, message: str) -> None:
        """Print a message."""
        self._latest = self._clock()
        minutes, seconds = divmod(int(self._latest - self._started), 60)
        self._write(f"{minutes:02d}:{seconds:02d}  {self._share()}{message}")

    @contextmanager
    def unit(self, name: str, planned: int) -> Iterator[None]:
        """Count the scripts of one unit. One that asked for none was finished before."""
        self._unit, self._planned, self._counted = name, planned, 0
        yield
        if self._counted:
            self._done += planned
        else:
            self._known += planned
        self._unit, self._planned, self._counted = "", 0, 0

    def count(self, done: int = 0, total: int = 0) -> None:
        """Count one script, as an executor reports it, and say how far the unit is if nothing was said for long."""
        self._counted += 1
        if self._unit and self._clock() - self._latest >= _SECONDS_BETWEEN_LINES:
            self.say(f"{self._unit}: {min(self._counted, self._planned)} of about {self._planned} scripts")

    def _share(self) -> str:
        if not self._total:
            return ""
        now = self._done + min(self._counted, self._planned)
        share = min(1.0, (self._known + now) / self._total)
        left = max(0, self._total - self._known - now)
        spent = self._clock() - self._working
        estimate = (
            f", about {max(1, round(spent * left / now / 60))} min left"
            if left and now >= _LEAST_SHARE * self._total
            else ""
        )
        return f"{share:4.0%}{estimate}  "
