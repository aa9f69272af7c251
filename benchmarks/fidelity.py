"""Do tasks resemble their seeds? Designs of real tables, and which of these is nearest to each design.

Run from the repository root: PYTHONPATH=/tmp/tables python -m benchmarks.fidelity --list usual, see `real_tables`.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.real_tables import LISTS, RealTable
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.fingerprint import fingerprint
from sandmill.models.base import Band
from sandmill.models.fidelity import MIX, TRAITS, FidelityVector, compare, vector_of
from sandmill.models.plan import Attempt, Slot
from sandmill.models.profile import SMALL_ROWS
from sandmill.models.seed import SeedTask
from sandmill.models.structure import TargetKind
from sandmill.pipeline.attempt import AttemptJob, Failed, run_attempt
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import even_places
from sandmill.pipeline.workers import WorkerPool
from sandmill.rng import Streams
from sandmill.seeds import ingest
from sandmill.seeds.profile import profile_sample
from sandmill.verify.traits import traits_of

SECRET = bytes(32)
BANDS = tuple(Band)
TIMEOUT_S = 300
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


@dataclass(frozen=True)
class Piece:
    """One design of one seed."""

    seed: SeedTask
    number: int
    place: float
    is_calibrated: bool


@dataclass(frozen=True)
class Made:
    """The traits of one task."""

    seed_id: str
    vector: FidelityVector


def make(piece: Piece) -> Made | str:
    """Design, render and measure one task, or say why there is none."""
    band = BANDS[piece.number % len(BANDS)]
    slot = Slot(number=piece.number, seed=piece.seed, band=band, place=piece.place)
    hardness = first_hardness(piece.seed.structure, band)
    if piece.is_calibrated:
        job = AttemptJob(Attempt(slot, 0, 1, 0, hardness, any_band=True), "fidelity", SECRET)
        result = run_attempt(job).result
        if isinstance(result, Failed):
            return f"{result.error.stage} {result.error.reason}"
        return Made(piece.seed.id, traits_of(result.package))
    streams = Streams(SECRET, "fidelity").child(f"{piece.seed.id} {piece.number}")
    spec = design_task(slot, streams, hardness)
    few = spec.sizes.model_copy(update={"feedback": 100, "final": 100})
    return Made(piece.seed.id, traits_of(render(spec.model_copy(update={"sizes": few}), SECRET).package))


def read_seeds(tables: Sequence[RealTable]) -> tuple[SeedTask, ...]:
    """Write the tables as a person would, and ingest them."""
    with TemporaryDirectory(prefix="sandmill-fidelity-") as name:
        for table in tables:
            folder = Path(name) / table.name
            folder.mkdir()
            table.read().write_csv(folder / "table.csv")
            texts = f"id: {table.name}\ntitle: {table.name}\nsummary: A table.\nsource: {table.place}\nlicence: open\n"
            (folder / "seed.yaml").write_text(f"{texts}target: {table.target}\ntarget_kind: {table.kind}\n")
        by_id = {seed.id: seed for seed in ingest((name,)).supported}
    return tuple(by_id[table.name] for table in tables)


def again(table: RealTable, seed: SeedTask, draw: int) -> FidelityVector:
    """Measure another small sample of a real table."""
    frame = table.read().select(pl.all().cast(pl.String)).sample(SMALL_ROWS, with_replacement=False, seed=draw + 1)
    inputs = [name for name in frame.columns if name != table.target]
    known = seed.structure.columns
    count = known.numeric + known.categorical + known.date + known.text
    kind = TargetKind(table.kind)
    return vector_of(seed.structure, profile_sample(frame, [table.target], kind, SMALL_ROWS, min(count, len(inputs))))


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


def main() -> int:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", choices=LISTS, default="usual", help="which real tables")
    parser.add_argument("--designs", type=int, default=10, help="of each seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--calibrated", action="store_true", help="calibrated tasks that pass the gates")
    parser.add_argument("--json", type=Path, help="file for the vectors; if it is there, they are read and not made")
    args = parser.parse_args()
    tables = LISTS[args.list]
    seeds = read_seeds(tables)
    if args.json and args.json.exists():
        stored = json.loads(args.json.read_text())
        made = [Made(seed_id, FidelityVector(values=values)) for seed_id, values in stored]
    else:
        made = _make_all(seeds, args.designs, args.workers, args.calibrated)
        if args.json:
            args.json.write_text(json.dumps([(one.seed_id, one.vector.values) for one in made]))
    seed_vectors = [vector_of(seed.structure) for seed in seeds]
    draws = range(args.designs)
    fresh = [[again(table, seed, draw) for draw in draws] for table, seed in zip(tables, seeds, strict=True)]
    scale = spreads(seed_vectors)
    frozen = [table.name for table in tables], [trait.model_dump() for trait in TRAITS], [round(x, 4) for x in scale]
    print(f"{len(tables)} tables, {len(made)} designs; tables, traits and scales: {fingerprint(list(frozen))[:16]}\n")
    print_nearest(seeds, seed_vectors, made, fresh, scale)
    print_traits(seeds, seed_vectors, made, fresh)
    return 0


def _make_all(seeds: Sequence[SeedTask], designs: int, workers: int, is_calibrated: bool) -> list[Made]:
    from benchmarks.fidelity import Piece, make  # by its own name: worker processes cannot import __main__

    places = even_places(len(seeds) * designs)
    pieces = [
        Piece(seed, number, places[designs * turn + number], is_calibrated)
        for turn, seed in enumerate(seeds)
        for number in range(designs)
    ]
    made: list[Made] = []
    lost = Counter[str]()
    with WorkerPool(workers) as pool:
        results = dict(pool.map(make, pieces, TIMEOUT_S))
    for index in sorted(results):
        result = results[index]
        if isinstance(result, Exception | str):
            lost[f"{pieces[index].seed.id}: {result if isinstance(result, str) else repr(result)[:120]}"] += 1
        else:
            made.append(Made(pieces[index].seed.id, result.vector))
    for reason, count in lost.most_common():
        print(f"no task, {count}: {reason}", file=sys.stderr)
    return made


def print_nearest(
    seeds: Sequence[SeedTask],
    seed_vectors: Sequence[FidelityVector],
    made: Sequence[Made],
    fresh: Sequence[Sequence[FidelityVector]],
    scale: NDArray[np.float64],
) -> None:
    """Print how often a task, and a second sample of a real table, is nearest to its own seed."""
    place = {seed.id: number for number, seed in enumerate(seeds)}
    kinds = [seed.structure.target.value for seed in seeds]
    sets = {
        "tasks": ([one.vector for one in made], [place[one.seed_id] for one in made]),
        "real tables again": (
            [vector for some in fresh for vector in some],
            [number for number, some in enumerate(fresh) for _ in some],
        ),
    }
    print("| | own seed nearest | nearest three | among its kind of target | least with one trait left out |")
    print("|---|---:|---:|---:|---:|")
    for name, (vectors, own) in sets.items():
        apart = distances(vectors, seed_vectors, scale)
        first, three = nearest(apart, own)
        without = min((nearest(_without(apart, left_out), own)[0], left_out) for left_out in _groups())
        among = within_kinds(apart, own, kinds)
        print(f"| {name} | {first:.1%} | {three:.1%} | {among:.1%} | {without[0]:.1%} ({without[1]}) |")
    by_seed = [[one.vector for one in made if one.seed_id == seed.id] for seed in seeds]
    shares = []
    for draw in range(min(map(len, fresh))):
        pairs = [(some[draw], again[draw]) for some, again in zip(by_seed, fresh, strict=True) if draw < len(some)]
        shares.append(told_apart([one for one, _ in pairs], [one for _, one in pairs], scale))
    print(f"\nReal against made by nearest neighbour: {mean(shares):.1%} (50 % if they cannot be told apart).\n")


def _groups() -> list[str]:
    return [trait.name for trait in TRAITS if trait.name not in _NOT_COMPARED]


def _without(apart: NDArray[np.float64], trait: str) -> NDArray[np.float64]:
    left_out = set(MIX) if trait == "mix" else {trait}
    return apart[:, :, [name not in left_out for name in NAMES]]


def print_traits(
    seeds: Sequence[SeedTask],
    seed_vectors: Sequence[FidelityVector],
    made: Sequence[Made],
    fresh: Sequence[Sequence[FidelityVector]],
) -> None:
    """Print how often each trait is kept: by tasks, by tasks of other seeds, and by second samples of real tables."""
    vectors = {seed.id: vector for seed, vector in zip(seeds, seed_vectors, strict=True)}
    kept = [compare(vectors[one.seed_id], one.vector) for one in made]
    chance = [compare(v, one.vector) for one in made for name, v in vectors.items() if name != one.seed_id]
    real = [compare(v, again) for v, some in zip(seed_vectors, fresh, strict=True) for again in some]
    print("| trait | tier | kept | by chance | real again | correlation |")
    print("|---|---|---:|---:|---:|---:|")
    for trait in TRAITS:
        cells = [_share(found, trait.name) for found in (kept, chance, real)]
        print(f"| {trait.words} | {trait.tier} | {' | '.join(cells)} | {_correlation(trait.name, vectors, made)} |")
    for tier in ("hard", "soft"):
        names = [trait.name for trait in TRAITS if trait.tier == tier]
        shares = [
            mean([one[name] for one in kept if name in one]) for name in names if any(name in one for one in kept)
        ]
        print(f"\nMean over the {tier} traits: {mean(shares):.1%}, least {min(shares):.1%}.")
    print("\n| seed | kept of its traits |\n|---|---:|")
    for seed in seeds:
        own = [one for one, task in zip(kept, made, strict=True) if task.seed_id == seed.id]
        print(f"| {seed.id} | {mean([share for one in own for share in one.values()] or [0]):.0%} |")


def _share(found: Sequence[Mapping[str, bool]], name: str) -> str:
    known = [one[name] for one in found if name in one]
    return f"{mean(known):.0%}" if known else "-"


def _correlation(name: str, vectors: Mapping[str, FidelityVector], made: Sequence[Made]) -> str:
    pairs = [(vectors[one.seed_id].values.get(name), one.vector.values.get(name)) for one in made]
    numbers = [(a, b) for a, b in pairs if isinstance(a, float) and isinstance(b, float)]
    if len(numbers) < 10 or len({a for a, _ in numbers}) < 2 or len({b for _, b in numbers}) < 2:
        return "-"
    return f"{np.corrcoef(np.array(numbers).T)[0, 1]:.2f}"


if __name__ == "__main__":
    sys.exit(main())
