"""Short recordings in which latent columns can be heard, how descriptions say it, and their design."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from sandmill.kinds import traits
from sandmill.kinds.library import draw_medium, load_table
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue, Medium
from sandmill.models.columns import Column, Date
from sandmill.rng import Streams

Sound = Literal["call", "trill", "whistle", "knock", "hum", "start"]
"""A sound whose frequencies differ between domains. `start` is the call and the trill."""
RETIRED = ("level", "carrier", "colour")
"""Traits that the recordings of older releases have. They load, and are not rendered again."""


class Trait(traits.Trait):
    """Something that can be heard, see `sandmill.kinds.audio.render`."""

    of: Sound | None = None
    """The sound that has it, if a measure needs its frequencies."""
    decimals: int = 0
    """Decimals of the values that a text states."""


TRAITS = load_table("audio/traits.yaml", Trait)


class Heard(traits.Traced):
    """One thing to be heard in recordings, and the latent column that decides it."""

    trait: Annotated[str, traits.known({**TRAITS, **dict.fromkeys(RETIRED, Trait())})]


Range = tuple[float, float]
"""Lowest and highest value."""


class Voice(Frozen):
    """How the sounds of a domain sound. Frequencies are in Hz."""

    names: dict[str, str]
    """What texts call each sound."""
    call: Range
    """Fundamental frequencies of the notes with harmonics."""
    formants: tuple[Range, ...]
    """Centre and width of the resonances that shape the harmonics."""
    attack: Range
    """Shares of a note in which it swells and dies away."""
    arch: Range
    """Octaves by which the middle of a note lies above its ends, in recordings with the flattest and the most bent."""
    vibrato: float = Field(ge=0, le=0.1)
    """Share by which the pitch of a note trembles."""
    trill: Range
    """Tones of the quick pulses."""
    bend: float
    """Octaves by which each pulse rises."""
    whistle: Range
    """Ends of the long glide."""
    knock: Range
    """Tones in which a blow rings."""
    hum: tuple[float, ...] = Field(min_length=4, max_length=4)
    """Fundamental frequencies of the steady hum."""
    reverberation: float = Field(gt=0, le=0.6)
    """Seconds until an echo has lost 60 dB."""

    def hertz(self, sound: Sound | None) -> tuple[float, ...]:
        """Return the frequencies by which a sound can be found."""
        if sound == "start":
            return self.call + self.trill
        found: tuple[float, ...] = getattr(self, sound) if sound else ()
        return found

    def said(self, sound: Sound | None) -> str:
        """Write these frequencies as text of a description."""
        found = [f"{one:g}" for one in self.hertz(sound)]
        pairs = [f"{low} and {high} Hz" for low, high in zip(found[::2], found[1::2], strict=True)]
        return f"{', '.join(found[:-1])} or {found[-1]} Hz" if sound == "hum" else ", and ".join(pairs)

    def moved(self, factor: float) -> "Voice":
        """Return the voice with calls, trills and whistles at other frequencies."""
        low_high = {name: getattr(self, name) for name in ("call", "trill", "whistle")}
        return self.model_copy(
            update={name: tuple(round(end * factor, -1) for end in ends) for name, ends in low_high.items()}
        )


class AudioChannel(Channel):
    """Short recordings: calls, trills, blows, clicks, hum, wind and rain, all over each other, in a room."""

    kind: Literal["audio_archive", "audio_pairs"] = "audio_archive"
    container: Literal["aiff", "wav"] = "aiff"
    rate: int = Field(ge=1000, le=8000)
    """Samples a second."""
    samples: int = Field(ge=1000, le=24_000)
    """Samples of a recording."""
    noise: float = Field(ge=0, le=0.2)
    """Standard deviation of the background noise; full scale is 1."""
    passing: float = Field(ge=0, le=0.2)
    """Loudness of a far call that means nothing, as an amplitude."""
    gain: float = Field(ge=0, le=12)
    """Largest change of the loudness of a whole recording, in dB."""
    echo: float = Field(ge=0, le=0.5)
    """Largest loudness of reflections, relative to the sound."""
    spots: tuple[Any, ...] = ()
    """Bands of the sounds in older releases, whose sounds had a band each."""
    voice: Voice | None = None
    """None in older releases."""
    heard: tuple[Heard, ...] = Field(min_length=1)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """How each latent column can be heard and measured."""
        return tuple(cue_of(self.voice, one) for one in self.heard if one.column and self.voice)


class AudioMedium(Medium):
    """Everything that recordings of a domain can hold."""

    voice: Voice
    heard: tuple[Heard, ...]


def cue_of(voice: Voice, heard: Heard) -> Cue:
    """Say how a column shows: its measure, what the measure needs, and the sentence with the same numbers."""
    column, trait, hertz = str(heard.column), TRAITS[heard.trait], voice.hertz(TRAITS[heard.trait].of)
    said = trait.text.format(*heard.levels, hz=voice.said(trait.of), **voice.names)
    if trait.levels:
        return Cue(column=column, measure=heard.trait, parameters=(*hertz, *heard.levels), text=f"{said}.")
    ends = voice.call if heard.trait == "pitch" else (trait.low, trait.high)
    first, last = (round(end, trait.decimals) for end in ends)
    text = f"{said}. {traits.scaled(first, last)}"
    return Cue(column=column, measure=heard.trait, parameters=(*hertz, first, last), text=text)


_RATE, _SAMPLES = 8000, 16_000
_MOVED = (0.87, 1.15)
"""Factors on the frequencies of a domain's sounds in its designs."""
_NOISE, _PASSING, _GAIN, _ECHO = 0.006, 0.05, 2.5, 0.32
_CALM, _LOUD = 0.2, 1.2
"""Factor on the above at hardness 0 and 1."""

