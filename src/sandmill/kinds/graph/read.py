"""Read tables with a graph in a cell: general features of graphs, or what a description says of them."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once
from sandmill.kinds.script_text import Reader, functions_source
from sandmill.kinds.table import read as tables_reader
from sandmill.kinds.traits import cue_lines
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts


def source(facts: TaskFacts) -> list[str]:
    """Read both files, with numbers in place of graphs."""
    lines = [*tables_reader.source(facts), *functions_source(expand_graphs)]
    return [*lines, "", "", "train, test = expand_graphs(train), expand_graphs(test)"]


def _measured_source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    lines = [*tables_reader.source(facts), *functions_source(measure_table)]
    lines += cue_lines("Column, measure, and value at 0 and at 1 or names of levels", cues)
    return [*lines, "train, test = measure_table(train, CUES), measure_table(test, CUES)"]


read, MEASURED = Reader(source).read, Reader(_measured_source)
"""Read general features, or count the column of each cue."""


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


def measure_table(table: pd.DataFrame, cues: list) -> pd.DataFrame:
    """Put what the description explains in place of the column that holds links."""
    name = column_of_links(table)
    return table.drop(columns=name).join(measure_all(table[name].to_numpy(str), cues))


def measure_all(cells: np.ndarray, cues: list) -> pd.DataFrame:
    """Estimate one column for each cue."""
    letter = next((str(known[2]) for _, _, *known in cues if len(known) == 3 and not isinstance(known[0], str)), "")
    measured = pd.DataFrame([count_graph(parse_links(cell), letter) for cell in cells])
    made = {}
    for column, measure, *known in cues:
        value = measured[measure]
        if measure == "direction":
            made[column] = np.array(known)[value.to_numpy(int)]
        elif isinstance(known[0], str):
            made[column] = value.map({name[0].upper(): name for name in known})
        else:
            # Quotients divide by it, so a count of nothing is a little more
            made[column] = np.maximum((value - known[0]) / (known[1] - known[0]), 0.02)
    return pd.DataFrame(made)


def count_graph(links: list, letter: str) -> dict:
    """Count everything in one graph; `letter` is the kind of node that some counts concern."""
    weights: dict = {}
    near: dict = {}
    for one, other, weight in links:
        weights[min(one, other), max(one, other)] = weight
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    hub = max(near, key=lambda node: len(near[node]))
    way = shortest_way(near, "in", {"out"})
    steps = [tuple(sorted(way[place : place + 2])) for place in range(len(way) - 1)]
    tolls = [weights[step] for step in steps]
    others = {pair: weight for pair, weight in weights.items() if hub not in pair and pair not in set(steps)}
    touching = [weight for pair, weight in others.items() if letter in (pair[0][0], pair[1][0])]
    apart = [weight for pair, weight in others.items() if letter not in (pair[0][0], pair[1][0])]
    named = [node for node in near if node not in ("in", "out")]
    triangles = sum(len(near[one] & near[other]) for one, other in weights) // 3
    parts = count_parts(near)
    return {
        "distance": len(tolls),
        "toll": np.mean(tolls),
        "direction": 0 if tolls[-1] > tolls[0] else 1 if tolls[-1] < tolls[0] else 2,
        "first_kind": way[1][0],
        "hub": len(near[hub]),
        "hub_kind": hub[0],
        "hub_weight": np.mean([weight for pair, weight in weights.items() if hub in pair]),
        "reach": len(shortest_way(near, hub, set(way))) - 1,
        "triangles": triangles,
        "squares": len(weights) - len(near) + parts - triangles,
        "parts": parts,
        "ends": sum(len(found) == 1 for found in near.values()),
        "doubles": len(links) - len(weights),
        "share": np.mean([node[0] == letter for node in named]),
        "touch": np.mean(touching) if touching else 5.0,
        "weight": np.mean(apart) if apart else 5.0,
    }


def shortest_way(near: dict, start: str, ends: set) -> list:
    """Return the nodes of a shortest way from a node to the nearest of some others."""
    before, queue = {start: start}, [start]
    for node in queue:
        if node in ends:
            way = [node]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for other in sorted(near[node] - before.keys()):
            before[other] = node
            queue.append(other)
    return [start]


def count_parts(near: dict) -> int:
    """Count separate parts."""
    left, parts = set(near), 0
    while left:
        parts, queue = parts + 1, [left.pop()]
        for node in queue:
            queue += near[node] & left
            left -= near[node]
    return parts


measure_all = once(measure_all)
