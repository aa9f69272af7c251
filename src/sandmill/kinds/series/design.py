"""Design of what stands between a mechanism and recordings of sensors: which column shows in which way."""

from collections.abc import Sequence

from sandmill.kinds.library import draw_medium
from sandmill.kinds.series.channel import SeriesChannel, SeriesMedium
from sandmill.models.columns import Categorical, Column
from sandmill.rng import Streams

STEPS = 128
HUM = 0.1
"""In units, as much as a cheap converter adds."""


def choose_medium(place: float) -> SeriesMedium:
    """Return the domain of a design by its place among all."""
    return draw_medium("series/domains", SeriesMedium, place)


def choose_channel(medium: SeriesMedium, columns: Sequence[Column], streams: Streams) -> SeriesChannel:
    """Let each trait follow its column if the design has that column, and vary at random if not."""
    levels = {
        column.name: column.distribution.levels if isinstance(column.distribution, Categorical) else ()
        for column in columns
    }
    return SeriesChannel(
        column=medium.column,
        meaning=medium.meaning,
        sensors=medium.sensors,
        steps=STEPS,
        hum=HUM,
        traced=tuple(
            one.model_copy(update={"levels": levels[one.column]})
            if one.column in levels
            else one.model_copy(update={"column": None})
            for one in medium.traced
        ),
    )
