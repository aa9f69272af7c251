"""Read recordings as tables of general features of sounds, here and in scripts."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.media import audio_files
from sandmill.models.package import TaskFacts

_READING = """\
train, test = heard(train, rate), heard(test, rate)
"""


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read all recordings: ids and targets, and features of the sounds."""
    train, test, rate = audio_files.read_recordings(folder, facts)
    return heard(train, rate), heard(test, rate)


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    functions = [inspect.getsource(function) for function in (heard, spectrogram, mel_bands)]
    body = [line for text in functions for line in ("", "", *text.splitlines())]
    return ["from scipy.fft import dct", *audio_files.source(facts)[:1], *body, *audio_files.source(facts)[1:], *_READING.splitlines()]


def heard(table: pd.DataFrame, rate: int) -> pd.DataFrame:
    """Put features in place of the sounds: bands, cepstrum, and what the spectrum does over time."""
    from scipy.fft import dct

    power = spectrogram(np.stack(list(table["sound"])))
    pitches = np.linspace(0, rate / 2, power.shape[2])
    bands = np.log(power @ mel_bands(pitches, 16).T + 1e-9)
    cepstrum = dct(bands, norm="ortho")[:, :, 1:5]
    loud = power.sum(axis=2)
    centre = (power * pitches).sum(axis=2) / loud
    flux = np.maximum(np.diff(bands, axis=1), 0).mean(axis=2)
    found = {f"band_{k}_{name}": values[:, k] for name, values in (("mean", bands.mean(axis=1)), ("spread", bands.std(axis=1))) for k in range(16)}
    found |= {f"cepstrum_{k + 1}_spread": cepstrum[:, :, k].std(axis=1) for k in range(0)}
    found |= {"loudest": np.log(loud.max(axis=1)), "centre": centre.mean(axis=1), "centre_spread": centre.std(axis=1)}
    found |= {"flux": flux.mean(axis=1), "onsets": (flux > flux.mean(axis=1, keepdims=True) + flux.std(axis=1, keepdims=True)).sum(axis=1)}
    found["growth"] = np.log(loud[:, loud.shape[1] // 2 :].sum(axis=1) / loud[:, : loud.shape[1] // 2].sum(axis=1))
    return table.drop(columns="sound").join(pd.DataFrame(found))


def spectrogram(sounds: np.ndarray, width: int = 128) -> np.ndarray:
    """Return the power of (recordings, moments, frequencies), of windows that overlap by half."""
    starts = np.arange(0, sounds.shape[1] - width + 1, width // 2)
    frames = sounds[:, starts[:, None] + np.arange(width)] * np.hanning(width)
    return np.abs(np.fft.rfft(frames, axis=2)) ** 2


def mel_bands(pitches: np.ndarray, count: int) -> np.ndarray:
    """Return the weights of triangular bands that are evenly spaced on the mel scale."""
    mels = np.linspace(0, np.log(1 + pitches[-1] / 700), count + 2)
    low, middle, high = (700 * (np.exp(mels[k : count + k]) - 1)[:, None] for k in range(3))
    rising, falling = (pitches - low) / (middle - low), (high - pitches) / (high - middle)
    return np.maximum(np.minimum(rising, falling), 0)
