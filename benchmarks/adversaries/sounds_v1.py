"""`sounds_v1`: no text. Log-mel bands and how they change, modulations, onsets, events and tracks of pitch."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.fft import dct
from scipy.signal import find_peaks, stft

from benchmarks.adversaries.heads import answer, beside, stacked, usual_models
from sandmill.kinds.audio.read import reading_lines
from sandmill.kinds.script_text import Reader
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

BANDS, WIDE = 24, 6
"""Narrow bands, and wide bands in which events are counted."""


def sounds_v1(public: Path, facts: TaskFacts) -> Array:
    """Predict from the recordings, and from columns beside them."""
    names = Reader(reading_lines).run(public, facts)
    train, test, rate = names["train"], names["test"], names["rate"]
    both = np.concatenate([np.stack(list(part["sound"])) for part in (train, test)]).astype(np.float32)
    made, spectra = measured(both, rate)
    known = len(train)
    tables = [part.drop(columns="sound") for part in (train, test)]
    others = beside(tables, facts)
    short, long = made[:, : 4 * BANDS], made
    models = usual_models()
    blocks = [(stacked(others, (part[:known], part[known:])), models) for part in (long, short)]
    pooled = (spectra[:known], spectra[known:])
    return answer(tables, facts, [*blocks, (stacked(others, pooled), models[:3])])


def measured(sounds: Any, rate: int) -> tuple[Any, Any]:
    """Return features of sounds, those of narrow bands first, and log-mel spectrograms pooled to a small picture."""
    found = [_of_one(sounds[start : start + 100], rate) for start in range(0, len(sounds), 100)]
    features, small = zip(*found, strict=True)
    return np.vstack(features), np.vstack(small)


def _of_one(sounds: Any, rate: int) -> tuple[Any, Any]:
    pitches, _, frames = stft(sounds, rate, nperseg=256, noverlap=192, boundary=None, padded=False)
    power = np.abs(frames) ** 2
    level = np.log(mel(pitches, BANDS) @ power + 1e-10)
    level = level - np.median(level, axis=(1, 2), keepdims=True)
    cuts = np.quantile(level, (0.1, 0.5, 0.95), axis=2)
    change = np.diff(level, axis=2)
    made = [level.mean(axis=2), level.std(axis=2), cuts[2], cuts[2] - cuts[1], cuts[0], change.std(axis=2)]
    made += [np.maximum(change, 0).mean(axis=2), level.argmax(axis=2) / level.shape[2]]
    cepstrum = dct(level, axis=1, norm="ortho")[:, 1:13]
    made += [cepstrum.mean(axis=2), cepstrum.std(axis=2), np.diff(cepstrum, axis=2).std(axis=2)]
    wide = level.reshape(len(level), WIDE, BANDS // WIDE, -1).max(axis=2)
    made += [*_modulations(wide), _events(wide)]
    loud = power.sum(axis=1) + 1e-12
    centre = (pitches[:, None] * power).sum(axis=1) / loud
    width = np.sqrt((pitches[:, None] ** 2 * power).sum(axis=1) / loud - centre**2 + 1e-9)
    track = pitches[power.argmax(axis=1)]
    times = np.linspace(-1, 1, loud.shape[1])
    for line in (centre, width, track, np.log(loud)):
        slope = (line - line.mean(axis=1, keepdims=True)) @ times / (times @ times)
        made.append(np.column_stack([line.mean(axis=1), line.std(axis=1), slope, np.abs(np.diff(line)).mean(axis=1)]))
    crossings = (np.diff(np.signbit(sounds), axis=1)).mean(axis=1)
    made.append(np.column_stack([crossings, np.abs(sounds).max(axis=1), (sounds**2).mean(axis=1) ** 0.5]))
    places = np.arange(12) * level.shape[2] // 12
    small = np.add.reduceat(level, places, axis=2) / np.diff([*places, level.shape[2]])
    return np.hstack(made), small.reshape(len(small), -1)


def mel(pitches: Any, count: int) -> Any:
    """Return triangles evenly spaced on the mel scale."""
    edges = 700 * np.expm1(np.linspace(np.log1p(30 / 700), np.log1p(pitches[-1] / 700), count + 2))
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    weights = np.maximum(np.minimum((pitches - low) / (middle - low), (high - pitches) / (high - middle)), 0)
    weights[np.arange(count), np.abs(pitches - middle).argmin(axis=1)] += 1e-3
    return weights


def _modulations(wide: Any) -> list[Any]:
    """Energy of slow and fast changes of each wide band, and the strongest rate."""
    moving = np.exp(wide - wide.max(axis=2, keepdims=True))
    moving -= moving.mean(axis=2, keepdims=True)
    power = np.abs(np.fft.rfft(moving * np.hanning(moving.shape[2]), axis=2)) ** 2
    ends = np.unique(np.geomspace(1, power.shape[2], 7).astype(int))
    parts = [power[:, :, low:high].mean(axis=2) for low, high in pairwise(ends)]
    return [np.log(part + 1e-9) for part in parts] + [power[:, :, 1:].argmax(axis=2) / power.shape[2]]


def _events(wide: Any) -> Any:
    """Count events of each wide band, with their length, distance and regularity."""
    rows = []
    for item in wide:
        row = []
        for line in item:
            smooth = np.convolve(line, np.ones(3) / 3, "same")
            quiet, strong = np.quantile(smooth, (0.3, 0.98))
            above = smooth > (quiet + strong) / 2
            begins = np.flatnonzero(above[1:] & ~above[:-1])
            peaks = find_peaks(smooth, prominence=max((strong - quiet) / 3, 0.3))[0]
            apart = np.diff(peaks) if len(peaks) > 2 else np.array([0.0])
            row += [len(begins), above.sum() / max(len(begins), 1), len(peaks), apart.mean(), apart.std()]
            row += [strong - quiet, begins.mean() / len(line) if len(begins) else 0.5]
        rows.append(row)
    return np.array(rows, dtype=float)
