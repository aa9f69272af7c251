"""Recordings of five sensors at regular time steps, in which latent columns can be measured; their files and design."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from sandmill.kinds import traits
from sandmill.kinds.library import draw_medium, load_table
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

SENSORS = 5
ZERO, UNIT = 32_768, 1_000
"""Counts of a sensor at rest, and counts of one unit of a signal. All values have five digits."""
STEPS = 128
HUM = 0.1
"""In units, as much as a cheap converter adds."""

TRAITS = load_table("series/traits.yaml", traits.Trait)
"""What a recording can show, see `sandmill.kinds.series.render`. The last three follow categories."""


class Traced(traits.Traced):
    """A property of a recording that can be measured, such as its trend, and the hidden column that sets it."""

    trait: Annotated[str, traits.known(TRAITS)]


class SeriesChannel(Channel):
    """A table of counts for each recording: a column a sensor, a row a step of time."""

    kind: Literal["series_files"] = "series_files"
    sensors: tuple[str, ...] = Field(min_length=SENSORS, max_length=SENSORS)
    steps: int = Field(ge=64, le=512)
    hum: float = Field(ge=0, le=0.5)
    """Standard deviation of the noise that every sensor adds, in units."""
    traced: tuple[Traced, ...] = Field(min_length=1)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column can be measured."""
        return tuple(
            traits.cue_of(one, trait, trait.text.format(*self.sensors, levels=one.levels))
            for one, trait in ((one, TRAITS[one.trait]) for one in self.traced if one.column)
        )


class SeriesMedium(Medium):
    """Sensors of a domain, and what their recordings can show."""

    sensors: tuple[str, ...]
    traced: tuple[Traced, ...]


choose_medium = partial(draw_medium, "series/domains", SeriesMedium)
"""Returns the domain of a design by its place among all."""


def choose_channel(medium: SeriesMedium, columns: Sequence[Column], streams: Streams) -> SeriesChannel:
    """Let each trait follow its column if the design has that column, and vary at random if not."""
    return SeriesChannel(
        column=medium.column,
        meaning=medium.meaning,
        sensors=medium.sensors,
        steps=STEPS,
        hum=HUM,
        traced=traits.follow(medium.traced, columns),
    )
