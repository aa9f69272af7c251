"""Count in graphs what a description says of them, here and in scripts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.graph.read import column_of_links, parse_links
from sandmill.kinds.memo import once
from sandmill.kinds.script_text import functions_source
from sandmill.kinds.table import read as tables_reader
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts


def read(folder: Path, facts: TaskFacts, cues: Sequence[Cue]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both files, and count the column of each cue."""
    train, test = tables_reader.read(folder, facts)
    listed = [(cue.column, cue.measure, *cue.parameters) for cue in cues]
    return measure_table(train, listed), measure_table(test, listed)


def source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    """Return source lines that do the same in a script; the script defines ID and TARGET before them."""
    lines = [*tables_reader.source(facts), *functions_source(measure_table)]
    lines += ["", "", "# Column, measure, and value at 0 and at 1 or names of levels", "CUES = ["]
    lines += [f"    {(cue.column, cue.measure, *cue.parameters)!r}," for cue in cues]
    return [*lines, "]", "train, test = measure_table(train, CUES), measure_table(test, CUES)"]


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
