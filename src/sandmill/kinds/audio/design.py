"""Design of what stands between a mechanism and its recordings: bands of frequencies, and what follows which column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sandmill.kinds.audio.channel import AudioChannel, AudioMedium, Place, Spot, Trait
from sandmill.kinds.library import draw_medium
from sandmill.kinds.traits import follow
from sandmill.models.columns import Column, Date
from sandmill.rng import Streams

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
    faint: tuple[Trait, ...] = ()
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
        rate = int(rng.choice(_RATES))
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
            spots=_spots(rate, rng),
            heard=follow(medium.heard, columns),
        )


def _spots(rate: int, rng: np.random.Generator) -> tuple[Spot, ...]:
    """Draw the order of the bands that hold sounds. The lowest and the highest band hold background noise alone."""
    names = list(_WIDTHS)
    starts, place = {}, _FLOOR[1] + _GAP
    for name in (names[i] for i in rng.permutation(len(names))):
        starts[name] = (place, place + _WIDTHS[name])
        place += _WIDTHS[name] + _GAP
    ends = {"floor": _FLOOR, **starts, "roof": _ROOF}
    return tuple(
        Spot(place=name, low=round(low * rate / 2), high=round(high * rate / 2)) for name, (low, high) in ends.items()
    )


def disturb(channel: AudioChannel, hardness: float) -> AudioChannel:
    """Let easy designs have little background noise, faint passing calls, and little change of gain and echo."""
    factor = _CALM + (_LOUD - _CALM) * hardness
    drawn = {name: getattr(channel, name) for name in ("noise", "passing", "gain", "echo")}
    return channel.model_copy(update={name: round(value * factor, 4) for name, value in drawn.items()})


ARCHIVE = AudioDesign("audio_archive", "aiff", faint=("rise", "length", "swell"))
PAIRS = AudioDesign("audio_pairs", "wav")
