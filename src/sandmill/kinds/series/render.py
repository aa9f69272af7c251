"""Render recordings of five sensors from latent columns: an oscillation, two coupled signals, rough noise, a jump.

Sensor 1 oscillates around a line. Sensor 2 wanders, and sensor 3 follows it with a lag. Sensor 4 is noise whose spread
changes. Sensor 5 jumps once and has short peaks. One of the sensors 2 to 5 repeats one value for some steps.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.series.channel import LEVELS, RANGES, UNIT, ZERO, SeriesChannel, Traced, Trait
from sandmill.kinds.traits import generators, shown
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

_SMOOTH = 0.5
"""Correlation of the wandering signal with itself one step before."""
_LONGEST_LAG = int(RANGES["lag"][1])
_BURST, _JUMPING_NOISE, _ROUGH = 2.5, 0.25, 0.8
"""In units: height of a peak, and standard deviations of the noise of the sensor that jumps and of the rough noise."""
_HARMONICS = ((0.0, 0.0), (0.0, 1 / 3), (-1 / 2, 1 / 3))
"""Amplitudes of the second and third harmonic: of a sine, and as in a square and a sawtooth."""
_SLOTS = 16
"""Equal stretches of a recording, of which each holds one peak at most."""

Signal = NDArray[np.float64]
"""One value a step."""


def render_series(channel: SeriesChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write a CSV file of sensor counts for each row, from the random numbers and latent values of that row alone."""
    values = {one.trait: _values(one, latents, row_numbers) for one in channel.traced}
    header, files = ",".join(channel.sensors), []
    for row, rng in enumerate(generators("series", row_numbers)):
        signals = _signals({trait: float(found[row]) for trait, found in values.items()}, channel, rng)
        files.append(_written(header, signals))
    return files


def _values(traced: Traced, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> Floats:
    """Return the value of a trait for each row: a level's number, or a number in the range of the trait."""
    levels = LEVELS.get(traced.trait)
    values = shown(f"trait {traced.trait}", traced.column, levels, latents, row_numbers)
    if levels:
        return values
    low, high = RANGES[traced.trait]
    return low + (high - low) * values


def _signals(shown: Mapping[Trait, float], channel: SeriesChannel, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the values of all sensors in thousands of counts from rest, of shape (steps, sensors)."""
    steps = channel.steps
    time = (np.arange(steps) + 0.5) / steps
    swinging = shown["trend"] * (time - 0.5) + shown["swing"] * _wave(shown, time, rng.random())
    swinging += shown["noise"] * rng.standard_normal(steps)
    leading, following = _coupled(shown, steps, rng)
    rough = _ROUGH * _rough(shown["roughness"], rng.standard_normal(steps)) * (1 + shown["growth"] * (2 * time - 1))
    jumping = shown["step"] * ((time > shown["place"]) - 0.5) + _JUMPING_NOISE * rng.standard_normal(steps)
    peaks = _peaks(round(shown["bursts"]), steps, rng)
    jumping[peaks] += _BURST * _signs(int(shown["facing"]), len(peaks))
    signals = np.stack([swinging, leading, following, rough, jumping], axis=1)
    signals[:, 1:3] += channel.hum * rng.standard_normal((steps, 2))
    dead, length = 1 + int(shown["dead"]), round(shown["gap"])
    first = int(rng.integers(1, steps - length))
    signals[first : first + length, dead] = signals[first - 1, dead]
    return np.asarray(signals)


def _wave(shown: Mapping[Trait, float], time: Signal, phase: float) -> Signal:
    """Return an oscillation of at most three harmonics, of which the first has the amplitude 1."""
    turns = 2 * np.pi * (shown["cycles"] * time + phase)
    second, third = _HARMONICS[int(shown["shape"])]
    return np.asarray(np.sin(turns) + second * np.sin(2 * turns) + third * np.sin(3 * turns))


def _coupled(shown: Mapping[Trait, float], steps: int, rng: np.random.Generator) -> tuple[Signal, Signal]:
    """Return a wandering signal, and one that follows it after a lag with a given correlation."""
    lag = round(shown["lag"])
    whole = _rough(_SMOOTH, rng.standard_normal(steps + _LONGEST_LAG))
    leading, before = whole[_LONGEST_LAG:], whole[_LONGEST_LAG - lag : _LONGEST_LAG - lag + steps]
    other = _rough(_SMOOTH, rng.standard_normal(steps))
    before = (before - before.mean()) / before.std()
    other -= other.mean()
    other -= before * (other @ before) / steps
    following = shown["coupling"] * before + np.sqrt(1 - shown["coupling"] ** 2) * other / other.std()
    return shown["wander"] * (leading - leading.mean()) / leading.std(), following


def _rough(memory: float, shocks: Signal) -> Signal:
    """Return a series of variance 1 with a correlation from one step to the next."""
    made = np.empty_like(shocks)
    made[0] = shocks[0]
    share = np.sqrt(1 - memory**2)
    for step in range(1, len(shocks)):
        made[step] = memory * made[step - 1] + share * shocks[step]
    return made


def _peaks(count: int, steps: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the steps of peaks, no two of them side by side."""
    width = steps // _SLOTS
    chosen = rng.permutation(_SLOTS)[:count]
    return np.asarray(chosen * width + rng.integers(1, width - 1, count), dtype=np.intp)


def _signs(facing: int, count: int) -> Signal:
    """Return 1 for each peak that goes up and -1 for each that goes down: all up, all down, or alternating."""
    turns = np.where(np.arange(count) % 2, -1.0, 1.0)
    return turns if facing == 2 else np.full(count, 1.0 - 2.0 * facing)


def _written(header: str, signals: NDArray[np.float64]) -> str:
    """Write counts of five digits, so that all files have one size."""
    counts = np.clip(np.rint(ZERO + UNIT * signals), 10_000, 65_535).astype(int)
    return "\n".join([header, *(",".join(map(str, row)) for row in counts.tolist()), ""])
