"""Render crystals as files of lattice vectors and atoms: two layers of metals, each with two bound anions."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sandmill.kinds.crystal.channel import TRAITS, GeometryChannel
from sandmill.kinds.traits import generators
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

Parts = Mapping[str, float]
"""How much a cell shows of each part."""
METALS = 8
"""Metals of a cell: two layers of two by two."""
_TILT_SPREAD = 5.0
"""Standard deviation of the tilt of one metal's bonds around that of the cell, in degrees."""


def render_geometry(channel: GeometryChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write one file of atoms for each row. Row i depends on its own numbers and latent values alone."""
    shown = {one.part: _values(channel, one.part, latents.get(one.column or ""), row_numbers) for one in channel.laid}
    return [
        _file(channel, {part: float(values[row]) for part, values in shown.items()}, rng.random(200))
        for row, rng in enumerate(generators("atoms", row_numbers))
    ]


def _values(channel: GeometryChannel, part: str, values: Floats | None, row_numbers: RowNumbers) -> Floats:
    """Return what each cell shows of a part. Without a column, it is spread evenly over its range or its levels."""
    levels = {"foreign": channel.foreigns, "ligand": channel.ligands}.get(part)
    chance = row_numbers.uniforms(f"part {part}")
    if levels is not None:
        return np.floor(chance * len(levels)) if values is None else values % len(levels)
    low, high = TRAITS[part].low, TRAITS[part].high
    return low + (high - low) * chance if values is None else np.clip(values, low, high)


def _file(channel: GeometryChannel, parts: Parts, draws: NDArray[np.float64]) -> str:
    """Write a cell. Its even random numbers are taken in turn."""
    lattice = lattice_of(parts)
    evens, normals = draws[:80], ndtri(draws[80:])
    layer, across, along = (axis.ravel() for axis in np.indices((2, 2, 2)))
    # Shares of the lattice vectors: two layers, the second shifted along the first vector
    grid = np.stack([along / 2 + layer * parts["shear"], across / 2, layer * parts["gap"]], axis=1) + evens[:3]
    metals = grid @ lattice + parts["disorder"] / np.sqrt(3) * normals[:24].reshape(METALS, 3)
    first, second = _bonds(parts, evens[3 : 3 + 2 * METALS], normals[24 : 24 + 3 * METALS])
    anions = np.concatenate([metals + first, metals + second])
    chances = evens[20 : 20 + 2 * METALS]
    is_there = chances >= parts["vacancies"]
    is_there[np.argmax(chances)] = True
    # One metal is of another element. Of the others, the first metal has its share, rounded up or down by chance.
    names = np.full(METALS, channel.metals[1], dtype=object)
    order = np.argsort(evens[40 : 40 + METALS], kind="stable")
    names[order[: int(np.floor(parts["share"] * (METALS - 1) + evens[40 + METALS]))]] = channel.metals[0]
    names[order[-1]] = channel.foreigns[int(parts["foreign"])]
    anion_names = np.full(2 * METALS, channel.anion, dtype=object)
    anion_names[np.argmax(chances)] = channel.ligands[int(parts["ligand"])]
    places = np.concatenate([metals, anions[is_there]])
    places = places + channel.blur * normals[48 : 48 + 3 * len(places)].reshape(-1, 3)
    inside = (places @ np.linalg.inv(lattice)) % 1 @ lattice
    symbols = [*names, *anion_names[is_there]]
    vectors = [f"lattice_vector {x:9.4f} {y:9.4f} {z:9.4f}" for x, y, z in lattice]
    atoms = [f"atom {x:9.4f} {y:9.4f} {z:9.4f} {symbol:<2}" for symbol, (x, y, z) in zip(symbols, inside, strict=True)]
    shuffled = [atoms[place] for place in np.argsort(evens[52 : 52 + len(symbols)], kind="stable")]
    return "\n".join(["# lattice vectors and atoms, in angstrom", *vectors, *shuffled, ""])


def lattice_of(parts: Parts) -> NDArray[np.float64]:
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


def _bonds(
    parts: Parts, evens: NDArray[np.float64], normals: NDArray[np.float64]
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
