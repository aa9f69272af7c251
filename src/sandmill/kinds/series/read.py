"""Read recordings of sensors as tables: of general features of signals, or of what a description says of them."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once, once_a_file
from sandmill.kinds.script_text import Reader, functions_source
from sandmill.kinds.traits import cue_lines
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts

_READING = """\
public = sys.argv[1] if len(sys.argv) > 1 else "public"
train = pd.read_csv(f"{public}/train.csv", dtype={ID: str})
test = pd.DataFrame({ID: sorted(path.stem for path in Path(f"{public}/test").iterdir())})
train_signals, test_signals = read_signals(f"{public}/train", train[ID]), read_signals(f"{public}/test", test[ID])
"""
_MEASURING = """\
train, test = (
    table.join(measure_all(signals, CUES)) for table, signals in ((train, train_signals), (test, test_signals))
)
"""
_MAKING = """\
made = features(train_signals, test_signals)
train, test = train.join(made[0]), test.join(made[1])
"""


def source(facts: TaskFacts) -> list[str]:
    """Read ids, targets and features. Principal components are fitted on the training recordings alone."""
    return [*functions_source(read_signals, features), "", "", *_READING.splitlines(), *_MAKING.splitlines()]


def _measured_source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    lines = functions_source(read_signals, measure_all)
    lines += cue_lines("Column, measure, value at 0 and at 1, or the names of levels", cues)
    return [*lines, *_READING.splitlines(), *_MEASURING.splitlines()]


read, MEASURED = Reader(source).read, Reader(_measured_source)
"""Read general features, or estimate the column of each cue."""


def read_signals(folder: str, ids: pd.Series) -> np.ndarray:
    """Read thousands of counts, of shape (recordings, steps, sensors)."""
    return np.stack([read_signal(f"{folder}/{name}.csv") for name in ids])


def read_signal(path: str) -> np.ndarray:
    """Read one recording; zero is the middle of the range of the converter."""
    with Path(path).open() as file:
        next(file)
        return (np.array([line.split(",") for line in file], dtype=np.float32) - 32768) / 1000


read_signal = once_a_file(read_signal)


def features(train: np.ndarray, test: np.ndarray) -> list[pd.DataFrame]:
    """Describe each sensor and each pair of sensors; add principal components of spectra and random filters."""
    made: list[list[pd.DataFrame]] = [[pd.DataFrame(describe(signals))] for signals in (train, test)]
    for name, most, block in (("spectrum", 8, log_spectra), ("kernel", 8, random_kernels)):
        values = [block(signals) for signals in (train, test)]
        middle, spread = values[0].mean(axis=0), values[0].std(axis=0) + 1e-3
        values = [(value - middle) / spread for value in values]
        directions = np.linalg.svd(values[0], full_matrices=False)[2][:most].T
        for part, value in zip(made, values, strict=True):
            found = value @ directions
            part.append(pd.DataFrame(found, columns=[f"{name}_{number}" for number in range(found.shape[1])]))
    return [pd.concat(part, axis=1) for part in made]


def describe(signals: np.ndarray) -> dict:
    """Measure level, spread, slope, peaks and rhythm of each sensor, and the correlation of each pair."""
    time = np.linspace(-1, 1, signals.shape[1])
    centred = signals - signals.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1)
    made: dict = {}
    for k in range(signals.shape[2]):
        one = centred[:, :, k]
        made |= {f"mean_{k}": signals[:, :, k].mean(axis=1), f"sd_{k}": spread[:, k]}
        made |= {f"low_{k}": one.min(axis=1), f"high_{k}": one.max(axis=1), f"slope_{k}": (one * time).mean(axis=1)}
        made[f"smooth_{k}"] = (one[:, 1:] * one[:, :-1]).mean(axis=1) / spread[:, k] ** 2
        moves = np.abs(np.diff(one, axis=1))
        made |= {f"moves_{k}": moves.mean(axis=1), f"still_{k}": (moves < 1e-4).sum(axis=1)}
        made |= {f"far_{k}": (moves > 3 * np.median(moves, axis=1, keepdims=True)).sum(axis=1)}
        waves = np.abs(np.fft.rfft(one - (one * time).mean(axis=1, keepdims=True) * 3 * time, axis=1))[:, 2:]
        made |= {f"rhythm_{k}": waves.argmax(axis=1), f"rhythm_size_{k}": waves.max(axis=1)}
        halves = np.split(signals[:, :, k], 2, axis=1)
        made[f"later_{k}"] = halves[1].mean(axis=1) - halves[0].mean(axis=1)
        made[f"wider_{k}"] = np.log((halves[1].std(axis=1) + 0.01) / (halves[0].std(axis=1) + 0.01))
        for other in range(k):
            spectrum = np.fft.rfft(one, axis=1) * np.conj(np.fft.rfft(centred[:, :, other], axis=1))
            made[f"like_{other}_{k}"] = np.abs(np.fft.irfft(spectrum, axis=1)).max(axis=1) / (
                len(time) * spread[:, k] * spread[:, other]
            )
            made[f"pair_{other}_{k}"] = (one * centred[:, :, other]).mean(axis=1) / (spread[:, k] * spread[:, other])
    return made


def log_spectra(signals: np.ndarray) -> np.ndarray:
    """Return the power of twelve bands of frequencies of each sensor, on a logarithmic scale."""
    power = np.abs(np.fft.rfft(signals - signals.mean(axis=1, keepdims=True), axis=1)[:, 1:]) ** 2
    edges = np.unique(np.geomspace(1, power.shape[1], 13).astype(int) - 1)
    return np.log(np.add.reduceat(power, edges[:-1], axis=1) + 1e-6).reshape(len(signals), -1)


def random_kernels(signals: np.ndarray) -> np.ndarray:
    """Return the largest answer of random kernels of nine steps, and how often it is positive."""
    rng = np.random.default_rng(0)
    scaled = (signals - signals.mean(axis=1, keepdims=True)) / (signals.std(axis=1, keepdims=True) + 1e-6)
    pooled = []
    for number in range(60):
        kernel, gap, sensor = rng.normal(size=9), 2 ** (number % 3), number % signals.shape[2]
        kernel -= kernel.mean()
        length = signals.shape[1] - 8 * gap
        answers = sum(kernel[k] * scaled[:, k * gap : k * gap + length, sensor] for k in range(9))
        pooled += [answers.max(axis=1), (answers > rng.normal()).mean(axis=1)]
    return np.stack(pooled, axis=1)


random_kernels = once(random_kernels)


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
