"""Read tables with a file of atoms for each row: cells, and what any crystal or a description lets one measure."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once_a_file
from sandmill.kinds.script_text import Reader, functions_source
from sandmill.kinds.table import read as tables_reader
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts

_READING = """\
symbols = common_symbols(f"{public}/train", train[ID])
train = train.join(describe_crystals(f"{public}/train", train[ID], symbols))
test = test.join(describe_crystals(f"{public}/test", test[ID], symbols))
"""
_MEASURING = """\
train = train.join(measure_crystals(f"{public}/train", train[ID], WANTED))
test = test.join(measure_crystals(f"{public}/test", test[ID], WANTED))
"""
Wanted = dict[str, tuple[str, list[str]]]
"""Name of a measure and the elements that it needs, by column."""


def source(facts: TaskFacts) -> list[str]:
    """Read both tables with measures of each crystal beside the cells."""
    later = [*functions_source(common_symbols, describe_crystals), "", "", *_READING.splitlines()]
    return ["from collections import Counter", "from pathlib import Path", "", *tables_reader.source(facts), *later]


def _measured_source(facts: TaskFacts, cues: tuple[Cue, ...]) -> list[str]:
    made = [f"    {cue.column!r}: {(cue.measure, [str(part) for part in cue.parameters])!r}," for cue in cues]
    wanted = ["", "", "# Measure and elements of each column", "WANTED = {", *made, "}", ""]
    lines = [*tables_reader.source(facts), *functions_source(measure_crystals), *wanted]
    return ["from pathlib import Path", "", *lines, *_MEASURING.splitlines()]


read, MEASURED = Reader(source).read, Reader(_measured_source)
"""Read general measures, or estimate each column that the description explains, beside the cells."""


def read_atoms(path: str) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Read lattice vectors, the symbol of each atom, and its place."""
    vectors, symbols, places = [], [], []
    with Path(path).open() as file:
        for line in file:
            parts = line.split()
            if parts[0] == "lattice_vector":
                vectors.append([float(part) for part in parts[1:4]])
            elif parts[0] == "atom":
                places.append([float(part) for part in parts[1:4]])
                symbols.append(parts[4])
    return np.array(vectors), symbols, np.array(places)


def common_symbols(folder: str, ids: pd.Series) -> list[str]:
    """List the elements of the training crystals, the most frequent first."""
    counts = Counter(symbol for name in ids for symbol in read_atoms(f"{folder}/{name}/geometry.xyz")[1])
    return [symbol for symbol, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))][:10]


def describe_crystals(folder: str, ids: pd.Series, symbols: list[str]) -> pd.DataFrame:
    """Make one row of measures for each crystal."""
    rows = [describe_crystal(f"{folder}/{name}/geometry.xyz", symbols) for name in ids]
    return pd.DataFrame(rows, index=ids.index)


def describe_crystal(path: str, symbols: list[str]) -> dict[str, float]:
    """Count atoms by element, and measure the volume and the distances between atoms."""
    lattice, names, places = read_atoms(path)
    made = {f"atoms_{symbol}": float(names.count(symbol)) for symbol in symbols}
    made["atoms"] = float(len(names))
    made["volume"] = abs(np.linalg.det(lattice))
    made["density"] = made["atoms"] / made["volume"]
    # The nearest image of every atom, seen from every other
    shares = places @ np.linalg.inv(lattice)
    steps = shares[:, None] - shares
    far = np.linalg.norm((steps - np.round(steps)) @ lattice, axis=2)
    pairs = far[np.triu_indices(len(far), 1)]
    np.fill_diagonal(far, np.inf)
    near = np.sort(far, axis=1)
    for place in range(3):
        made[f"neighbour_{place + 1}"] = near[:, place].mean()
    made["nearest_least"], made["nearest_sd"] = near[:, 0].min(), near[:, 0].std()
    made["second_sd"] = near[:, 1].std()
    for low in np.arange(1.0, 6.0, 0.5):
        made[f"pairs_{low:.1f}"] = ((pairs >= low) & (pairs < low + 0.5)).mean()
    is_first = np.array(names) == symbols[0]
    if 0 < is_first.sum() < len(names):
        across = far[is_first][:, ~is_first]
        made["other_mean"], made["other_sd"] = across.min(axis=1).mean(), across.min(axis=1).std()
        made["others_within_3"] = (across < 3).sum(axis=0).mean()
        made["like_mean"] = np.sort(far[~is_first][:, ~is_first], axis=1)[:, :3].clip(0, 20).mean()
    return made


