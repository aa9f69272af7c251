"""Measure in recordings what the description says of them, here and in scripts."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.media import audio_files
from sandmill.models.channels import Cue
from sandmill.models.package import TaskFacts

FRAMES = 256
"""Points in time at which a band is looked at."""

_READING = """\
measured = measure_all(pd.concat([train, test])["sound"], rate, CUES)
train = train.drop(columns="sound").join(measured[: len(train)])
test = test.drop(columns="sound").join(measured[len(train) :].reset_index(drop=True))
"""


def read(folder: Path, facts: TaskFacts, cues: Sequence[Cue]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read all recordings, and estimate the columns that the cues speak of."""
    train, test, rate = audio_files.read_recordings(folder, facts)
    listed = [(cue.column, cue.measure, *cue.parameters) for cue in cues]
    measured = measure_all(pd.concat([train, test])["sound"], rate, listed)
    train = train.drop(columns="sound").join(measured[: len(train)])
    return train, test.drop(columns="sound").join(measured[len(train) :].reset_index(drop=True))


def source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    used = dict.fromkeys(cue.measure for cue in cues)
    functions = [measure_all, noise_around, in_band, decibels, smoothed, starts, sweep, *(MEASURES[name] for name in used)]
    functions = [function for function in dict.fromkeys(functions) if function in ALWAYS or function in MEASURES.values()]
    table = ", ".join(f'"{name}": {MEASURES[name].__name__}' for name in used)
    told = [f"    {(cue.column, cue.measure, *cue.parameters)!r}," for cue in cues]
    lines = ["", "", f"FRAMES = {FRAMES}", "# Column, measure, band in Hz, value at 0 and at 1, and the quiet bands", "CUES = [", *told, "]"]
    for function in functions:
        lines += ["", "", *inspect.getsource(function).splitlines()]
    lines += ["", "", f"MEASURES = {{{table}}}", *audio_files.source(facts), *_READING.splitlines()]
    return lines


def measure_all(sounds: pd.Series, rate: int, cues: Sequence[tuple]) -> pd.DataFrame:
    """Estimate one column for each cue. Sounds: arrays of samples, equally long."""
    sounds = np.stack(list(sounds)).astype(float)
    spectra = 2 * np.fft.rfft(sounds, axis=1) / sounds.shape[1]
    seconds = sounds.shape[1] / rate
    made = {}
    for column, measure, low, high, first, last, *quiet in cues:
        bins = round(low * seconds), round(high * seconds)
        noise = noise_around(spectra, bins, [round(edge * seconds) for edge in quiet])
        value = MEASURES[measure](in_band(spectra, *bins), bins, seconds, noise)
        if first == "first":
            made[column] = value
        elif first == "last":
            made[column] = last - value
        else:
            made[column] = (value - first) / (last - first)
    return pd.DataFrame(made)


def noise_around(spectra: np.ndarray, bins: tuple, quiet: list) -> tuple:
    """Return the power of the background per bin in the lowest and the highest band, here, and in between."""
    floor, roof = (np.mean(np.abs(spectra[:, a:b]) ** 2, axis=1) for a, b in (quiet[:2], quiet[2:]))
    share = (sum(bins) - sum(quiet[:2])) / (sum(quiet[2:]) - sum(quiet[:2]))
    width = bins[1] - bins[0]
    return floor, roof, floor ** (1 - share) * roof**share * width, np.sqrt(floor * roof) * width


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
    """Return how fast the frequency rises, in Hz a second: the turn of the turn of the phase."""
    turn = band[:, lag:] * np.conj(band[:, :-lag])
    turns = (turn[:, lag:] * np.conj(turn[:, :-lag])).sum(axis=1)
    return np.angle(turns) / (2 * np.pi) * (FRAMES / seconds / lag) ** 2


def pitch(band, bins, seconds, noise):
    """Mean frequency, by moments at which the sound is loud."""
    power = np.abs(band[:, :-1]) ** 2
    turn = (power * band[:, 1:] * np.conj(band[:, :-1])).sum(axis=1)
    return (bins[0] + np.angle(turn) % (2 * np.pi) / (2 * np.pi) * FRAMES) / seconds


def rise(band, bins, seconds, noise):
    """Rise of the frequency, Hz a second."""
    return sweep(band, seconds)


def level(band, bins, seconds, noise):
    """Loudness at the loudest moments over the background, in dB."""
    return decibels(np.quantile(smoothed(band, 15), 0.96, axis=1) / noise[3])


def steady(band, bins, seconds, noise):
    """Mean loudness over the background, in dB."""
    return decibels(np.mean(np.abs(band) ** 2, axis=1) / noise[3])


def length(band, bins, seconds, noise):
    """Duration of one call: the time for which it is loud, by the number of calls."""
    power = smoothed(band, 17)
    is_loud = power > 0.35 * np.quantile(power, 0.97, axis=1, keepdims=True)
    return is_loud.mean(axis=1) * seconds / (1 + repeats(band, bins, seconds, noise))


def repeats(band, bins, seconds, noise):
    """How often the call sounds, less one."""
    power = smoothed(band, 31)
    return np.clip(starts(power > 0.55 * power.max(axis=1, keepdims=True)), 1, 3) - 1


def tempo(band, bins, seconds, noise):
    """Pulses a second: the strongest period of the loudness."""
    power = np.abs(band) ** 2
    beats = np.abs(np.fft.rfft(power - power.mean(axis=1, keepdims=True), 4 * FRAMES, axis=1))
    return (beats[:, 24:100].argmax(axis=1) + 24) / (4 * seconds)


def swell(band, bins, seconds, noise):
    """Change of the amplitude from the middle to the end, relative to the mean."""
    power = np.abs(band) ** 2
    net = np.maximum(power.mean(axis=1) - noise[2], power.mean(axis=1) / 4)
    return 1.5 * (power * np.linspace(-1, 1, FRAMES)).mean(axis=1) / net


def colour(band, bins, seconds, noise):
    """How much louder the background is at the bottom than at the top, in dB."""
    return decibels(noise[0] / noise[1])


def clicks(band, bins, seconds, noise):
    """Number of short bursts."""
    power = smoothed(band, 7)
    return starts(power > 6 * noise[2][:, None])


def marker(band, bins, seconds, noise):
    """Which quarter of the band is loudest."""
    power = np.abs(np.fft.fft(band, axis=1)[:, : bins[1] - bins[0]]) ** 2
    quarters = np.array_split(power, 4, axis=1)
    return np.argmax([quarter.max(axis=1) for quarter in quarters], axis=0)


def closing(band, bins, seconds, noise):
    """The last sixth: 0 for nothing, 1 for a rising and 2 for a falling tone."""
    end = band[:, round(0.84 * FRAMES) :]
    is_loud = np.mean(np.abs(end) ** 2, axis=1) > 3 * noise[2]
    return np.where(is_loud, np.where(sweep(end, seconds) > 0, 1, 2), 0)


MEASURES: dict[str, Callable] = {
    "pitch": pitch, "rise": rise, "level": level, "length": length, "steady": steady, "tempo": tempo,
    "carrier": pitch, "hiss": steady, "swell": swell, "colour": colour, "clicks": clicks, "knocks": clicks,
    "repeats": repeats, "marker": marker, "closing": closing,
}  # fmt: skip