_PLAIN = frozenset({"pitch", "length", "steady", "hiss", "rain"})
"""Traits that general features hear well."""


@dataclass(frozen=True)
class AudioDesign:
    """Designs of one kind of audio task."""

    kind: Literal["audio_archive", "audio_pairs"]
    container: Literal["aiff", "wav"]
    faint: tuple[str, ...] = tuple(name for name in TRAITS if name not in _PLAIN)
    """Traits that general features hardly hear: see `Medium.not_leading`."""

    def choose_medium(self, place: float) -> AudioMedium:
        """Return the domain of a design by its place among all."""
        medium = draw_medium("audio/domains", AudioMedium, place)
        faint = tuple(one.column for one in medium.heard if one.trait in self.faint and one.column)
        return medium.model_copy(update={"not_leading": faint})

    def choose_channel(self, medium: AudioMedium, columns: Sequence[Column], streams: Streams) -> AudioChannel:
        """Draw the frequencies of sounds. A trait whose column is not in the design varies at random.

        A date column is in the names of the files.
        """
        return AudioChannel(
            kind=self.kind,
            container=self.container,
            column=medium.column,
            meaning=medium.meaning,
            shown=tuple(column.name for column in columns if isinstance(column.distribution, Date)),
            rate=_RATE,
            samples=_SAMPLES,
            noise=_NOISE,
            passing=_PASSING,
            gain=_GAIN,
            echo=_ECHO,
            voice=medium.voice.moved(float(streams.generator("audio channel").uniform(*_MOVED))),
            heard=traits.follow(medium.heard, columns),
        )


def disturb(channel: AudioChannel, hardness: float) -> AudioChannel:
    """Let easy designs have little background noise, faint passing calls, and little change of gain and echo."""
    factor = _CALM + (_LOUD - _CALM) * hardness
    drawn = {name: getattr(channel, name) for name in ("noise", "passing", "gain", "echo")}
    return channel.model_copy(update={name: round(value * factor, 4) for name, value in drawn.items()})
