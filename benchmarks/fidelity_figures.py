"""Figures of `fidelity`: which seed is nearest to a task, what it keeps, and whether tasks of a seed differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from benchmarks.fidelity_tasks import Made
from sandmill.models.fidelity import MIX, TRAITS, FidelityVector, compare

_APART = 3.0
"""Distance of two values at most, in standard deviations of the real tables."""
_UNLIKE = 1.5
"""Distance of two words, or of a value to none."""
_LOGARITHMIC = frozenset({"n_columns", "levels_median", "levels_most"})
_NOT_COMPARED = frozenset({"metric", "split", "class_entropy", "has_date", "has_text", "has_category"})
"""Names that follow from others, or that a table does not tell."""
NAMES = tuple(
    name
    for trait in TRAITS
    for name in (MIX if trait.name == "mix" else (trait.name,))
    if trait.name not in _NOT_COMPARED
)
"""Values by which distances are measured."""
_ALIKE = 0.5
"""Two tasks with the same target are near-duplicates if their rules share this part of their motifs."""
Row = tuple[str, str, str]
"""Figure, value and aim."""


def coordinates(vector: FidelityVector) -> list[float | str | None]:
    """Return the values by which distances are measured."""
    found = (vector.values.get(name) for name in NAMES)
    return [
        float(np.log(max(float(value), 0.5))) if name in _LOGARITHMIC and value is not None else value
        for name, value in zip(NAMES, found, strict=True)
    ]


def spreads(vectors: Sequence[FidelityVector]) -> NDArray[np.float64]:
    """Return the standard deviation of each value over real tables."""
    columns = zip(*map(coordinates, vectors), strict=True)
    numbers = [[float(value) for value in column if isinstance(value, float | int)] for column in columns]
    return np.array([max(float(np.std(some)), 1e-3) if some else 1.0 for some in numbers])


def distances(
    vectors: Sequence[FidelityVector], others: Sequence[FidelityVector], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the distance of each vector to each other one, for each value: vectors x others x values."""
    left, right = [coordinates(one) for one in vectors], [coordinates(one) for one in others]
    found = np.zeros((len(left), len(right), len(NAMES)))
    for row, ours in enumerate(left):
        for column, theirs in enumerate(right):
            found[row, column] = [_apart(a, b, sd) for a, b, sd in zip(ours, theirs, scale, strict=True)]
    return found


def _apart(one: float | str | None, other: float | str | None, scale: float) -> float:
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return 0.0 if one == other else _UNLIKE
    return min(abs(one - other) / scale, _APART)


def nearest(apart: NDArray[np.float64], own: Sequence[int]) -> tuple[float, float]:
    """Return how often the own seed is nearest, and among the nearest three."""
    total = np.sqrt((apart**2).sum(axis=2))
    ranks = [int((total[row] < total[row, place]).sum()) for row, place in enumerate(own)]
    return mean([rank == 0 for rank in ranks]), mean([rank < 3 for rank in ranks])


def within_kinds(apart: NDArray[np.float64], own: Sequence[int], kinds: Sequence[str], least: int = 6) -> float:
    """Return how often the own seed is nearest among those of its kind of target, where there are enough of them."""
    total, sizes = np.sqrt((apart**2).sum(axis=2)), Counter(kinds)
    hits = []
    for row, place in enumerate(own):
        if sizes[kinds[place]] >= least:
            same = [number for number, kind in enumerate(kinds) if kind == kinds[place]]
            hits.append(bool(total[row, place] == total[row, same].min()))
    return mean(hits)


def told_apart(made: Sequence[FidelityVector], real: Sequence[FidelityVector], scale: NDArray[np.float64]) -> float:
    """Return how often the nearest other table is real for a real one and made for a made one.

    Args:
        made: a task of each seed.
        real: another sample of each seed's table. It is no neighbour of that task, whose twin it is meant to be.
        scale: of the values.
    """
    every = [*made, *real]
    total = np.sqrt((distances(every, every, scale) ** 2).sum(axis=2))
    seeds = np.arange(len(every)) % len(made)
    total[seeds[:, None] == seeds[None, :]] = np.inf
    is_made = np.arange(len(every)) < len(made)
    return float(np.mean(is_made[total.argmin(axis=1)] == is_made))


