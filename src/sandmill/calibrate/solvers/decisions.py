"""What a model says turned into what the metric asks for."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.table import Table, off_scale

FREQUENT = ("f1", "f1_macro", "mcc", "cohen_kappa")
"""Metrics that want classes named about as often as they occur."""

GOLDEN = 0.6180339887498949
"""Multiples of it, less their whole part, fill the range from 0 to 1 evenly."""

SAMPLE = 1000
STEPS = 20


def decide(scores: Any, table: Table) -> Any:
    """Answer as the metric wants it: numbers, classes, lists, or probabilities that are never quite 0 or 1."""
    facts = table.facts
    if not facts.classes:
        return as_numbers(np.asarray(scores, dtype=float), table)
    if facts.encoding == "label":
        return name_classes(scores, table)
    if facts.encoding == "ranked_list":
        ranked = np.argsort(-scores, axis=1, kind="stable")[:, : facts.places]
        return np.pad(ranked, ((0, 0), (0, facts.places - ranked.shape[1])), constant_values=-1)
    if facts.metric == "log_loss":
        scores = np.maximum(scores, 1 / len(table.target))
    scores = scores / scores.sum(axis=1, keepdims=True)
    return scores[:, 1] if facts.encoding == "probability" else scores


def as_numbers(scores: Any, table: Table) -> Any:
    """Bring numbers back to the target's own scale; logarithms and rates stay within what training has shown."""
    if table.scale != "raw":
        return off_scale(np.clip(scores, table.target.min(), table.target.max()), table.scale)
    if table.facts.metric == "poisson_deviance":
        return np.clip(scores, table.target.mean() / 10, table.target.max())
    return np.maximum(scores, 0.0) if table.facts.target == "count" else scores


def class_shares(table: Table) -> Any:
    """Share of each class in training."""
    return np.bincount(table.target, minlength=len(table.facts.classes)) / len(table.target)


def name_classes(scores: Any, table: Table) -> Any:
    """Name one class for each row: the likeliest, or as the metric rewards rare classes."""
    metric, shares = table.facts.metric, class_shares(table)
    if metric == "qwk":
        return matched_grades(scores, shares)
    if metric == "balanced_accuracy":
        return (scores / np.maximum(shares, 1 / len(table.target))).argmax(axis=1)
    if metric == "f1_macro" and not np.ptp(scores, axis=0).any():
        # Well mixed, each for its share of the rows: a mean over classes pays nothing for those never named.
        return np.searchsorted(shares.cumsum()[:-1], np.arange(len(scores)) * GOLDEN % 1, side="right")
    if metric in FREQUENT and len(shares) == 2:
        usual = shares[1] > (0 if metric == "f1" else 0.5)
        return matched_positives(scores[:, 1], shares[1], usual)
    return matched_classes(scores, shares) if metric in FREQUENT else scores.argmax(axis=1)


def matched_positives(likely: Any, share: float, usual: bool) -> Any:
    """Predict the positive class for a given share of rows; the usual answer if all rows are equal."""
    values, counts = np.unique(-likely, return_counts=True)
    if len(values) == 1:
        return np.full(len(likely), int(usual))
    named = counts.cumsum() / len(likely)
    cut = -values[np.abs(named[:-1] - share).argmin()]
    return (likely >= cut).astype(int)


def matched_classes(scores: Any, shares: Any) -> Any:
    """Name classes about as often as given: each gets a handicap, moved in a few steps towards its share."""
    if not np.ptp(scores, axis=0).any():
        return scores.argmax(axis=1)
    chances = np.log(np.maximum(scores, 1e-9))
    sample = chances[:: max(1, len(chances) // SAMPLE)]
    least = 0.5 / len(sample)
    wanted, handicap = np.log(np.maximum(shares, least)), np.zeros(len(shares))
    for step in range(STEPS):
        named = np.bincount((sample + handicap).argmax(axis=1), minlength=len(shares)) / len(sample)
        handicap = handicap + (wanted - np.log(np.maximum(named, least))) / (2 + step)
    return (chances + handicap).argmax(axis=1)


def matched_grades(scores: Any, shares: Any) -> Any:
    """Order rows by their expected grade and cut so that grades come as often as given; equals stay together."""
    expected = scores @ np.arange(len(shares)) / scores.sum(axis=1)
    _, group, counts = np.unique(expected, return_inverse=True, return_counts=True)
    below = (counts.cumsum() - counts / 2) / len(expected)
    return np.searchsorted(shares.cumsum()[:-1], below)[group]


def likeliest_sets(probabilities: Any) -> Any:
    """The likeliest labels of each row, as many as make the expected F1 of the row largest, at least one."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    found = np.take_along_axis(probabilities, order, axis=1).cumsum(axis=1)
    sizes = np.arange(1, probabilities.shape[1] + 1)
    size = 1 + (found / (sizes + probabilities.sum(axis=1, keepdims=True))).argmax(axis=1)
    named = np.zeros(probabilities.shape, dtype=int)
    np.put_along_axis(named, order, (sizes <= size[:, None]).astype(int), axis=1)
    return named


CUT = (*FREQUENT, "qwk")
"""Metrics for which the likeliest class is not the best answer."""


def cut_best(scores: Any, table: Table) -> Any:
    """Decide as `decide` does, but name classes in the way that should score best."""
    if table.facts.encoding != "label" or table.facts.metric not in CUT:
        return decide(scores, table)
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
