"""Measure in recordings what the description says of them, here and in scripts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.audio.read import reading_lines
from sandmill.kinds.script_text import Reader, functions_source
from sandmill.kinds.traits import cue_lines
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts

FRAMES = 256
"""Points in time at which a band is looked at."""

_READING = """\
measured = measure_all(pd.concat([train, test])["sound"], rate, CUES)
train = train.drop(columns="sound").join(measured[: len(train)])
test = test.drop(columns="sound").join(measured[len(train) :].reset_index(drop=True))
"""


def source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    """Read all recordings, and estimate the column of each cue."""
    used = dict.fromkeys(cue.measure for cue in cues)
    lines = ["", "", f"FRAMES = {FRAMES}", *functions_source(measure_all, *(MEASURES[name] for name in used))]
    table = ", ".join(f'"{name}": {MEASURES[name].__name__}' for name in used)
    lines += ["", "", f"MEASURES = {{{table}}}"]
    lines += cue_lines("Column, measure, band in Hz, value at 0 and at 1, the two quiet bands", cues)
    return [*lines, *reading_lines(facts), *_READING.splitlines()]


def measure_all(sounds: pd.Series, rate: int, cues: list) -> pd.DataFrame:
    """Estimate one column for each cue. Sounds: arrays of samples, equally long."""
    samples = np.stack(list(sounds)).astype(float)
    spectra = 2 * np.fft.rfft(samples, axis=1) / samples.shape[1]
    seconds = samples.shape[1] / rate
    made = {}
    for column, measure, low, high, *more in cues:
        bins = round(low * seconds), round(high * seconds)
        quiet = [] if len(more) < 6 else [round(edge * seconds) for edge in more[2:]]
        noise = noise_around(spectra, bins, quiet)
        value = MEASURES[measure](in_band(spectra, *bins), bins, seconds, noise)
        is_named = isinstance(more[0], str)
        made[column] = np.array(more)[value] if is_named else (value - more[0]) / (more[1] - more[0])
    return pd.DataFrame(made)


def noise_around(spectra: np.ndarray, bins: tuple, quiet: list) -> tuple:
    """Return the power of the background below and above, and in a band between; all in a bin."""
    if not quiet:
        return ()
    floor, roof = (np.mean(np.abs(spectra[:, a:b]) ** 2, axis=1) for a, b in (quiet[:2], quiet[2:]))
    return floor, roof, np.sqrt(floor * roof) * (bins[1] - bins[0])


def in_band(spectra: np.ndarray, first: int, last: int) -> np.ndarray:
    """Return the complex amplitude over time of what lies between two bins of the spectrum."""
    return FRAMES * np.fft.ifft(spectra[:, first:last], FRAMES, axis=1)


def decibels(ratio: np.ndarray) -> np.ndarray:
    """Turn a ratio of powers into dB."""
    return 10 * np.log10(ratio)


def smoothed(band: np.ndarray, width: int) -> np.ndarray:
    """Return the power over time, averaged over a window without edges."""
    window = np.hanning(width + 2)[1:-1]
    kernel = np.fft.rfft(window / window.sum(), 2 * FRAMES)
    whole = np.fft.irfft(np.fft.rfft(np.abs(band) ** 2, 2 * FRAMES, axis=1) * kernel, axis=1)
    return whole[:, width // 2 : width // 2 + FRAMES]


def starts(above: np.ndarray) -> np.ndarray:
    """Count how many times a sound begins."""
    return above[:, 0] + (above[:, 1:] & ~above[:, :-1]).sum(axis=1)


def sweep(band: np.ndarray, seconds: float, lag: int = 7) -> np.ndarray:
    """Return how fast the frequency rises, in Hz a second, from second differences of the phase."""
    turn = band[:, lag:] * np.conj(band[:, :-lag])
    turns = (turn[:, lag:] * np.conj(turn[:, :-lag])).sum(axis=1)
    return np.angle(turns) / (2 * np.pi) * (FRAMES / seconds / lag) ** 2


def pitch(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Mean frequency, by moments at which the sound is loud."""
    power = np.abs(band[:, :-1]) ** 2
    turn = (power * band[:, 1:] * np.conj(band[:, :-1])).sum(axis=1)
    return (bins[0] + np.angle(turn) % (2 * np.pi) / (2 * np.pi) * FRAMES) / seconds


def rise(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Rise of the frequency, Hz a second."""
    return sweep(band, seconds)


def level(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Loudness at the loudest moments over the background, in dB."""
    return decibels(np.quantile(smoothed(band, 15), 0.96, axis=1) / noise[2])


def steady(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Mean loudness over the background, in dB."""
    return decibels(np.mean(np.abs(band) ** 2, axis=1) / noise[2])


def length(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Duration of one call: the time for which it is loud, by the number of calls."""
    power = smoothed(band, 17)
    is_loud = power > 0.4 * np.quantile(power, 0.98, axis=1, keepdims=True)
    return 1.3 * is_loud.mean(axis=1) * seconds / (1 + repeats(band, bins, seconds, noise))


def repeats(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """How often the call sounds, less one."""
    power = smoothed(band, 31)
    return np.clip(starts(power > 0.55 * power.max(axis=1, keepdims=True)), 1, 3) - 1


def tempo(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Pulses a second: the strongest period of the loudness."""
    power = np.abs(band) ** 2
    beats = np.abs(np.fft.rfft(power - power.mean(axis=1, keepdims=True), 4 * FRAMES, axis=1))
    return (beats[:, 24:100].argmax(axis=1) + 24) / (4 * seconds)


def swell(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Change of the amplitude from the middle to the end, relative to the mean."""
    power = np.abs(band) ** 2
    return 1.9 * (power * np.linspace(-1, 1, FRAMES)).mean(axis=1) / power.mean(axis=1)


def colour(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """How much louder the background is at the bottom than at the top, in dB."""
    return decibels(noise[0] / noise[1])


def clicks(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Number of short bursts."""
    power = smoothed(band, 7)
    return starts(power > 5.5 * np.median(power, axis=1, keepdims=True))


def marker(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """Which quarter of the band is loudest."""
    power = np.abs(np.fft.fft(band, axis=1)[:, : bins[1] - bins[0]]) ** 2
    quarters = np.array_split(power, 4, axis=1)
    return np.argmax([quarter.max(axis=1) for quarter in quarters], axis=0)


def closing(band: np.ndarray, bins: tuple, seconds: float, noise: tuple) -> np.ndarray:
    """The last sixth: 0 for nothing, 1 for a rising and 2 for a falling tone."""
    before, end = np.split(band, [round(0.84 * FRAMES)], axis=1)
    is_loud = np.mean(np.abs(end) ** 2, axis=1) > 3 * np.mean(np.abs(before) ** 2, axis=1)
    return np.where(is_loud, np.where(sweep(end, seconds) > 0, 1, 2), 0)


MEASURES: dict[str, Callable[..., Any]] = {
    "pitch": pitch, "rise": rise, "level": level, "length": length, "steady": steady, "tempo": tempo,
    "carrier": pitch, "hiss": steady, "swell": swell, "colour": colour, "clicks": clicks, "knocks": clicks,
    "repeats": repeats, "marker": marker, "closing": closing,
}  # fmt: skip
read = Reader(source).read