describe_crystal = once_a_file(describe_crystal)


def measure_crystals(folder: str, ids: pd.Series, wanted: Wanted) -> pd.DataFrame:
    """Make one row of measures for each crystal."""
    rows = [measure_crystal(f"{folder}/{name}/geometry.xyz", wanted) for name in ids]
    return pd.DataFrame(rows, index=ids.index)


def measure_crystal(path: str, wanted: Wanted) -> dict:
    """Measure all columns that are wanted."""
    lattice, names, places = read_atoms(path)
    symbols, shares = np.array(names), places @ np.linalg.inv(lattice)
    made: dict = {}
    measured: dict = {}
    for column, (what, elements) in wanted.items():
        if what in ("foreign", "ligand"):
            made[column] = next((one.lower() for one in elements if one in names), "none")
            continue
        if what == "share":
            made[column] = names.count(elements[0]) / max(int(np.isin(symbols, elements).sum()), 1)
            continue
        if not measured:
            is_anion = np.isin(symbols, elements)
            measured = layers_of(shares[~is_anion], lattice)
            measured |= bonds_of(shares[~is_anion], shares[is_anion], lattice)
        made[column] = measured[what]
    return made


def layers_of(shares: np.ndarray, lattice: np.ndarray) -> dict:
    """Split atoms into two layers at the widest two gaps, and measure how the layers lie."""
    order = np.argsort(shares[:, 2] % 1)
    heights = shares[order, 2] % 1
    widths = np.diff(np.append(heights, heights[0] + 1))
    cuts = np.sort(np.argsort(widths)[-2:])
    is_upper = np.zeros(len(shares), dtype=bool)
    is_upper[order[cuts[0] + 1 : cuts[1] + 1]] = True
    middles = [circular_mean(shares[part], np.array([0.5, 0.5, 1.0])) for part in (is_upper, ~is_upper)]
    gap, shift = abs(middles[0][2] - middles[1][2]) % 1, abs(middles[0][0] - middles[1][0]) % 0.5
    # How far each atom is from the grid of its layer, which repeats after half a vector
    off = shares - np.where(is_upper[:, None], *middles)
    off -= np.round(off / [0.5, 0.5, 1.0]) * [0.5, 0.5, 1.0]
    spread = np.sqrt(((off @ lattice) ** 2).sum(axis=1).mean())
    return {"gap": min(gap, 1 - gap), "shear": min(shift, 0.5 - shift), "disorder": spread}


def circular_mean(values: np.ndarray, period: np.ndarray) -> np.ndarray:
    """Return the mean of values that repeat after a period."""
    turns = np.exp(2j * np.pi * values / period).mean(axis=0)
    return np.angle(turns) / (2 * np.pi) * period


def bonds_of(metals: np.ndarray, anions: np.ndarray, lattice: np.ndarray) -> dict:
    """Measure lengths, tilt and bend of the bonds from each anion to the nearest metal, across cell walls."""
    steps = anions[:, None] - metals
    vectors = (steps - np.round(steps)) @ lattice
    far = np.linalg.norm(vectors, axis=2)
    nearest = far.argmin(axis=1)
    lengths = far.min(axis=1)
    bonds = vectors[np.arange(len(anions)), nearest] / lengths[:, None]
    tilts, angles = [], []
    for metal in range(len(metals)):
        pair = bonds[nearest == metal]
        if len(pair) == 2:
            axis = pair[0] - pair[1]
            tilts.append(np.arccos(min(abs(axis[2]) / np.linalg.norm(axis), 1)))
            angles.append(np.arccos(np.clip(pair[0] @ pair[1], -1, 1)))
    return {
        "bond": lengths.mean(),
        "spread": lengths.std(),
        "vacancies": 1 - len(anions) / (2 * len(metals)),
        "tilt": np.degrees(np.mean(tilts)) if tilts else np.nan,
        "bend": 180 - np.degrees(np.mean(angles)) if angles else np.nan,
    }


measure_crystal = once_a_file(measure_crystal)
