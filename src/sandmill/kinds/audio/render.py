"""Render short recordings from latent columns: calls, tones, bursts and noise, each in a band of its own."""

import struct
import wave
from collections.abc import Mapping
from io import BytesIO
from math import frexp
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.audio import channel as ends
from sandmill.kinds.audio.channel import MOST_MARKS, TRAITS, AudioChannel, Place
from sandmill.kinds.traits import generators, trait_values
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

Sound = NDArray[np.float32]
"""Amplitudes of shape (recordings, samples), full scale 1."""
Numbers: TypeAlias = NDArray[np.floating[Any]]
"""A number for each recording."""
Shown = Mapping[str, Floats]
"""For each trait: how much of it each recording shows, from 0 to 1; for categories, a whole number."""

_CHUNK = 400
"""Recordings that are rendered at a time, which keeps arrays small."""
_MOST_REPEATS, _MARKERS, _GRID = 3, 4, 16
"""Calls of a recording; places of the thin tone; places in time that a click or knock can take."""
_ECHO_DELAYS = (0.012, 0.021, 0.034, 0.047)
"""Seconds."""


def render_recordings(channel: AudioChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[bytes]:
    """Write one sound file for each row. Row i depends on its own numbers and latent values alone."""
    values = {one.trait: trait_values("heard", one, TRAITS[one.trait], latents, row_numbers) for one in channel.heard}
    encode = {"aiff": aiff_bytes, "wav": wav_bytes}[channel.container]
    files = []
    for rows, draws in row_numbers.in_parts(_CHUNK):
        sound = _mix(channel, {trait: found[rows] for trait, found in values.items()}, draws)
        whole = np.clip(np.rint(sound * 32767), -32767, 32767).astype(np.int16)
        files += [encode(one, channel.rate) for one in whole]
    return files


def _even(draws: RowNumbers, name: str) -> NDArray[np.float32]:
    return draws.uniforms(name).astype(np.float32)


def _normals(draws: RowNumbers, name: str, count: int) -> NDArray[np.complex64]:
    """Return complex normal numbers of variance one, from a generator for each row."""
    rows = [rng.standard_normal(2 * count, np.float32) for rng in generators(name, draws)]
    both = np.stack(rows) if rows else np.empty((0, 2 * count), np.float32)
    return np.asarray((both[:, :count] + 1j * both[:, count:]) / np.sqrt(2), dtype=np.complex64)


def _mix(channel: AudioChannel, shown: Shown, draws: RowNumbers) -> Sound:
    """Add all sounds, then the echo, then the gain."""
    time = np.arange(channel.samples, dtype=np.float32) / np.float32(channel.rate)
    sound = _noise(channel, shown, draws, time)
    sound += _calls(channel, shown, draws, time)
    sound += _tones(channel, shown, draws, time)
    _add_bursts(sound, channel, "clicks", ends.CLICK, np.rint(MOST_MARKS * shown["clicks"]), draws)
    _add_bursts(sound, channel, "knocks", ends.KNOCK, np.rint(MOST_MARKS * shown["knocks"]), draws)
    sound = _echo(channel, sound, draws)
    gain = 10 ** ((2 * _even(draws, "gain") - 1) * channel.gain / 20)
    return np.asarray(sound * gain[:, None], dtype=np.float32)


def _noise(channel: AudioChannel, shown: Shown, draws: RowNumbers, time: NDArray[np.float32]) -> Sound:
    """Background noise of a colour, and a hiss that swells or fades."""
    bins = channel.samples // 2 + 1
    pitch = np.linspace(0, 1, bins, dtype=np.float32)
    first, last = ends.ends_of(channel, "colour")
    tilt = _wide(first + (last - first) * shown["colour"])
    spectrum = _normals(draws, "background", bins)
    spectrum *= channel.noise * 10 ** (tilt * (1 - 2 * pitch) / 40)
    background = np.fft.irfft(spectrum, channel.samples) * np.sqrt(channel.samples)
    low, high = (round(edge * channel.samples / channel.rate) for edge in channel.band("hiss"))
    hiss = np.zeros((len(background), bins), np.complex64)
    hiss[:, low:high] = _normals(draws, "hiss", high - low)
    hiss *= np.sqrt(bins / (high - low))
    swell = 1 + ends.SWELL * (2 * _wide(shown["swell"]) - 1) * (2 * time / np.float32(channel.seconds) - 1)
    level = ends.HISS[0] * (ends.HISS[1] / ends.HISS[0]) ** _wide(shown["hiss"])
    hissing = np.fft.irfft(hiss, channel.samples) * np.sqrt(channel.samples)
    return np.asarray(background + hissing * level * swell, dtype=np.float32)


def _calls(channel: AudioChannel, shown: Shown, draws: RowNumbers, time: NDArray[np.float32]) -> Sound:
    """One to three equal sweeps, and a weak one that passes by anywhere."""
    seconds = channel.seconds
    pitch, rise, length = (_between(channel, shown, trait) for trait in ("pitch", "rise", "length"))
    level = ends.CALL[0] * (ends.CALL[1] / ends.CALL[0]) ** shown["level"]
    repeats = shown["repeats"] + 1
    step = (0.24 + 0.04 * _even(draws, "call step")) * seconds
    start = _even(draws, "call start") * (seconds - (repeats - 1) * step - length)
    sound = np.zeros((len(pitch), len(time)), np.float32)
    for number in range(_MOST_REPEATS):
        loud = np.where(number < repeats, level, 0.0)
        phase = _even(draws, f"call phase {number}")
        _add_sweep(sound, time, (start + number * step, length), (pitch, rise), loud, phase)
    low, high = channel.band("call")
    where = low + (0.2 + 0.6 * _even(draws, "passing pitch")) * (high - low)
    slope = (2 * _even(draws, "passing rise") - 1) * (high - low) / seconds
    lasting = (0.05 + 0.1 * _even(draws, "passing length")) * seconds
    begins = _even(draws, "passing start") * (seconds - lasting)
    _add_sweep(
        sound, time, (begins, lasting), (where, slope), channel.passing + 0 * where, _even(draws, "passing phase")
    )
    return sound


def _add_sweep(
    sound: Sound,
    time: NDArray[np.float32],
    span: tuple[Numbers, Numbers],
    course: tuple[Numbers, Numbers],
    amplitude: Numbers,
    phase: Numbers,
) -> None:
    """Add a sweep with soft ends. Span: start and duration; course: mean frequency and its change a second."""
    rate = 1 / float(time[1])
    window = int(np.ceil(float(span[1].max()) * rate)) + 1 if len(sound) else 1
    first = np.clip(np.floor(span[0] * rate).astype(np.intp), 0, len(time) - window)
    places = first[:, None] + np.arange(window)
    since = (time[places] - _wide(span[0])) / _wide(span[1])
    shape = np.where((since > 0) & (since < 1), np.sin(np.pi * np.clip(since, 0, 1)), 0) ** np.float32(0.5)
    apart = (since - np.float32(0.5)) * _wide(span[1])
    angle = 2 * np.pi * (_wide(course[0]) * apart + _wide(course[1]) * apart**2 / 2 + _wide(phase))
    rows = np.arange(len(sound))[:, None]
    sound[rows, places] += (_wide(amplitude) * shape * np.sin(angle)).astype(np.float32)


def _tones(channel: AudioChannel, shown: Shown, draws: RowNumbers, time: NDArray[np.float32]) -> Sound:
    """A steady tone, a trill, a thin tone in one of four places, and a sound that closes the recording."""
    low, high = channel.band("steady")
    level = ends.STEADY[0] * (ends.STEADY[1] / ends.STEADY[0]) ** shown["steady"]
    steady = low + (0.35 + 0.3 * _even(draws, "steady pitch")) * (high - low)
    sound = _wide(level) * _tone(time, steady, _even(draws, "steady phase"))
    tempo, carrier = _between(channel, shown, "tempo"), _between(channel, shown, "carrier")
    pulses = np.float32(ends.TRILL) * (0.5 + 0.5 * _tone(time, tempo, _even(draws, "pulse phase"))) ** 2
    sound += np.asarray(pulses * _tone(time, carrier, _even(draws, "trill phase")), dtype=np.float32)
    low, high = channel.band("marker")
    thin = low + (high - low) * (shown["marker"] + 0.3 + 0.4 * _even(draws, "marker pitch")) / _MARKERS
    sound += np.float32(ends.MARKER) * _tone(time, thin, _even(draws, "marker phase"))
    low, high = channel.band("closing")
    left = (1 - ends.CLOSING_STARTS) * channel.seconds
    way = np.choose(shown["closing"].astype(np.intp), (0.0, 1.0, -1.0))
    lasting = left * (0.8 + 0.15 * _even(draws, "closing length"))
    begins = channel.seconds - lasting - 0.04 * left * _even(draws, "closing start")
    course = (np.full(len(way), (low + high) / 2), way * 0.6 * (high - low) / left)
    _add_sweep(sound, time, (begins, lasting), course, ends.CLOSING * np.abs(way), _even(draws, "closing phase"))
    return sound


def _tone(time: NDArray[np.float32], pitch: Numbers, phase: Numbers) -> Sound:
    angle = np.float32(2 * np.pi) * (_wide(pitch) * time + _wide(phase))
    return np.asarray(np.sin(angle), dtype=np.float32)


def _add_bursts(
    sound: Sound, channel: AudioChannel, place: Place, amplitude: float, marks: Floats, draws: RowNumbers
) -> None:
    """Add short bursts at different places of a grid, so that they can be counted."""
    low, high = channel.band(place)
    spread = 1.2 / (high - low)
    half = round(2.5 * spread * channel.rate)
    around = np.arange(-half, half + 1)
    cell = channel.samples / _GRID
    order = np.argsort(np.stack([_even(draws, f"{place} {number}") for number in range(_GRID)]), axis=0)
    shape = np.exp(-0.5 * (around / (spread * channel.rate * 0.4)) ** 2).astype(np.float32)
    turns = (2 * np.pi * (low + high) / 2 * around / channel.rate).astype(np.float32)
    for number in range(MOST_MARKS):
        rows = np.flatnonzero(number < marks)
        jitter = 0.35 + 0.3 * _even(draws, f"{place} jitter {number}")
        middle = np.clip(np.rint((order[number] + jitter) * cell).astype(np.intp), half, channel.samples - half - 1)
        loud = amplitude * (0.85 + 0.3 * _even(draws, f"{place} level {number}")[rows])
        angle = turns + np.float32(2 * np.pi) * _wide(_even(draws, f"{place} phase {number}")[rows])
        sound[rows[:, None], middle[rows, None] + around] += _wide(loud) * shape * np.sin(angle)


def _echo(channel: AudioChannel, sound: Sound, draws: RowNumbers) -> Sound:
    """Add one echo of a drawn delay and loudness."""
    which = np.floor(_even(draws, "echo delay") * len(_ECHO_DELAYS)).astype(np.intp)
    loudness = np.float32(channel.echo) * _even(draws, "echo")
    result = sound.copy()
    for number, delay in enumerate(_ECHO_DELAYS):
        rows, steps = which == number, round(delay * channel.rate)
        result[rows, steps:] += loudness[rows, None] * sound[rows, :-steps]
    return result


def _between(channel: AudioChannel, shown: Shown, trait: str) -> Floats:
    first, last = ends.ends_of(channel, trait)
    return first + (last - first) * shown[trait]


def _wide(values: Numbers) -> NDArray[np.float32]:
    """One number for each recording, for arithmetic with samples."""
    return values.astype(np.float32)[:, None]


def wav_bytes(samples: NDArray[np.int16], rate: int) -> bytes:
    """Write 16-bit mono PCM as WAV."""
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def aiff_bytes(samples: NDArray[np.int16], rate: int) -> bytes:
    """Write 16-bit mono PCM as AIFF: a form of the chunks COMM and SSND."""
    data = samples.astype(">i2").tobytes()
    common = struct.pack(">hIh", 1, len(samples), 16) + extended(rate)
    chunks = b"COMM" + struct.pack(">I", len(common)) + common
    chunks += b"SSND" + struct.pack(">III", 8 + len(data), 0, 0) + data
    return b"FORM" + struct.pack(">I", 4 + len(chunks)) + b"AIFF" + chunks


def extended(number: int) -> bytes:
    """Write a positive whole number as an 80-bit float, as AIFF states its sampling rate."""
    mantissa, exponent = frexp(number)
    return struct.pack(">HQ", exponent + 16382, int(mantissa * 2**64))
