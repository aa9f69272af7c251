"""Short recordings in which latent columns can be heard, how descriptions say it, and their design."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Annotated, Literal

from pydantic import Field

from sandmill.kinds import traits
from sandmill.kinds.library import draw_medium, load_table
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column, Date
from sandmill.rng import Streams

Place = Literal["floor", "call", "steady", "trill", "hiss", "clicks", "knocks", "marker", "closing", "roof"]
"""A band of frequencies with one kind of sound. `floor` and `roof`, the lowest and highest, hold only background."""

MOST_MARKS = 12
"""Clicks or knocks of a recording."""


class Trait(traits.Trait):
    """Something that can be heard, see `sandmill.kinds.audio.render`."""

    place: Place
    """The band in which it is heard."""
    decimals: int = 0
    """Decimals of the physical values that a text states."""
    is_over_noise: bool = False
    """Whether it is measured against the background noise."""


TRAITS = load_table("audio/traits.yaml", Trait)


class Spot(Frozen):
    """Where in the spectrum a kind of sound lies."""

    place: Place
    low: float = Field(ge=0)
    """In Hz, as `high`."""
    high: float = Field(gt=0)


class Heard(traits.Traced):
    """One thing to be heard in recordings, and the latent column that decides it."""

    trait: Annotated[str, traits.known(TRAITS)]


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
        return tuple(cue_of(self, one) for one in self.heard if one.column)


class AudioMedium(Medium):
    """Everything that recordings of a domain can hold."""

    heard: tuple[Heard, ...]


CALL, STEADY, TRILL, HISS, MARKER, CLOSING = (0.07, 0.22), (0.02, 0.1), 0.08, (0.014, 0.07), 0.06, 0.1
"""Amplitudes, full scale 1; a pair is at 0 and at 1. `HISS` is a standard deviation."""
CLICK, KNOCK = 0.12, 0.12
"""Amplitude of a click or knock."""
LENGTH = (0.1, 0.22)
"""Duration of a call, as a share of the recording."""
PULSES = (7.0, 22.0)
"""Pulses of a trill in a recording."""
TILT = 12.0
"""Difference between the lowest and the highest background noise at 0 and at 1, in dB."""
SWELL = 0.85
"""Change of the hiss between the middle and an end, relative to its mean amplitude."""
CLOSING_STARTS = 0.84
"""Share of the recording before the closing sound."""
_RISE = 1.8
"""Fastest sweep of a call: band widths a recording."""
_EDGE = 0.3
"""Share of a band that pitches keep away from its edges."""


def ends_of(channel: AudioChannel, trait: str) -> tuple[float, float]:
    """Return the physical value of a trait at 0 and at 1: Hz, Hz a second, seconds, dB, counts or shares."""
    low, high = channel.band(TRAITS[trait].place)
    width, seconds = high - low, channel.seconds
    noise = max(channel.noise, 1e-3) ** 2 * 2 * width / channel.rate

    def over_noise(power: float) -> float:
        """Return by how many dB a sound raises the level in its frequency band above the noise alone."""
        return 10 * log10(1 + power / noise)

    match trait:
        case "pitch" | "carrier":
            return low + _EDGE * width, high - _EDGE * width
        case "rise":
            fastest = _RISE * width / seconds
            return -fastest, fastest
        case "level" | "steady":
            faint, loud = CALL if trait == "level" else STEADY
            return over_noise(faint**2 / 2), over_noise(loud**2 / 2)
        case "hiss":
            return over_noise(HISS[0] ** 2), over_noise(HISS[1] ** 2)
        case "length":
            return LENGTH[0] * seconds, LENGTH[1] * seconds
        case "tempo":
            return PULSES[0] / seconds, PULSES[1] / seconds
        case "swell":
            return -SWELL, SWELL
        case "colour":
            return TILT / 2, -TILT / 2
        case _:
            return 0.0, float(MOST_MARKS)


def cue_of(channel: AudioChannel, heard: Heard) -> Cue:
    """Say how a column shows: its measure, what the measure needs, and the sentence with the same numbers."""
    name, column, trait = heard.trait, str(heard.column), TRAITS[heard.trait]
    low, high = channel.band(trait.place)
    if trait.levels:
        said = trait.text.format(*heard.levels, low=low, high=high)
        return Cue(column=column, measure=name, parameters=(low, high, *heard.levels), text=f"{said}.")
    first, last = (round(end, trait.decimals) for end in ends_of(channel, name))
    quiet = (*channel.band("floor"), *channel.band("roof"))
    edges = "{:g} to {:g} Hz and {:g} to {:g} Hz".format(*quiet)
    said = trait.text.format(low=low, high=high, first=first, last=last, quiet=edges)
    parameters = (low, high, first, last, *(quiet if trait.is_over_noise else ()))
    return Cue(column=column, measure=name, parameters=parameters, text=f"{said}; {first:g} at 0, {last:g} at 1.")


_RATES = (2000, 2500, 4000)
"""Samples a second; a recording has `_SAMPLES` of them at every rate, so 0.5 to 1 s."""
_SAMPLES = 2000
_NOISE, _PASSING, _GAIN, _ECHO = 0.05, 0.02, 4.0, 0.2
_CALM, _LOUD = 0.2, 1.2
"""Factor on the above at hardness 0 and 1, for kinds that scale it."""
_WIDTHS: dict[Place, float] = {
    "call": 0.22, "steady": 0.03, "trill": 0.12, "hiss": 0.08, "clicks": 0.1, "knocks": 0.08, "marker": 0.12,
    "closing": 0.07,
}  # fmt: skip
"""Width of each band, as a share of half the sampling rate."""
_FLOOR, _ROOF, _GAP = (0.01, 0.05), (0.95, 0.99), 0.009
"""Bands without sounds at both ends, and the gap between bands, in the same unit."""


@dataclass(frozen=True)
class AudioDesign:
    """Designs of one kind of audio task."""

    kind: Literal["audio_archive", "audio_pairs"]
    container: Literal["aiff", "wav"]
    faint: tuple[str, ...] = ()
    """Traits that general features hardly hear: see `Medium.not_leading`."""

    def choose_medium(self, place: float) -> AudioMedium:
        """Return the domain of a design by its place among all."""
        medium = draw_medium("audio/domains", AudioMedium, place)
        faint = tuple(one.column for one in medium.heard if one.trait in self.faint and one.column)
        return medium.model_copy(update={"not_leading": faint})

    def choose_channel(self, medium: AudioMedium, columns: Sequence[Column], streams: Streams) -> AudioChannel:
        """Draw the frequency band of each sound. A trait whose column is not in the design varies at random.

        A date column is in the names of the files.
        """
        rng = streams.generator("audio channel")
        rate, names = int(rng.choice(_RATES)), list(_WIDTHS)
        # The bands of sounds have a drawn order. The lowest and the highest band hold background noise alone.
        bands: dict[Place, tuple[float, float]] = {"floor": _FLOOR}
        place = _FLOOR[1] + _GAP
        for name in (names[number] for number in rng.permutation(len(names))):
            bands[name] = (place, place + _WIDTHS[name])
            place += _WIDTHS[name] + _GAP
        bands["roof"] = _ROOF
        return AudioChannel(
            kind=self.kind,
            container=self.container,
            column=medium.column,
            meaning=medium.meaning,
            shown=tuple(column.name for column in columns if isinstance(column.distribution, Date)),
            rate=rate,
            samples=_SAMPLES,
            noise=_NOISE,
            passing=_PASSING,
            gain=_GAIN,
            echo=_ECHO,
            spots=tuple(
                Spot(place=name, low=round(low * rate / 2), high=round(high * rate / 2))
                for name, (low, high) in bands.items()
            ),
            heard=traits.follow(medium.heard, columns),
        )


def disturb(channel: AudioChannel, hardness: float) -> AudioChannel:
    """Let easy designs have little background noise, faint passing calls, and little change of gain and echo."""
    factor = _CALM + (_LOUD - _CALM) * hardness
    drawn = {name: getattr(channel, name) for name in ("noise", "passing", "gain", "echo")}
    return channel.model_copy(update={name: round(value * factor, 4) for name, value in drawn.items()})


ARCHIVE = AudioDesign("audio_archive", "aiff", faint=("rise", "length", "swell"))
PAIRS = AudioDesign("audio_pairs", "wav")