def without(apart: NDArray[np.float64], trait: str) -> NDArray[np.float64]:
    """Leave one trait out of distances."""
    left_out = set(MIX) if trait == "mix" else {trait}
    return apart[:, :, [name not in left_out for name in NAMES]]


def compared() -> list[str]:
    """Return the traits that distances compare."""
    return [trait.name for trait in TRAITS if trait.name not in _NOT_COMPARED]


def nearness(
    vectors: Sequence[FidelityVector],
    own: Sequence[int],
    seeds: Sequence[FidelityVector],
    kinds: Sequence[str],
    scale: NDArray[np.float64],
) -> list[Row]:
    """Say how often the own seed is nearest; `own` are places among the seeds."""
    apart = distances(vectors, seeds, scale)
    first, three = nearest(apart, own)
    least, trait = min((nearest(without(apart, name), own)[0], name) for name in compared())
    return [
        ("own seed nearest", f"{first:.1%}", "80 %"),
        ("own seed among the nearest three", f"{three:.1%}", "95 %"),
        ("own seed nearest among its kind of target", f"{within_kinds(apart, own, kinds):.1%}", "65 %"),
        ("own seed nearest with one trait left out, least", f"{least:.1%} ({trait})", "65 %"),
    ]


def real_or_made(
    seeds: Sequence[str],
    tasks: Sequence[Made],
    fresh: Mapping[str, Sequence[FidelityVector]],
    scale: NDArray[np.float64],
) -> Row:
    """Say how often a nearest neighbour tells real tables from tasks: a task of each seed at a time."""
    by_seed = {seed: [one.traits for one in tasks if one.seed == seed and one.traits] for seed in seeds}
    shares = []
    for draw in range(max(map(len, by_seed.values()))):
        pairs = [(some[draw], fresh[seed][draw]) for seed, some in by_seed.items() if draw < len(some)]
        if len(pairs) > 1:
            shares.append(told_apart([one for one, _ in pairs], [one for _, one in pairs], scale))
    return ("real told from made by nearest neighbour", f"{mean(shares):.1%}" if shares else "-", "60 % at most")


def kept(tasks: Sequence[Made], vectors: Mapping[str, FidelityVector]) -> dict[str, float]:
    """Return how often tasks have each trait of their seed."""
    found = [compare(vectors[one.seed], one.traits) for one in tasks if one.traits]
    shares = {trait.name: [one[trait.name] for one in found if trait.name in one] for trait in TRAITS}
    return {name: mean(some) for name, some in shares.items() if some}


def kept_rows(shares: Mapping[str, float]) -> list[Row]:
    """Sum up how often traits are kept."""
    hard = [shares[trait.name] for trait in TRAITS if trait.tier == "hard" and trait.name in shares]
    soft = {trait.name: shares[trait.name] for trait in TRAITS if trait.tier == "soft" and trait.name in shares}
    least = min(soft, key=lambda name: soft[name])
    return [
        ("hard traits kept, mean; least", f"{mean(hard):.1%}; {min(hard):.1%}", "98 %"),
        ("soft traits kept, mean", f"{mean(soft.values()):.1%}", "75 %"),
        ("soft traits kept, least", f"{soft[least]:.1%} ({least})", "50 %"),
    ]


def filled(tasks: Sequence[Made]) -> list[Row]:
    """Say how many slots have a task, in which band, at which cost."""
    done = [one for one in tasks if one.reached]
    in_band = mean(one.reached is one.wanted for one in done) if done else 0.0
    seconds = sum(one.seconds for one in tasks) / max(1, len(done))
    return [
        ("slots filled", f"{len(done) / len(tasks):.1%}", "98 %"),
        ("filled slots in the band asked for", f"{in_band:.1%}", "85 %"),
        ("attempts a slot", f"{mean(one.attempts for one in tasks):.1f}", ""),
        ("processor seconds a task", f"{seconds:.1f}", ""),
    ]


def near_duplicates(tasks: Sequence[Made]) -> list[tuple[Made, Made]]:
    """Return the pairs of tasks that ask for the same target by half the same rule."""
    return [(one, other) for one, other in combinations(tasks, 2) if _is_alike(one, other)]


def _is_alike(one: Made, other: Made) -> bool:
    first, second = set(one.rule), set(other.rule)
    is_same_question = (one.domain, one.target) == (other.domain, other.target)
    return is_same_question and len(first & second) >= _ALIKE * len(first | second)
