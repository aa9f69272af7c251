"""Render crystals as files of lattice vectors and atoms: two layers of metals, each with two bound anions."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sandmill.kinds.crystal.channel import CrystalPart, GeometryChannel
from sandmill.kinds.traits import generators
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

METALS = 8
"""Metals of a cell: two layers of two by two."""
_RANGES: Mapping[CrystalPart, tuple[float, float]] = MappingProxyType({
    "length_a": (7.5, 15.0), "length_b": (7.5, 15.0), "length_c": (9.0, 18.0), "alpha": (70.0, 110.0),
    "beta": (70.0, 110.0), "gamma": (70.0, 110.0), "share": (0.0, 1.0), "bond": (1.5, 2.5), "spread": (0.0, 0.4),
    "disorder": (0.0, 0.7), "tilt": (0.0, 80.0), "bend": (0.0, 90.0), "vacancies": (0.0, 0.6), "gap": (0.2, 0.5),
    "shear": (0.0, 0.25),
})  # fmt: skip
"""Values that can be rendered; others are cut off. A part without a column is spread evenly over its range."""
_TILT_SPREAD = 5.0
"""Standard deviation of the tilt of one metal's bonds around that of the cell, in degrees."""


@dataclass(frozen=True)
class _Cell:
    """What one file shows."""

    parts: Mapping[CrystalPart, float]
    draws: NDArray[np.float64]
    """Even random numbers of the row, taken in turn."""


def render_geometry(channel: GeometryChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write one file of atoms for each row. Row i depends on its own numbers and latent values alone."""
    shown = {one.part: _values(channel, one.part, one.column, latents, row_numbers) for one in channel.laid}
    files = []
    for row, rng in enumerate(generators("atoms", row_numbers)):
        cell = _Cell({part: float(values[row]) for part, values in shown.items()}, rng.random(200))
        files.append(_file(channel, cell))
    return files


def _values(
    channel: GeometryChannel,
    part: CrystalPart,
    column: str | None,
    latents: Mapping[str, Floats],
    row_numbers: RowNumbers,
) -> Floats:
    values, levels = latents.get(column or ""), {"foreign": channel.foreigns, "ligand": channel.ligands}.get(part)
    chance = row_numbers.uniforms(f"part {part}")
    if levels is not None:
        return np.floor(chance * len(levels)) if values is None else values % len(levels)
    low, high = _RANGES[part]
    return low + (high - low) * chance if values is None else np.clip(values, low, high)


def _file(channel: GeometryChannel, cell: _Cell) -> str:
    lattice, parts = lattice_of(cell.parts), cell.parts
    evens, normals = cell.draws[:80], ndtri(cell.draws[80:])
    metals = _grid(parts, evens[:3]) @ lattice + parts["disorder"] / np.sqrt(3) * normals[:24].reshape(METALS, 3)
    first, second = _bonds(parts, evens[3 : 3 + 2 * METALS], normals[24 : 24 + 3 * METALS])
    anions = np.concatenate([metals + first, metals + second])
    chances = evens[20 : 20 + 2 * METALS]
    is_there = chances >= parts["vacancies"]
    is_there[np.argmax(chances)] = True
    names = _metal_names(channel, parts, evens[40:52])
    anion_names = np.full(2 * METALS, channel.anion, dtype=object)
    anion_names[np.argmax(chances)] = channel.ligands[int(parts["ligand"])]
    places = np.concatenate([metals, anions[is_there]])
    places = places + channel.blur * normals[48 : 48 + 3 * len(places)].reshape(-1, 3)
    inside = (places @ np.linalg.inv(lattice)) % 1 @ lattice
    symbols = [*names, *anion_names[is_there]]
    order = np.argsort(evens[52 : 52 + len(symbols)], kind="stable")
    return _written(lattice, [(symbols[place], inside[place]) for place in order])


def lattice_of(parts: Mapping[CrystalPart, float]) -> NDArray[np.float64]:
    """Return the three lattice vectors as rows: the first along x, the second in the plane of x and y."""
    alpha, beta, gamma = (np.deg2rad(parts[name]) for name in ("alpha", "beta", "gamma"))
    along = np.cos(beta)
    beside = (np.cos(alpha) - np.cos(beta) * np.cos(gamma)) / np.sin(gamma)
    up = np.sqrt(max(1 - along**2 - beside**2, 0.05))
    return np.array(
        [
            [parts["length_a"], 0.0, 0.0],
            [parts["length_b"] * np.cos(gamma), parts["length_b"] * np.sin(gamma), 0.0],
            [parts["length_c"] * along, parts["length_c"] * beside, parts["length_c"] * up],
        ]
    )


def _grid(parts: Mapping[CrystalPart, float], origin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places as shares of the lattice vectors: two layers, the second shifted along the first vector."""
    layer, across, along = (axis.ravel() for axis in np.indices((2, 2, 2)))
    first = along / 2 + layer * parts["shear"]
    return np.stack([first, across / 2, layer * parts["gap"]], axis=1) + origin


def _bonds(
    parts: Mapping[CrystalPart, float], evens: NDArray[np.float64], normals: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the vectors from each metal to its two anions."""
    around, roll = 2 * np.pi * evens.reshape(2, METALS)
    tilts = np.deg2rad(parts["tilt"] + _TILT_SPREAD * normals[:METALS])
    half = np.deg2rad(parts["bend"]) / 2
    axis = np.stack([np.sin(tilts) * np.cos(around), np.sin(tilts) * np.sin(around), np.cos(tilts)], axis=1)
    level = np.stack([-np.sin(around), np.cos(around), 0 * around], axis=1)
    beside = np.cos(roll)[:, None] * level + np.sin(roll)[:, None] * np.cross(axis, level)
    lengths = parts["bond"] + parts["spread"] * normals[METALS:].reshape(2, METALS)
    lengths = np.maximum(lengths, 1.0)[..., None]
    return (
        lengths[0] * (np.cos(half) * axis + np.sin(half) * beside),
        lengths[1] * (-np.cos(half) * axis + np.sin(half) * beside),
    )


def _metal_names(
    channel: GeometryChannel, parts: Mapping[CrystalPart, float], evens: NDArray[np.float64]
) -> NDArray[np.object_]:
    """Name the metals: one of another element, and of the others the share rounded up or down by chance."""
    names = np.full(METALS, channel.metals[1], dtype=object)
    order = np.argsort(evens[:METALS], kind="stable")
    count = int(np.floor(parts["share"] * (METALS - 1) + evens[METALS]))
    names[order[:count]] = channel.metals[0]
    names[order[-1]] = channel.foreigns[int(parts["foreign"])]
    return names


def _written(lattice: NDArray[np.float64], atoms: list[tuple[str, NDArray[np.float64]]]) -> str:
    vectors = [f"lattice_vector {x:9.4f} {y:9.4f} {z:9.4f}" for x, y, z in lattice]
    lines = [f"atom {x:9.4f} {y:9.4f} {z:9.4f} {symbol:<2}" for symbol, (x, y, z) in atoms]
    return "\n".join(["# lattice vectors and atoms, in angstrom", *vectors, *lines, ""])
