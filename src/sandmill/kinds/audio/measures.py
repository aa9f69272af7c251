"""Measure in recordings what the description says of them, here and in scripts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.audio.read import reading_lines
from sandmill.kinds.memo import once_a_row
from sandmill.kinds.script_text import Reader, functions_source
from sandmill.kinds.traits import cue_lines
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts

_READING = """\
train = train.drop(columns="sound").join(measure_all(np.stack(train["sound"]), rate, CUES))
test = test.drop(columns="sound").join(measure_all(np.stack(test["sound"]), rate, CUES))
"""


def source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    """Read all recordings, and estimate the column of each cue."""
    used = dict.fromkeys(cue.measure for cue in cues)
    lines = functions_source(measure_all, *dict.fromkeys(MEASURES[name] for name in used))
    table = ", ".join(f'"{name}": {MEASURES[name].__name__}' for name in used)
    lines += ["", "", f"MEASURES = {{{table}}}"]
    lines += cue_lines("Column, measure, frequencies in Hz, then levels or the values at 0 and at 1", cues)
    return [*lines, *reading_lines(facts), *_READING.splitlines()]


def measure_all(sounds: np.ndarray, rate: int, cues: list) -> pd.DataFrame:
    """Estimate one column for each cue. Sounds: an array of (recordings, samples)."""
    parts = []
    for start in range(0, len(sounds), 50):
        some, made = {"sounds": sounds[start : start + 50].astype(np.float32), "rate": rate}, {}
        for column, measure, *numbers in cues:
            levels = [one for one in numbers if isinstance(one, str)]
            *hertz, first, last = [*numbers[: -len(levels)], 0, 1] if levels else numbers
            value = kept(some, MEASURES[measure], *hertz)[measure]
            share = np.nan_to_num((value - first) / (last - first), nan=0.5)
            # Columns are between 0 and 1, and ratios need them above 0.
            made[column] = np.array(levels)[value] if levels else np.clip(share.astype(float), 0.03, 1.2)
        parts.append(pd.DataFrame(made))
    return pd.concat(parts, ignore_index=True)


def kept(some: dict, function: Callable, *numbers: float) -> Any:
    """Return what a function makes of some recordings, and keep it there: columns share spectra and measures."""
    key = (function.__name__, numbers)
    if key not in some:
        some[key] = function(some, *numbers)
    return some[key]


def powers(some: dict, width: int, step: int) -> np.ndarray:
    """Return powers (recordings, moments, frequencies) in windows and steps of milliseconds. A tone has its power."""
    from scipy.fft import rfft

    width, step = width * some["rate"] // 1000, step * some["rate"] // 1000
    window = np.hanning(width).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(some["sounds"], width, axis=1)[:, ::step]
    spectra = rfft(windows * (window * np.float32(2**0.5) / window.sum()), axis=2, overwrite_x=True)
    return spectra.real**2 + spectra.imag**2


def decibels(power: np.ndarray) -> np.ndarray:
    """Turn powers into dB of full scale."""
    return 10 * np.log10(power + 1e-10)


def above_usual(values: np.ndarray) -> np.ndarray:
    """Return by how much each moment exceeds what is always there."""
    return np.maximum(values - np.median(values[:, ::5], axis=1)[:, None], 0)


def smooth(values: np.ndarray, width: int) -> np.ndarray:
    """Average over so many moments, an odd number."""
    edges = [(0, 0)] * values.ndim
    edges[1] = (width // 2 + 1, width // 2)
    sums = np.cumsum(np.pad(values, edges, mode="edge"), axis=1)
    return (sums[:, width:] - sums[:, :-width]) / width


def runs(is_loud: np.ndarray, least: int) -> np.ndarray:
    """Return number, median length and distance of the runs of loud moments, and the first moment."""
    found = []
    for row in np.pad(is_loud, ((0, 0), (1, 1))):
        edges = np.flatnonzero(row[1:] != row[:-1]).reshape(-1, 2)
        edges = edges[edges[:, 1] - edges[:, 0] >= least]
        apart = edges[1:, 0] - edges[:-1, 1]
        found.append([len(edges), *(middle(one) for one in (edges[:, 1] - edges[:, 0], apart, edges[:1, 0]))])
    return np.array(found).T


def middle(values: np.ndarray) -> float:
    """Return the median of a few numbers; 10 if there are none."""
    ordered = np.sort(values)
    return (ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2 if len(values) else 10


def count(is_loud: np.ndarray) -> np.ndarray:
    """Return the number of runs of loud moments."""
    return (is_loud[:, 1:] & ~is_loud[:, :-1]).sum(axis=1) + is_loud[:, 0]


def measure_call(some: dict, low: float, high: float) -> dict:
    """Follow the notes with harmonics: fundamental, octaves of the rise, seconds of notes and gaps, notes less two.

    Harmonics count for a fundamental, and what lies halfway between them counts against it.
    """
    notes = kept(some, powers, 32, 8)
    pitches, bins = np.geomspace(0.75 * low, 1.3 * high, 72), np.arange(notes.shape[2])
    weights = np.zeros((len(bins), len(pitches)), np.float32)
    for k in (1, 2, 3, 4):
        for place, sign in ((k, 1), (k + 0.5, -1)):
            weights += sign * np.maximum(1 - np.abs(bins[:, None] - place * pitches / 31.25), 0)
    found = above_usual(np.sqrt(np.sqrt(notes))) @ weights
    best, track = smooth(found.max(axis=2), 3), np.log2(pitches)[found.argmax(axis=2)]
    is_loud = best > 0.56 * np.sort(best, axis=1)[:, -12, None]
    number, length, gap, first = runs(is_loud, 4)
    steps = track[:, 3:] - track[:, :-3]
    is_inside = is_loud[:, 3:] & is_loud[:, :-3] & (np.abs(steps) < 0.4)
    slope = (steps * is_inside).sum(axis=1) / np.maximum(is_inside.sum(axis=1), 1) / 0.024
    pitch = 2 ** np.array([middle(one[loud]) for one, loud in zip(track, is_loud, strict=True)])
    length, gap, number = 0.008 * length + 0.015, 0.008 * gap - 0.015, np.clip(number, 2, 4).astype(int) - 2
    return {"pitch": pitch, "rise": slope * length, "length": length, "gap": gap, "repeats": number, "start": first}


def measure_trill(some: dict, low: float, high: float) -> dict:
    """Find the quick pulses: pulses a second, and seconds of one of two runs and between the runs."""
    from scipy.fft import rfft

    loud = np.sqrt(kept(some, powers, 8, 4)[:, :, int(0.85 * low / 125) : int(1.15 * high / 125) + 2])
    loud -= smooth(loud, 25)
    rates, rows = np.fft.rfftfreq(2048, 0.004)[123:344], np.arange(len(loud))
    beats = np.abs(rfft(loud, 2048, axis=1)[:, 123:344])
    # Single notes have most power at few beats a second, so these count less in the choice of the tone.
    tone = (beats * rates[:, None]).max(axis=1).argmax(axis=1)
    tempo = rates[beats[rows, :, tone].argmax(axis=1)]
    turns = np.exp(-2j * np.pi * tempo[:, None] * 0.004 * np.arange(loud.shape[1]))
    strength = np.abs(smooth(smooth(loud[rows, :, tone] * turns, 17), 9))
    is_loud = strength > 0.5 * np.sort(strength, axis=1)[:, -16, None]
    _, _, apart, first = runs(is_loud, 12)
    return {"tempo": tempo, "bout": 0.002 * is_loud.sum(axis=1), "pause": 0.004 * apart, "start": first}


def measure_order(some: dict, low: float, high: float, least: float, most: float) -> dict:
    """Which begins first: 0 for the notes with harmonics, 1 for the pulses, 2 for both together."""
    call = kept(some, measure_call, low, high)["start"]
    apart = 0.004 * kept(some, measure_trill, least, most)["start"] - 0.008 * call
    return {"order": np.where(apart > 0.13, 0, np.where(apart < -0.13, 1, 2))}


def measure_hum(some: dict, *hertz: float) -> dict:
    """Which fundamental the steady hum has, and its loudness in dB: powers of the harmonics."""
    usual, contrast, loud = np.median(kept(some, powers, 256, 64)[:, :, :360], axis=1), [], []
    for base in hertz:
        pitches = base * np.linspace(0.98, 1.02, 9)[:, None] * np.arange(1, 9)
        at = usual[:, np.rint(pitches / 3.90625).astype(int)]
        off = usual[:, np.rint((pitches + base / 2) / 3.90625).astype(int)]
        contrast.append((decibels(at) - decibels(off)).mean(axis=2).max(axis=1))
        loud.append(decibels(at.sum(axis=2).max(axis=1)))
    which = np.argmax(contrast, axis=0)
    return {"marker": which, "steady": np.array(loud)[which, np.arange(len(which))]}


def measure_wind(some: dict) -> dict:
    """Loudness of the low noise in dB, between the lines of tones, and its change to the end relative to the mean."""
    power = np.partition(kept(some, powers, 256, 64)[:, :, 20:154], 40, axis=2)[:, :, 40]
    loud, way = np.sqrt(power) + 1e-9, np.linspace(-1, 1, power.shape[1])
    swell = (loud * way).mean(axis=1) / loud.mean(axis=1) / (way**2).mean()
    return {"hiss": decibels(power.mean(axis=1)) + 25, "swell": swell}


def measure_rain(some: dict) -> dict:
    """Loudness of the high noise in dB, between the lines of tones."""
    power = np.median(kept(some, powers, 256, 64)[:, :, 640:1000:4], axis=2)
    return {"rain": decibels(np.quantile(power, 0.25, axis=1)) + 26}


def measure_clicks(some: dict) -> dict:
    """Number of moments that are louder than those shortly before and after at nearly all high frequencies at once."""
    power = kept(some, powers, 8, 4)[:, :, 9:30] + 1e-10
    is_above = power[:, 5:-5] > 4 * np.maximum(power[:, :-10], power[:, 10:])
    return {"clicks": count(is_above.sum(axis=2) > 12)}


def measure_knocks(some: dict, low: float, high: float) -> dict:
    """Number of blows: moments much louder at low frequencies than those around them."""
    levels = decibels(kept(some, powers, 32, 8)[:, :, int(low / 31.25) : int(high / 31.25) + 2].sum(axis=2))
    return {"knocks": count(smooth(levels, 3) - smooth(levels, 61) > 6)}


def measure_whistle(some: dict, low: float, high: float) -> dict:
    """The long glide: 0 for none, 1 for upwards and 2 for downwards. All four quarters of it have to be there."""
    course, scores = np.rint(np.geomspace(low, high, 40) / 31.25).astype(int), []
    levels = above_usual(decibels(kept(some, powers, 32, 8)[:, :, : course[-1] + 4]))
    for places in (course, course[::-1]):
        for shift in (-3, -2, -1, 0, 1, 2, 3):
            steps = [levels[:, k : levels.shape[1] - 40 + k, at + shift] for k, at in enumerate(places)]
            scores.append(np.min([np.mean(steps[k : k + 10], axis=0) for k in (0, 10, 20, 30)], axis=0).max(axis=1))
    up, down = np.max(scores[:7], axis=0), np.max(scores[7:], axis=0)
    return {"closing": np.where(np.maximum(up, down) < 11.5, 0, np.where(up > down, 1, 2))}


MEASURES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("pitch", "rise", "length", "gap", "repeats"), measure_call),
    **dict.fromkeys(("tempo", "bout", "pause"), measure_trill),
    **dict.fromkeys(("marker", "steady"), measure_hum),
    **dict.fromkeys(("hiss", "swell"), measure_wind),
    "rain": measure_rain,
    "clicks": measure_clicks,
    "knocks": measure_knocks,
    "closing": measure_whistle,
    "order": measure_order,
}
measure_all = once_a_row(measure_all)
read = Reader(source).read
