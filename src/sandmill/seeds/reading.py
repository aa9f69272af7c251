"""The result of reading one source."""

from dataclasses import dataclass

from sandmill.models.seed import SeedTask, UnsupportedSeed


@dataclass(frozen=True)
class Reading:
    """One seed, or the reasons why it is set aside, and warnings."""

    seed: SeedTask | UnsupportedSeed
    notes: tuple[str, ...] = ()
