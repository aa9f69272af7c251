"""Short recordings in which latent columns can be heard."""

from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium

Place = Literal["floor", "call", "steady", "trill", "hiss", "clicks", "knocks", "marker", "closing", "roof"]
"""A band of frequencies with one kind of sound. `floor` and `roof`, the lowest and highest, hold only background."""

Trait = Literal[
    "pitch", "rise", "level", "length", "steady", "tempo", "carrier", "hiss", "swell", "colour", "clicks", "knocks",
    "repeats", "marker", "closing",
]  # fmt: skip
"""Something that can be heard, see `sandmill.kinds.audio.render`. The last three follow categories."""

LEVELS: dict[Trait, int] = {"repeats": 3, "marker": 4, "closing": 3}
"""Number of categories that a trait can show."""
MOST_MARKS = 12
"""Clicks or knocks of a recording."""


class Spot(Frozen):
    """Where in the spectrum a kind of sound lies."""

    place: Place
    low: float = Field(ge=0)
    """In Hz, as `high`."""
    high: float = Field(gt=0)


class Heard(Frozen):
    """One thing to be heard in recordings, and the latent column that decides it."""

    trait: Trait
    column: str | None = None
    """None: chance decides."""
    levels: tuple[str, ...] = ()
    """Levels of the column, if it is a category."""


class AudioChannel(Channel):
    """Short recordings: calls, tones, bursts and noise, each in a band of frequencies of its own."""

    kind: Literal["audio_archive", "audio_pairs"] = "audio_archive"
    container: Literal["aiff", "wav"] = "aiff"
    rate: int = Field(ge=1000, le=8000)
    """Samples a second."""
    samples: int = Field(ge=1000, le=16_000)
    """Samples of a recording, at most two seconds."""
    noise: float = Field(ge=0, le=0.2)
    """Standard deviation of the background noise; full scale is 1."""
    passing: float = Field(ge=0, le=0.2)
    """Loudness of a call that passes by and means nothing, as an amplitude."""
    gain: float = Field(ge=0, le=12)
    """Largest change of the loudness of a whole recording, in dB."""
    echo: float = Field(ge=0, le=0.5)
    """Largest loudness of the echo, relative to the sound."""
    spots: tuple[Spot, ...]
    heard: tuple[Heard, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _bands_lie_apart(self) -> "AudioChannel":
        ends = sorted((spot.low, spot.high) for spot in self.spots)
        if any(high > low for (_, high), (low, _) in pairwise(ends)):
            raise ValueError("bands of frequencies overlap")
        if ends[-1][1] > self.rate / 2:
            raise ValueError("a band lies above half the sampling rate")
        return self

    @property
    def seconds(self) -> float:
        """Duration of a recording."""
        return self.samples / self.rate

    def band(self, place: Place) -> tuple[float, float]:
        """Return the lowest and the highest frequency of a kind of sound, in Hz."""
        return next((spot.low, spot.high) for spot in self.spots if spot.place == place)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column can be heard and measured."""
        from sandmill.kinds.audio.cues import cue_of

        return tuple(cue_of(self, one) for one in self.heard if one.column)


class AudioMedium(Medium):
    """Everything that recordings of a domain can hold."""

    heard: tuple[Heard, ...]
