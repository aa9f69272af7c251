"""Render recordings of five sensors from latent columns: an oscillation, two coupled signals, rough noise, a jump.

Sensor 1 oscillates around a line. Sensor 2 wanders, and sensor 3 follows it with a lag. Sensor 4 is noise whose spread
changes. Sensor 5 jumps once and has short peaks. One of the sensors 2 to 5 repeats one value for some steps.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.series.channel import TRAITS, UNIT, ZERO, SeriesChannel
from sandmill.kinds.traits import generators, trait_values
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

_SMOOTH = 0.5
"""Correlation of the wandering signal with itself one step before."""
_LONGEST_LAG = int(TRAITS["lag"].high)
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
    values = {one.trait: trait_values("trait", one, TRAITS[one.trait], latents, row_numbers) for one in channel.traced}
    files = []
    for row, rng in enumerate(generators("series", row_numbers)):
        signals = _signals({trait: float(found[row]) for trait, found in values.items()}, channel, rng)
        # Counts of five digits, so that all files have one size
        counts = np.clip(np.rint(ZERO + UNIT * signals), 10_000, 65_535).astype(int)
        files.append(
            "\n".join([",".join(channel.sensors), *(",".join(map(str, step)) for step in counts.tolist()), ""])
        )
    return files


def _signals(shown: Mapping[str, float], channel: SeriesChannel, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the values of all sensors in thousands of counts from rest, of shape (steps, sensors)."""
    steps = channel.steps
    time = (np.arange(steps) + 0.5) / steps
    turns, (second, third) = 2 * np.pi * (shown["cycles"] * time + rng.random()), _HARMONICS[int(shown["shape"])]
    wave = np.sin(turns) + second * np.sin(2 * turns) + third * np.sin(3 * turns)
    swinging = shown["trend"] * (time - 0.5) + shown["swing"] * wave
    swinging += shown["noise"] * rng.standard_normal(steps)
    leading, following = _coupled(shown, steps, rng)
    rough = _ROUGH * _rough(shown["roughness"], rng.standard_normal(steps)) * (1 + shown["growth"] * (2 * time - 1))
    jumping = shown["step"] * ((time > shown["place"]) - 0.5) + _JUMPING_NOISE * rng.standard_normal(steps)
    count, width, facing = round(shown["bursts"]), steps // _SLOTS, int(shown["facing"])
    # No two peaks are side by side. They go up, down, or alternate.
    peaks = rng.permutation(_SLOTS)[:count] * width + rng.integers(1, width - 1, count)
    jumping[peaks] += _BURST * (np.where(np.arange(count) % 2, -1.0, 1.0) if facing == 2 else 1.0 - 2.0 * facing)
    signals = np.stack([swinging, leading, following, rough, jumping], axis=1)
    signals[:, 1:3] += channel.hum * rng.standard_normal((steps, 2))
    dead, length = 1 + int(shown["dead"]), round(shown["gap"])
    first = int(rng.integers(1, steps - length))
    signals[first : first + length, dead] = signals[first - 1, dead]
    return np.asarray(signals)


def _coupled(shown: Mapping[str, float], steps: int, rng: np.random.Generator) -> tuple[Signal, Signal]:
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
