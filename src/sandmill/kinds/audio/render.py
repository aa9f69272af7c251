"""Render short recordings from latent columns: several sounds over each other, in a room, with wind and rain."""

import struct
import wave
from collections.abc import Callable, Mapping
from io import BytesIO
from math import frexp
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.audio.channel import TRAITS, AudioChannel, Voice
from sandmill.kinds.traits import generators, trait_values
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

Sound = NDArray[np.float32]
"""Amplitudes of shape (recordings, samples), full scale 1."""
Numbers: TypeAlias = NDArray[np.floating[Any]]
"""A number for each recording."""
Shown = Mapping[str, Floats]
"""For each trait: how much of it each recording shows, in the unit of the trait; for categories, a whole number."""

CALL, TRILL, WHISTLE, KNOCK, CLICK = 0.34, 0.28, 0.17, 0.45, 0.28
"""Amplitudes; full scale is 1."""
_CHUNK = 50
"""Recordings that are rendered at a time, which keeps arrays small."""
_MOST_NOTES, _GRID, _HARMONICS, _LINES = 4, 16, 7, 14
"""Notes of a call; places in time that a click or knock can take; harmonics of a note; harmonics of the hum."""
_HIGHEST = 0.48
"""Highest frequency of a harmonic, as a share of the samples a second. Above one half it would sound as a lower one."""
_TAIL = 2000
"""Samples of reflections after a sound."""
_GLIDE, _TREMBLES, _REFLECTIONS = 0.35, 9, 5
"""Seconds of a whistle; how often a second a note trembles; early reflections."""


