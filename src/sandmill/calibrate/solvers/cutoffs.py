"""Where to cut: ways to name classes, compared by what each should score if the probabilities hold."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.decisions import FREQUENT, class_shares, decide
from sandmill.calibrate.solvers.table import Table

CUT = (*FREQUENT, "qwk")
"""Metrics for which the likeliest class is not the best answer."""


def cut_best(scores: Any, table: Table) -> Any:
    """Decide as `decide` does, but name classes in the way that should score best."""
    return best_naming(scores, table) if is_cut(table) else decide(scores, table)


def is_cut(table: Table) -> bool:
    """Whether the task asks for names of classes by a metric that is not served best by the likeliest one."""
    return bool(table.facts.encoding == "label" and table.facts.metric in CUT)


def best_naming(scores: Any, table: Table) -> Any:
    """Name classes in the way that should score best."""
    tried = namings(scores, table)
    flags = np.eye(scores.shape[1])
    scored = [agreement(scores.T @ flags[named], table.facts.metric) for named in tried]
    return tried[int(np.argmax(scored))]


def namings(scores: Any, table: Table) -> list[Any]:
    """Ways to name classes: cut-offs for two, stretched expected grades, or leanings towards rare classes."""
    shares = np.maximum(class_shares(table), 1 / len(table.target))
    if len(shares) == 2:
        return [(scores[:, 1] >= cut).astype(int) for cut in np.linspace(0.02, 0.98, 49)]
    if table.facts.metric == "qwk":
        expected = scores @ np.arange(len(shares)) / scores.sum(axis=1)
        middle = expected.mean()
        stretched = [middle + factor * (expected - middle) for factor in np.linspace(1, 4, 31)]
        return [np.clip(np.rint(grades), 0, len(shares) - 1).astype(int) for grades in stretched]
    return [(scores / shares**lean).argmax(axis=1) for lean in np.linspace(0, 1.5, 16)]


def agreement(confusion: Any, metric: str) -> float:
    """Score of a table of how much of each true class (rows) was given each name (columns)."""
    true, named, total = confusion.sum(axis=1), confusion.sum(axis=0), confusion.sum()
    if metric in ("f1", "f1_macro"):
        each = 2 * np.diag(confusion) / np.maximum(true + named, 1e-9)
        return float(each[1] if metric == "f1" else each.mean())
    by_chance = np.outer(true, named) / total
    if metric == "mcc":
        spreads = [total**2 - np.sum(side**2) for side in (true, named)]
        return float(total * np.trace(confusion - by_chance) / np.sqrt(max(spreads[0] * spreads[1], 1e-9)))
    places = np.arange(len(true))
    misses = np.subtract.outer(places, places) ** 2 if metric == "qwk" else 1 - np.eye(len(true))
    return float(1 - np.sum(misses * confusion) / max(np.sum(misses * by_chance), 1e-9))
