"""Read tables with a graph in a cell as tables of general features of graphs, here and in scripts."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once
from sandmill.kinds.script_text import functions_source
from sandmill.kinds.table import read as tables_reader
from sandmill.models.package import TaskFacts


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both files, with numbers in place of graphs."""
    train, test = tables_reader.read(folder, facts)
    return expand_graphs(train), expand_graphs(test)


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    lines = [*tables_reader.source(facts), *functions_source(expand_graphs)]
    return [*lines, "", "", "train, test = expand_graphs(train), expand_graphs(test)"]


def expand_graphs(table: pd.DataFrame) -> pd.DataFrame:
    """Put general features in place of the column that holds links."""
    name = column_of_links(table)
    return table.drop(columns=name).join(describe_graphs(table[name].to_numpy(str)))


def column_of_links(table: pd.DataFrame) -> str:
    """Return the column whose cells are lists of links."""
    return next(str(name) for name in table if table[name].astype(str).str.count(":").min() > 3)


def describe_graphs(cells: np.ndarray) -> pd.DataFrame:
    """Count nodes, links and kinds; add weights of pairs of kinds, and the largest eigenvalues."""
    made = []
    for cell in cells:
        links = parse_links(cell)
        names = sorted({node for link in links for node in link[:2]})
        place = {name: number for number, name in enumerate(names)}
        near = np.zeros((len(names), len(names)))
        for one, other, weight in links:
            near[place[one], place[other]] = near[place[other], place[one]] = weight
        made.append(describe_matrix(near, np.array([name[0] for name in names]), len(links)))
    return pd.DataFrame(made).fillna(0.0)


def parse_links(cell: str) -> list:
    """Read links as (node, node, weight)."""
    pairs = [link.split(":") for link in cell.split()]
    return [(*nodes.split("-"), int(weight)) for nodes, weight in pairs]


def describe_matrix(near: np.ndarray, kinds: np.ndarray, links: int) -> dict:
    """Describe one graph by its matrix of weights and the kinds of its nodes."""
    is_near = near > 0
    degrees, weights = is_near.sum(axis=0), near[np.triu(is_near)]
    made = {"nodes": len(near), "links": links, "most links": degrees.max(), "mean links": degrees.mean()}
    made |= {f"{number} links": (degrees == number).sum() for number in range(1, 6)}
    made |= {"mean weight": weights.mean(), "sd of weights": weights.std(), "heaviest node": near.sum(axis=0).max()}
    made |= {f"weight {number}": (weights == number).mean() for number in range(1, 10)}
    listed = sorted(set(kinds) - {"i", "o"})
    for one in listed:
        made |= {f"share {one}": (kinds == one).mean(), f"links {one}": degrees[kinds == one].mean()}
        for other in listed[listed.index(one) :]:
            between = near[np.ix_(kinds == one, kinds == other)]
            count = (between > 0).sum()
            made |= {f"links {one}{other}": count, f"weight {one}{other}": between.sum() / max(count, 1)}
    values = np.linalg.eigvalsh(is_near)
    made |= {"triangles": (values**3).sum() / 6, "paths": (values**4).sum()}
    made |= {f"eigenvalue {number}": values[-number] for number in range(1, 6)}
    slow = np.linalg.eigvalsh(np.diag(degrees) - is_near)
    return made | {"parts": (slow < 1e-6).sum()} | {f"slow {number}": slow[number] for number in range(1, 9)}


describe_graphs = once(describe_graphs)
