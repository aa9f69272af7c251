"""Measure in recordings of sensors what a description says of them, here and in scripts."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once
from sandmill.kinds.script_text import functions_source
from sandmill.kinds.series.read import READING, read_files, read_signals
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts

_MAKING = """\
train, test = (
    table.join(measure_all(signals, CUES)) for table, signals in ((train, train_signals), (test, test_signals))
)
"""


def read(folder: Path, facts: TaskFacts, cues: Sequence[Cue]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read all recordings, and estimate the column of each cue."""
    train, test, train_signals, test_signals = read_files(folder, facts.id_column)
    listed = [(cue.column, cue.measure, *cue.parameters) for cue in cues]
    return train.join(measure_all(train_signals, listed)), test.join(measure_all(test_signals, listed))


def source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    """Return source lines that do the same in a script; the script defines ID and TARGET before them."""
    lines = functions_source(read_signals, measure_all)
    lines += ["", "", "# Column, measure, value at 0 and at 1, or the names of levels", "CUES = ["]
    lines += [f"    {(cue.column, cue.measure, *cue.parameters)!r}," for cue in cues]
    return [*lines, "]", *READING.splitlines(), *_MAKING.splitlines()]


def measure_all(signals: np.ndarray, cues: list) -> pd.DataFrame:
    """Estimate one column for each cue from signals of shape (recordings, steps, sensors)."""
    swinging, leading, following, rough, jumping = np.moveaxis(signals, 2, 0)
    measured = oscillation(swinging) | follow(leading, following) | roughness(rough) | jump_and_peaks(jumping)
    measured |= repeats(signals)
    made = {}
    for column, measure, *known in cues:
        value = measured[measure]
        is_named = isinstance(known[0], str)
        made[column] = np.array(known)[value] if is_named else (value - known[0]) / (known[1] - known[0])
    return pd.DataFrame(made)


def oscillation(signal: np.ndarray) -> dict:
    """Fit a line and three harmonics, and measure the noise above them."""
    steps = signal.shape[1]
    time, best, found = (np.arange(steps) + 0.5) / steps, np.full(len(signal), np.inf), np.zeros((5, len(signal)))
    for cycles in np.arange(4.8, 12.3, 0.1):
        turns = 2 * np.pi * cycles * time[:, None] * [1, 2, 3]
        design = np.hstack([np.ones((steps, 1)), time[:, None], np.cos(turns), np.sin(turns)])
        fitted = np.linalg.lstsq(design, signal.T, rcond=None)[0]
        sizes = np.hypot(fitted[2:5], fitted[5:8])
        left = ((signal.T - design @ fitted) ** 2).sum(axis=0) + 1e3 * (sizes[0] < sizes[1])
        found = np.where(left < best, np.vstack([fitted[1], np.full(len(best), cycles), sizes]), found)
        best = np.minimum(left, best)
    trend, cycles, swing, second, third = found
    level = (signal - trend[:, None] * time) * np.hanning(steps)
    power = np.abs(np.fft.rfft(level, axis=1)) ** 2 / (np.hanning(steps) ** 2).sum()
    return {
        "trend": trend,
        "cycles": cycles,
        "swing": swing,
        "shape": np.where(second > 0.25 * swing, 2, np.where(third > 0.17 * swing, 1, 0)),
        "noise": np.sqrt(power[:, 5 * steps // 16 :].mean(axis=1)),
    }


def follow(leading: np.ndarray, following: np.ndarray) -> dict:
    """Find the lag at which one sensor follows another most closely."""
    found = []
    for lag in range(19):
        a, b = leading[:, : leading.shape[1] - lag], following[:, lag:]
        a, b = (one - one.mean(axis=1, keepdims=True) for one in (a, b))
        found.append((a * b).mean(axis=1) / (a.std(axis=1) * b.std(axis=1)))
    return {"lag": np.argmax(found, axis=0), "coupling": np.max(found, axis=0), "wander": leading.std(axis=1)}


def roughness(signal: np.ndarray) -> dict:
    """Measure the correlation of noise with the previous step, and the growth of its standard deviation."""
    centred = signal - signal.mean(axis=1, keepdims=True)
    away, time = np.abs(centred), np.linspace(-1, 1, signal.shape[1])
    return {
        "roughness": (centred[:, 1:] * centred[:, :-1]).mean(axis=1) / signal.var(axis=1),
        "growth": 3 * (away * time).mean(axis=1) / away.mean(axis=1),
    }


def jump_and_peaks(signal: np.ndarray) -> dict:
    """Find short peaks, and size and place of the jump of what is left without them."""
    beside = np.stack([np.roll(signal, shift, axis=1) for shift in (-3, -2, 2, 3)])
    peaks = (signal - np.median(beside, axis=0))[:, 3:-3]
    up, down = (peaks > 1.6).sum(axis=1), (peaks < -1.6).sum(axis=1)
    share = up / np.maximum(up + down, 1)
    level = np.median([np.roll(signal, shift, axis=1) for shift in (-2, -1, 0, 1, 2)], axis=0)[:, 2:-2]
    steps = level.shape[1]
    sums, before = level.cumsum(axis=1), np.arange(1, steps)
    jump = (sums[:, -1:] - sums[:, :-1]) / (steps - before) - sums[:, :-1] / before
    place = (jump**2 * before * (steps - before))[:, steps // 8 : -steps // 8].argmax(axis=1) + steps // 8
    return {
        "bursts": up + down,
        "facing": np.where(share > 0.75, 0, np.where(share < 0.25, 1, 2)),
        "step": jump[np.arange(len(jump)), place],
        "place": (place + 3) / (steps + 4),
    }


def repeats(signals: np.ndarray) -> dict:
    """Find the sensor with the longest run of equal values, and the length of that run."""
    longest = run = np.zeros((len(signals), signals.shape[2]))
    for now in range(1, signals.shape[1]):
        run = np.where(signals[:, now] == signals[:, now - 1], run + 1, 0)
        longest = np.maximum(longest, run)
    return {"gap": longest.max(axis=1), "dead": longest[:, 1:].argmax(axis=1)}


oscillation = once(oscillation)