def render_recordings(channel: AudioChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[bytes]:
    """Write one sound file for each row. Row i depends on its own numbers and latent values alone."""
    if channel.voice is None:
        raise ValueError("recordings of an older release cannot be rendered")
    values = {one.trait: trait_values("heard", one, TRAITS[one.trait], latents, row_numbers) for one in channel.heard}
    encode = {"aiff": aiff_bytes, "wav": wav_bytes}[channel.container]
    files = []
    for rows, draws in row_numbers.in_parts(_CHUNK):
        sound = _mix(channel, channel.voice, {trait: found[rows] for trait, found in values.items()}, draws)
        whole = np.clip(np.rint(sound * 127), -127, 127).astype(np.int8)
        files += [encode(one, channel.rate) for one in whole]
    return files


def _even(draws: RowNumbers, name: str, low: float = 0.0, high: float = 1.0) -> NDArray[np.float32]:
    return (low + (high - low) * draws.uniforms(name)).astype(np.float32)


def _mix(channel: AudioChannel, voice: Voice, shown: Shown, draws: RowNumbers) -> Sound:
    """Add all sounds, then the echoes of the room, noise, and a gain."""
    sound = np.zeros((len(draws.numbers), channel.samples), np.float32)
    begins = _begin(channel, shown, draws)
    _add_calls(sound, channel, voice, shown, begins[0], draws)
    _add_trill(sound, channel, voice, shown, begins[1], draws)
    _add_whistle(sound, channel, voice, shown, draws)
    low, high = voice.knock
    knock = _even(draws, "knock pitch", low, high), 0.02, 0.12
    _add_bursts(sound, channel, "knock", KNOCK, np.rint(shown["knocks"]), (np.stack([knock[0]]), *knock[1:]), draws)
    click = np.stack(
        [_even(draws, f"click pitch {number}", end, end + 200) for number, end in enumerate(range(*_CLICK))]
    )
    _add_bursts(sound, channel, "click", CLICK, np.rint(shown["clicks"]), (click, 0.0025, 0.016), draws)
    sound = _in_the_room(channel, voice, sound, shown, draws)
    sound += _wind(channel, shown, draws)
    gain = 10 ** (_even(draws, "gain", -1, 1) * channel.gain / 20)
    return np.asarray(sound * _wide(gain), dtype=np.float32)


_CLICK = (900, 3900, 250)
"""Lowest and highest frequency at which a click rings, and the step between them, Hz."""


def _begin(channel: AudioChannel, shown: Shown, draws: RowNumbers) -> tuple[Numbers, Numbers]:
    """Return when the call and the trill begin: one after the other, or together."""
    notes, seconds = shown["repeats"] + 2, channel.samples / channel.rate
    lasting = notes * shown["length"] + (notes - 1) * shown["gap"], 2 * shown["bout"] + shown["pause"]
    first, apart = _even(draws, "first", 0.03, 0.1), _even(draws, "apart", 0.25, 0.7)
    both = _even(draws, "both", 0.03, 0.5)
    found: list[Numbers] = []
    for number, own in enumerate(lasting):
        late = np.select([shown["order"] == 2, shown["order"] == number], [both, first], first + apart)
        found.append(np.clip(late, 0.02, np.maximum(seconds - own - 0.03, 0.02)))
    together = np.minimum(*found)
    call, trill = (np.where(shown["order"] == 2, together, one) for one in found)
    return call, trill + np.where(shown["order"] == 2, _even(draws, "not quite", -0.015, 0.015), 0)


def _add_calls(
    sound: Sound, channel: AudioChannel, voice: Voice, shown: Shown, begins: Numbers, draws: RowNumbers
) -> None:
    """Add two to four notes of one caller, and a note of another far away."""
    low, high = voice.call
    pitch, step = low + (high - low) * shown["pitch"], shown["length"] + shown["gap"]
    level, arch = CALL * _even(draws, "near", 0.7, 1.1), 4 * _even(draws, "arch", *voice.arch)
    for number in range(_MOST_NOTES):
        loud = np.where(number < shown["repeats"] + 2, level * _even(draws, f"loud {number}", 0.8, 1.0), 0.0)
        start = begins + number * step * (1 + _even(draws, f"early {number}", -0.02, 0.02))
        course = pitch * (1 + _even(draws, f"off {number}", -0.015, 0.015)), shown["rise"], arch
        _add_note(sound, channel, voice, (start, shown["length"]), course, loud, _even(draws, f"phase {number}"))
    lasting = _even(draws, "far length", 0.08, 0.2)
    start = _even(draws, "far start") * (channel.samples / channel.rate - lasting)
    other = _even(draws, "far pitch", 0.8 * low, 1.2 * high), _even(draws, "far rise", -0.5, 0.5), arch
    far = np.full(len(sound), channel.passing)
    _add_note(sound, channel, voice, (start, lasting), other, far, _even(draws, "far phase"))


def _add_note(
    sound: Sound,
    channel: AudioChannel,
    voice: Voice,
    span: tuple[Numbers, Numbers],
    course: tuple[Numbers, Numbers, Numbers],
    amplitude: Numbers,
    phase: Numbers,
) -> None:
    """Add a note with harmonics.

    Span: start and duration. Course: mean fundamental, octaves of its rise and of its arch.
    """
    pitch, rise, arch = course
    numbers = np.arange(1, _HARMONICS + 1)
    harmonics = numbers * pitch[:, None]
    loud = 0.12 + sum(1 / (1 + ((harmonics - middle) / width) ** 2) for middle, width in voice.formants)
    highest = np.abs(rise) / 2 + np.abs(arch) / 6 + voice.vibrato
    loud = np.where(harmonics * 2 ** highest[:, None] < channel.rate * _HIGHEST, loud, 0) / np.sqrt(numbers)
    loud *= (amplitude / np.sqrt((loud**2).sum(axis=1)))[:, None]
    swells, fades = voice.attack

    def made(since: Sound, seconds: Sound) -> Sound:
        octaves = _wide(rise) * (since - np.float32(0.5)) + _wide(arch) * (np.float32(0.083) - (since - 0.5) ** 2)
        octaves += np.float32(voice.vibrato) * np.sin(2 * np.float32(np.pi) * _TREMBLES * seconds)
        wanted = _harmonics(_angle(channel.rate, pitch, octaves, since) + 2 * np.float32(np.pi) * _wide(phase), loud)
        return np.asarray(wanted * np.minimum(np.minimum(since / swells, (1 - since) / fades), 1), dtype=np.float32)

    _add(sound, channel.rate, span, amplitude > 0, made)


def _angle(rate: int, pitch: Numbers, octaves: Sound, since: Sound) -> Sound:
    """Return the phase of a tone that is so many octaves above a pitch at each moment since its start."""
    turns = np.cumsum(np.where(since > 0, _wide(pitch / rate) * np.exp2(octaves), 0), axis=1, dtype=np.float64)
    return np.float32(2 * np.pi) * (turns - np.floor(turns)).astype(np.float32)


def _add(
    sound: Sound,
    rate: int,
    span: tuple[Numbers, Numbers],
    is_there: NDArray[np.bool_],
    made: Callable[[Sound, Sound], Sound],
) -> None:
    """Add a sound that begins somewhere and lasts for a while.

    Args:
        sound: to add to.
        rate: samples a second.
        span: start and duration in seconds.
        is_there: whether a recording has the sound.
        made: makes it of the time since its start, as a share of its duration and in seconds.
    """
    start, lasting = span
    window = int(np.ceil(float(lasting.max(initial=0.01)) * rate)) + 1
    first = np.clip(np.ceil(start * rate).astype(np.intp), 0, sound.shape[1] - window)
    seconds = ((first[:, None] + np.arange(window)) / rate - start[:, None]).astype(np.float32)
    since = seconds / _wide(lasting)
    inside = (since > 0) & (since < 1) & is_there[:, None]
    added = np.where(inside, made(np.clip(since, 0, 1), seconds), 0)
    for row, place in enumerate(first):
        sound[row, place : place + window] += added[row]


def _add_trill(
    sound: Sound, channel: AudioChannel, voice: Voice, shown: Shown, begins: Numbers, draws: RowNumbers
) -> None:
    """Add two runs of quick pulses."""
    tone, level = _even(draws, "tone", *voice.trill), TRILL * _even(draws, "trill near", 0.7, 1.1)
    octave = 0.2 * (2 * tone * 2 ** (abs(voice.bend) / 2) < channel.rate * _HIGHEST)

    def made(since: Sound, seconds: Sound) -> Sound:
        pulse = seconds * _wide(shown["tempo"])
        pulse -= np.floor(pulse)
        angle = _angle(channel.rate, tone, np.float32(voice.bend) * (pulse - np.float32(0.5)), since)
        shape = np.minimum(pulse / 0.12, 1) * np.exp(-4 * pulse) * 1.6
        return np.asarray(_wide(level) * shape * (np.sin(angle) + _wide(octave) * np.sin(2 * angle)), dtype=np.float32)

    for start in (begins, begins + shown["bout"] + shown["pause"]):
        _add(sound, channel.rate, (start, shown["bout"]), np.ones(len(sound), np.bool_), made)


def _add_whistle(sound: Sound, channel: AudioChannel, voice: Voice, shown: Shown, draws: RowNumbers) -> None:
    """Add a long glide upwards or downwards, or none."""
    low, high = (end * _even(draws, f"whistle {end}", 0.95, 1.05) for end in voice.whistle)
    octaves = np.log2(high / low) * np.where(shown["closing"] == 2, -1, 1)
    lasting = np.full(len(sound), _GLIDE)
    start = _even(draws, "whistle start", 0.03, channel.samples / channel.rate - _GLIDE - 0.03)
    level = WHISTLE * _even(draws, "whistle near", 0.8, 1.1)

    def made(since: Sound, seconds: Sound) -> Sound:
        angle = _angle(channel.rate, np.sqrt(low * high), _wide(octaves) * (since - np.float32(0.5)), since)
        return np.asarray(_wide(level) * np.sqrt(np.abs(np.sin(np.pi * since))) * np.sin(angle), dtype=np.float32)

    _add(sound, channel.rate, (start, lasting), shown["closing"] > 0, made)


def _add_bursts(
    sound: Sound,
    channel: AudioChannel,
    name: str,
    amplitude: float,
    marks: Floats,
    ring: tuple[Sound, float, float],
    draws: RowNumbers,
) -> None:
    """Add bursts at different places of a grid, so that they can be counted.

    Args:
        sound: to add to.
        channel: with the rate.
        name: of the bursts.
        amplitude: of each tone of a burst.
        marks: how many bursts a recording has.
        ring: tones in Hz, one row for each; seconds in which a burst dies away; seconds after which it is over.
        draws: random numbers.
    """
    tones, fades, lasts = ring
    seconds = np.arange(round(lasts * channel.rate), dtype=np.float32) / np.float32(channel.rate)
    cell = channel.samples / _GRID
    order = np.argsort(np.stack([_even(draws, f"{name} {number}") for number in range(_GRID)]), axis=0)
    burst = sum(
        np.sin(np.float32(2 * np.pi) * _wide(tone) * seconds + 2.4 * place**2) for place, tone in enumerate(tones)
    )
    burst = burst * np.minimum(seconds / 0.0005, 1) * np.exp(-seconds / np.float32(fades))
    for number in range(int(marks.max(initial=0))):
        rows = np.flatnonzero(number < marks)
        middle = (order[number] + _even(draws, f"{name} jitter {number}", 0.2, 0.8)) * cell
        first = np.clip(np.rint(middle).astype(np.intp)[rows], 0, channel.samples - len(seconds))
        loud = amplitude * _even(draws, f"{name} level {number}", 0.75, 1.25)[rows]
        sound[rows[:, None], first[:, None] + np.arange(len(seconds))] += _wide(loud) * burst[rows]


def _add_hum(
    spectrum: NDArray[np.complex64], size: int, channel: AudioChannel, voice: Voice, shown: Shown, draws: RowNumbers
) -> None:
    """Add a steady hum to spectra of so many samples: one number for a harmonic, so pitches are whole steps."""
    pitch = np.asarray(voice.hum)[shown["marker"].astype(np.intp)] * _even(draws, "hum pitch", 0.985, 1.015)
    loud = np.stack([_even(draws, f"hum {number}", 0.4, 1.0) for number in range(_LINES)], axis=1)
    loud /= 1 + (np.arange(_LINES) / (3 + 3 * shown["marker"][:, None])) ** 3
    loud *= (10 ** (shown["steady"] / 20) * np.sqrt(2) / np.sqrt((loud**2).sum(axis=1)))[:, None]
    numbers = np.arange(1, _LINES + 1)
    places = numbers * np.rint(pitch * size / channel.rate).astype(np.intp)[:, None]
    turns = numbers * _even(draws, "hum phase")[:, None] - 0.25
    lines = np.where(places < size // 2, loud, 0) * np.exp(2j * np.pi * turns) * (size / 2)
    spectrum[np.arange(len(pitch))[:, None], np.minimum(places, size // 2)] += lines.astype(np.complex64)


def _harmonics(angle: Sound, loud: Numbers) -> Sound:
    """Add up harmonics of a phase, of which each follows from the two before it."""
    twice, before, this = 2 * np.cos(angle), np.zeros_like(angle), np.sin(angle)
    total = np.zeros_like(angle)
    for number in range(loud.shape[1]):
        total += _wide(loud[:, number]) * this
        before, this = this, twice * this - before
    return total


def _white(name: str, draws: RowNumbers, count: int) -> NDArray[np.complex64]:
    """Complex white noise of variance one, from a generator for each row. Sums of its bytes are as good as normal."""
    content = b"".join(rng.bytes(2 * count) for rng in generators(name, draws))
    numbers = np.frombuffer(content, np.int8).reshape(len(draws.numbers), 2 * count)
    both = (numbers + np.float32(0.5)) / np.float32(np.sqrt((256**2 - 1) / 6))
    return both.view(np.complex64)


def _in_the_room(channel: AudioChannel, voice: Voice, sound: Sound, shown: Shown, draws: RowNumbers) -> Sound:
    """Add early reflections and a tail of reverberation, then the hum, the background noise and rain."""
    from scipy.fft import irfft, rfft

    size = channel.samples + _TAIL
    tail = _white("tail", draws, _TAIL).real
    seconds = np.arange(_TAIL, dtype=np.float32) / np.float32(channel.rate)
    answer = np.float32(0.085) * tail * 10 ** (-3 * seconds / voice.reverberation)
    for number in range(_REFLECTIONS):
        delay = np.rint(_even(draws, f"delay {number}", 0.006, 0.07) * channel.rate).astype(np.intp)
        answer[np.arange(len(sound)), delay] += _even(draws, f"reflection {number}", -0.6, 0.6)
    answer *= _wide(channel.echo * _even(draws, "echo"))
    answer[:, 0] = 1
    spectrum = rfft(sound, size, axis=1) * rfft(answer, size, axis=1)
    pitch = np.linspace(0, channel.rate / 2, size // 2 + 1, dtype=np.float32)
    high = (1 / (1 + (2300 / np.maximum(pitch, 1)) ** 6)).astype(np.float32)
    high /= high.mean()
    power = np.float32(channel.noise) ** 2 + high * _wide(10 ** (shown["rain"] / 10))
    _add_hum(spectrum, size, channel, voice, shown, draws)
    spectrum += _white("background", draws, len(pitch)) * np.sqrt(power * size)
    return np.asarray(irfft(spectrum, size, axis=1)[:, : channel.samples], dtype=np.float32)


def _wind(channel: AudioChannel, shown: Shown, draws: RowNumbers) -> Sound:
    """Low noise in gusts that swells or fades."""
    from scipy.fft import irfft

    pitch = np.arange(0, 1200, channel.rate / channel.samples, dtype=np.float32)
    shape = (pitch / 60) ** 2 / (1 + (pitch / 60) ** 2) / (1 + (pitch / 260) ** 4)
    shape *= channel.samples / 2 / shape.sum()
    spectrum = np.zeros((len(draws.numbers), channel.samples // 2 + 1), np.complex64)
    spectrum[:, : len(pitch)] = _white("wind", draws, len(pitch)) * np.sqrt(shape * channel.samples)
    way = np.linspace(-1, 1, channel.samples, dtype=np.float32)
    gust = 1 + np.float32(0.15) * np.sin(7 * way + 2 * np.pi * _wide(_even(draws, "gust")))
    level = 10 ** (shown["hiss"] / 20)
    wind = irfft(spectrum, channel.samples, axis=1) * gust * (1 + _wide(shown["swell"]) * way) * _wide(level)
    return np.asarray(wind, dtype=np.float32)


def _wide(values: Numbers) -> NDArray[np.float32]:
    """One number for each recording, for arithmetic with samples."""
    return values.astype(np.float32)[:, None]


def wav_bytes(samples: NDArray[np.integer[Any]], rate: int) -> bytes:
    """Write mono PCM of 8 or 16 bits as WAV, in which samples of 8 bits are from 0 to 255."""
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(samples.itemsize)
        file.setframerate(rate)
        held = (samples + np.int16(128)).astype("u1") if samples.itemsize == 1 else samples.astype("<i2")
        file.writeframes(held.tobytes())
    return out.getvalue()


def aiff_bytes(samples: NDArray[np.integer[Any]], rate: int) -> bytes:
    """Write mono PCM of 8 or 16 bits as AIFF: a form of the chunks COMM and SSND."""
    data = samples.astype(f">i{samples.itemsize}").tobytes()
    common = struct.pack(">hIh", 1, len(samples), 8 * samples.itemsize) + extended(rate)
    chunks = b"COMM" + struct.pack(">I", len(common)) + common
    chunks += b"SSND" + struct.pack(">III", 8 + len(data), 0, 0) + data
    return b"FORM" + struct.pack(">I", 4 + len(chunks)) + b"AIFF" + chunks


def extended(number: int) -> bytes:
    """Write a positive whole number as an 80-bit float, as AIFF states its sampling rate."""
    mantissa, exponent = frexp(number)
    return struct.pack(">HQ", exponent + 16382, int(mantissa * 2**64))
