"""What the sounds of a recording are like at the ends of a latent column, and how a description says it."""

from math import log10

from sandmill.models.channels.audio import LEVELS, MOST_MARKS, AudioChannel, Heard, Place, Trait
from sandmill.models.channels.base import Cue

PLACES: dict[Trait, Place] = {
    "pitch": "call", "rise": "call", "level": "call", "length": "call", "repeats": "call", "steady": "steady",
    "tempo": "trill", "carrier": "trill", "hiss": "hiss", "swell": "hiss", "colour": "floor", "clicks": "clicks",
    "knocks": "knocks", "marker": "marker", "closing": "closing",
}  # fmt: skip
"""The band in which each trait is heard."""
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
_QUIET_SHARE = 3
"""Decimals of a ratio in a text."""


def ends_of(channel: AudioChannel, trait: Trait) -> tuple[float, float]:
    """Return the physical value of a trait at 0 and at 1: Hz, Hz a second, seconds, dB, counts or shares."""
    low, high = channel.band(PLACES[trait])
    width = high - low
    match trait:
        case "pitch" | "carrier":
            return low + _EDGE * width, high - _EDGE * width
        case "rise":
            fastest = _RISE * width / channel.seconds
            return -fastest, fastest
        case "level":
            return _over_noise(channel, width, CALL[0] ** 2 / 2), _over_noise(channel, width, CALL[1] ** 2 / 2)
        case "steady":
            return _over_noise(channel, width, STEADY[0] ** 2 / 2), _over_noise(channel, width, STEADY[1] ** 2 / 2)
        case "hiss":
            return _over_noise(channel, width, HISS[0] ** 2), _over_noise(channel, width, HISS[1] ** 2)
        case "length":
            return LENGTH[0] * channel.seconds, LENGTH[1] * channel.seconds
        case "tempo":
            return PULSES[0] / channel.seconds, PULSES[1] / channel.seconds
        case "swell":
            return -SWELL, SWELL
        case "colour":
            return TILT / 2, -TILT / 2
        case _:
            return 0.0, float(MOST_MARKS)


def cue_of(channel: AudioChannel, heard: Heard) -> Cue:
    """Say how a column shows: its measure, what the measure needs, and the sentence with the same numbers."""
    trait, (low, high) = heard.trait, channel.band(PLACES[heard.trait])
    first, last = ends_of(channel, trait)
    if heard.is_turned:
        first, last = last, first
    quiet = (*channel.band("floor"), *channel.band("roof"))
    numbers = tuple(round(float(number), 3) for number in (low, high, first, last, *quiet))
    column = str(heard.column)
    if trait in _TEXTS:
        said = _TEXTS[trait].format(low=low, high=high, first=first, last=last, quiet=_quiet(quiet))
        return Cue(column=column, measure=trait, parameters=numbers, text=f"{said}.")
    order = "last" if heard.is_turned else "first"
    parameters = (*numbers[:2], order, LEVELS[trait] - 1, *numbers[4:])
    said = _ORDERED[trait][heard.is_turned].format(low=low, high=high)
    return Cue(column=column, measure=trait, parameters=parameters, text=f"{said}.")


def _over_noise(channel: AudioChannel, width: float, power: float) -> float:
    """Return the level of a sound and the noise in its band over the noise alone, in dB."""
    noise = max(channel.noise, 1e-3) ** 2 * 2 * width / channel.rate
    return 10 * log10(1 + power / noise)


def _quiet(bands: tuple[float, ...]) -> str:
    return f"the background noise, heard alone at {bands[0]:g} to {bands[1]:g} Hz and {bands[2]:g} to {bands[3]:g} Hz"


_TEXTS: dict[Trait, str] = {
    "pitch": "the mean frequency of the call, which lies between {low:g} and {high:g} Hz; {first:.0f} Hz at 0, "
    "{last:.0f} Hz at 1",
    "rise": "how fast the frequency of the call between {low:g} and {high:g} Hz rises or falls while it sounds; "
    "{first:+.0f} Hz a second at 0, {last:+.0f} at 1",
    "level": "the loudness of the call between {low:g} and {high:g} Hz while it sounds, over {quiet}; {first:.1f} dB "
    "at 0, {last:.1f} dB at 1",
    "length": "how long one call between {low:g} and {high:g} Hz lasts; {first:.3f} s at 0, {last:.3f} s at 1",
    "steady": "the loudness of the steady tone between {low:g} and {high:g} Hz over {quiet}; {first:.1f} dB at 0, "
    "{last:.1f} dB at 1",
    "tempo": "pulses a second of the trill between {low:g} and {high:g} Hz; {first:.1f} at 0, {last:.1f} at 1",
    "carrier": "the mean frequency of the trill between {low:g} and {high:g} Hz; {first:.0f} Hz at 0, {last:.0f} Hz "
    "at 1",
    "hiss": "the loudness of the hiss between {low:g} and {high:g} Hz over {quiet}; {first:.1f} dB at 0, {last:.1f} "
    "dB at 1",
    "swell": "how the amplitude of the hiss between {low:g} and {high:g} Hz changes from the middle of the recording "
    "to its end, relative to the mean; {first:+.2f} at 0, {last:+.2f} at 1, evenly in time",
    "colour": "the colour of the background noise: how much louder it is at the lowest frequencies than at the "
    "highest, of {quiet}, per Hz; {first:+.0f} dB at 0, {last:+.0f} dB at 1",
    "clicks": "the number of clicks, short bursts between {low:g} and {high:g} Hz; {first:.0f} at 0, {last:.0f} at 1",
    "knocks": "the number of knocks, short bursts between {low:g} and {high:g} Hz; {first:.0f} at 0, {last:.0f} at 1",
}
_ORDERED: dict[Trait, tuple[str, str]] = {
    "repeats": (
        "how often the call between {low:g} and {high:g} Hz sounds: once, twice, three times, in the order of the "
        "levels",
        "how often the call between {low:g} and {high:g} Hz sounds: three times, twice, once, in the order of the "
        "levels",
    ),
    "marker": (
        "which quarter of the band between {low:g} and {high:g} Hz holds a thin tone, the lowest first, in the order "
        "of the levels",
        "which quarter of the band between {low:g} and {high:g} Hz holds a thin tone, the highest first, in the order "
        "of the levels",
    ),
    "closing": (
        "the last sixth of a second's share between {low:g} and {high:g} Hz: nothing, a rising tone, a falling tone, "
        "in the order of the levels",
        "",
    ),
}
