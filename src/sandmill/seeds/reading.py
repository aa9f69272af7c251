"""What reading one source gives."""

from dataclasses import dataclass

from sandmill.models.seed import SeedTask, UnsupportedSeed


@dataclass(frozen=True)
class Reading:
    """One seed, or the reasons why it is set aside, with warnings."""

    seed: SeedTask | UnsupportedSeed
    notes: tuple[str, ...] = ()
