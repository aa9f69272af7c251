"""Read tables with a file of atoms for each row: cells, and what can be counted and measured in any crystal."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once_a_file
from sandmill.kinds.script_text import functions_source
from sandmill.kinds.table import read as tables_reader
from sandmill.models.package import TaskFacts

_READING = """\
symbols = common_symbols(f"{public}/train", train[ID])
train = train.join(describe_crystals(f"{public}/train", train[ID], symbols))
test = test.join(describe_crystals(f"{public}/test", test[ID], symbols))
"""


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both tables with measures of each crystal beside the cells."""
    train, test = tables_reader.read(folder, facts)
    name = facts.id_column
    symbols = common_symbols(f"{folder}/train", train[name])
    return (
        train.join(describe_crystals(f"{folder}/train", train[name], symbols)),
        test.join(describe_crystals(f"{folder}/test", test[name], symbols)),
    )


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    later = [*functions_source(common_symbols, describe_crystals), "", "", *_READING.splitlines()]
    return ["from collections import Counter", "from pathlib import Path", "", *tables_reader.source(facts), *later]


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
