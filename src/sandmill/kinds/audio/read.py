"""Read recordings as tables of general features of sounds, here and in scripts."""

from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.audio import files as audio_files
from sandmill.kinds.memo import once
from sandmill.kinds.source import functions_source
from sandmill.models.package import TaskFacts

_READING = """\
train, test = features(train, rate), features(test, rate)
"""


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read all recordings: ids and targets, and features of the sounds."""
    train, test, rate = audio_files.read_recordings(folder, facts)
    return features(train, rate), features(test, rate)


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    return [*functions_source(features), *audio_files.source(facts), *_READING.splitlines()]


def features(table: pd.DataFrame, rate: int) -> pd.DataFrame:
    """Put features in place of the sounds: bands, cepstrum, and how the spectrum moves."""
    from scipy.fft import dct

    power = spectrogram(np.stack(list(table["sound"])))
    pitches = np.linspace(0, rate / 2, power.shape[2])
    bands = np.log(power @ mel_bands(pitches, 16).T + 1e-9)
    cepstrum = dct(bands, norm="ortho")[:, :, 1:4].std(axis=1)
    found = {f"band_{k}": bands[:, :, k].mean(axis=1) for k in range(16)}
    found |= {f"band_{k}_spread": bands[:, :, k].std(axis=1) for k in range(16)}
    found |= {f"cepstrum_{k}_spread": cepstrum[:, k] for k in range(3)}
    loud = power.sum(axis=2)
    centre = (power * pitches).sum(axis=2) / loud
    found |= {"centre": centre.mean(axis=1), "centre_spread": centre.std(axis=1)}
    flux = np.maximum(np.diff(bands, axis=1), 0).mean(axis=2)
    limit = flux.mean(axis=1, keepdims=True) + flux.std(axis=1, keepdims=True)
    found |= {"flux": flux.mean(axis=1), "onsets": (flux > limit).sum(axis=1)}
    half = loud.shape[1] // 2
    found["growth"] = np.log(loud[:, half:].sum(axis=1) / loud[:, :half].sum(axis=1))
    return table.drop(columns="sound").join(pd.DataFrame(found))


def spectrogram(sounds: np.ndarray, width: int = 128) -> np.ndarray:
    """Return powers (recordings, moments, frequencies) of windows that overlap by half."""
    starts = np.arange(0, sounds.shape[1] - width + 1, width // 2)
    frames = sounds[:, starts[:, None] + np.arange(width)] * np.hanning(width)
    powers: np.ndarray = np.abs(np.fft.rfft(frames, axis=2)) ** 2
    return powers


def mel_bands(pitches: np.ndarray, count: int) -> np.ndarray:
    """Return the weights of triangular bands that are evenly spaced on the mel scale."""
    edges = np.linspace(0, np.log(1 + pitches[-1] / 700), count + 2)
    low, middle, high = (700 * np.expm1(edges[k : count + k])[:, None] for k in range(3))
    rising, falling = (pitches - low) / (middle - low), (high - pitches) / (high - middle)
    return np.maximum(np.minimum(rising, falling), 0)


spectrogram = once(spectrogram)
