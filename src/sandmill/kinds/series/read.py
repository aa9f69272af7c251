"""Read recordings of sensors as tables of general features of signals, here and in scripts."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once, once_a_file
from sandmill.kinds.script_text import functions_source
from sandmill.models.package import TaskFacts

READING = """\
public = sys.argv[1] if len(sys.argv) > 1 else "public"
train = pd.read_csv(f"{public}/train.csv", dtype={ID: str})
test = pd.DataFrame({ID: sorted(path.stem for path in Path(f"{public}/test").iterdir())})
train_signals, test_signals = read_signals(f"{public}/train", train[ID]), read_signals(f"{public}/test", test[ID])
"""
"""How scripts read all files."""
_MAKING = """\
made = features(train_signals, test_signals)
train, test = train.join(made[0]), test.join(made[1])
"""


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read ids, targets and features. Principal components are fitted on the training recordings alone."""
    train, test, train_signals, test_signals = read_files(folder, facts.id_column)
    made = features(train_signals, test_signals)
    return train.join(made[0]), test.join(made[1])


def source(facts: TaskFacts) -> list[str]:
    """Return source lines that do the same in a script; the script defines ID and TARGET before them."""
    return [*functions_source(read_signals, features), "", "", *READING.splitlines(), *_MAKING.splitlines()]


def read_files(folder: Path, name: str) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray, np.ndarray]:
    """Read ids and targets of both parts, and their signals."""
    train = pd.read_csv(folder / "train.csv", dtype={name: str})
    test = pd.DataFrame({name: sorted(path.stem for path in (folder / "test").iterdir())})
    return train, test, read_signals(f"{folder}/train", train[name]), read_signals(f"{folder}/test", test[name])


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
