"""Recordings of five sensors at regular time steps, in which latent columns can be measured; their files and design."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from sandmill.kinds import traits
from sandmill.kinds.files.media import MediaFiles
from sandmill.kinds.library import draw_medium
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

SENSORS = 5
ZERO, UNIT = 32_768, 1_000
"""Counts of a sensor at rest, and counts of one unit of a signal. All values have five digits."""

Trait = Literal[
    "trend", "swing", "cycles", "noise", "lag", "coupling", "wander", "roughness", "growth", "step", "place", "bursts",
    "gap", "shape", "dead", "facing",
]  # fmt: skip
"""Something that a recording shows, see `sandmill.kinds.series.render`. The last three follow categories."""

LEVELS: Mapping[Trait, int] = MappingProxyType({"shape": 3, "dead": SENSORS - 1, "facing": 3})
"""Number of categories that a trait can show."""
RANGES: Mapping[Trait, tuple[float, float]] = MappingProxyType({
    "trend": (-3.0, 3.0), "swing": (0.6, 2.4), "cycles": (5.0, 12.0), "noise": (0.15, 0.6), "lag": (0.0, 16.0),
    "coupling": (0.1, 0.95), "wander": (0.4, 2.0), "roughness": (0.0, 0.85), "growth": (-0.8, 0.8),
    "step": (-3.0, 3.0), "place": (0.2, 0.8), "bursts": (2.0, 10.0), "gap": (4.0, 24.0),
})  # fmt: skip
"""Value of each trait at 0 and at 1 of its column: units, steps, shares and numbers."""

_TEXTS: Mapping[Trait, str] = MappingProxyType(
    {
        "trend": "change of `{0}` over the whole recording along a straight line, in thousands of counts",
        "swing": "amplitude of the first harmonic of the oscillation of `{0}`, in thousands of counts",
        "cycles": "number of periods of the oscillation of `{0}` in the recording",
        "noise": "standard deviation of the noise of `{0}` from one step to the next, in thousands of counts",
        "lag": "number of steps by which `{2}` is behind `{1}`, where their correlation is highest",
        "coupling": "correlation of `{1}` with `{2}` after the lag between them is taken away",
        "wander": "standard deviation of `{1}` in thousands of counts",
        "roughness": "correlation of `{3}` with itself one step before",
        "growth": "how the spread of `{3}` grows: the slope of its standard deviation over the recording, as a share "
        "of the mean standard deviation",
        "step": "change of the mean of `{4}` at its one jump, in thousands of counts",
        "place": "where `{4}` jumps, as a share of the recording",
        "bursts": "number of short peaks of `{4}`",
        "gap": "number of steps for which one sensor repeats one and the same value",
        "shape": "form of the oscillation of `{0}`: `{levels[0]}` for a sine, `{levels[1]}` if it has a third harmonic "
        "and no second, `{levels[2]}` if it has both",
        "dead": "the sensor that repeats one value for some steps: `{levels[0]}` for `{1}`, `{levels[1]}` for `{2}`, "
        "`{levels[2]}` for `{3}` and `{levels[3]}` for `{4}`",
        "facing": "how the short peaks of `{4}` face: `{levels[0]}` if all go up, `{levels[1]}` if all go down and "
        "`{levels[2]}` if they go up and down in turns",
    }
)


class Traced(traits.Traced):
    """A property of a recording that can be measured, such as its trend, and the hidden column that sets it."""

    trait: Trait


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
        return tuple(self._cue(one) for one in self.traced if one.column)

    def _cue(self, traced: Traced) -> Cue:
        text = _TEXTS[traced.trait].format(*self.sensors, levels=traced.levels)
        if traced.trait in LEVELS:
            return Cue(column=str(traced.column), measure=traced.trait, parameters=traced.levels, text=f"{text}.")
        low, high = RANGES[traced.trait]
        said = f"{text}; {low:g} at 0, {high:g} at 1."
        return Cue(column=str(traced.column), measure=traced.trait, parameters=(low, high), text=said)


class SeriesMedium(Medium):
    """Sensors of a domain, and what their recordings can show."""

    sensors: tuple[str, ...]
    traced: tuple[Traced, ...]


SERIES_FILES = MediaFiles(
    train_items="train/", test_items="test/", name="{id}.csv", item="recording", cell="table of readings"
)


STEPS = 128
HUM = 0.1
"""In units, as much as a cheap converter adds."""


def choose_medium(place: float) -> SeriesMedium:
    """Return the domain of a design by its place among all."""
    return draw_medium("series/domains", SeriesMedium, place)


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
