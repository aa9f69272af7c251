"""How different the grammar's designs are: distinct kinds, near-duplicates, coverage of the seeds, gap by motif.

Also how much the columns of a design depend on each other, and what names and texts say without data.

Run from the repository root: python -m benchmarks.diversity --designs 1000
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.dependence import Dependence, dependence_table, measure_dependence
from benchmarks.names import names_table
from benchmarks.probes import measure_difficulty
from sandmill.design import design_task
from sandmill.draw import draw_pilot
from sandmill.draw.describe import describe
from sandmill.draw.task_facts import task_facts
from sandmill.mechanism import draw_rows
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Date, Unit
from sandmill.models.links import class_names
from sandmill.models.motifs import Drift, columns_of
from sandmill.models.plan import Slot
from sandmill.models.seed import SeedTask
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import PathologyKind, SplitKind
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import even_places
from sandmill.pipeline.workers import WorkerPool
from sandmill.rng import Streams
from sandmill.seeds import ingest

Item = TypeVar("Item")
Result = TypeVar("Result")

SECRET = bytes(32)
BANDS = tuple(Band)
DESIGN_TIMEOUT_S, MEASURE_TIMEOUT_S = 120, 600
ALIKE_DESIGNS = 0.8
"""Jaccard similarity of two designs' features from which on one is a near-duplicate of the other."""
ALIKE_TEXTS = 0.9
"""The same for the word 5-grams of two descriptions."""
GRAM = 5
HIGH_CARDINALITY_LEVELS = 16
SHARE_ROWS = 1000
ROWS_STEP = 20
"""Training rows closer than this count as equal."""
_BLOCK = 500


@dataclass(frozen=True)
class Piece:
    """A slot to be designed."""

    seed: SeedTask
    number: int
    place: float
    """Of its domain among all."""
    draw: int
    """Number that the random streams of all designs depend on."""


@dataclass(frozen=True)
class Sketch:
    """What is compared of a design."""

    spec: TaskSpec
    motifs: tuple[str, ...]
    pathologies: frozenset[str]
    features: frozenset[str]
    grams: frozenset[str]


def sketch(piece: Piece) -> Sketch:
    """Design a slot at the hardness where its band's search starts, and describe it without drawing rows."""
    band = BANDS[piece.number % len(BANDS)]
    slot = Slot(number=piece.number, seed=piece.seed, band=band, place=piece.place)
    streams = Streams(SECRET, f"diversity {piece.draw}").child(f"slot {piece.number}")
    spec = design_task(slot, streams, first_hardness(piece.seed.structure, band))
    motifs = tuple(sorted(term.motif.motif for term in spec.mechanism.terms))
    grams = _grams(describe(spec, task_facts(spec), b""))
    return Sketch(spec, motifs, _pathologies(spec), _features(spec), grams)


def depend(spec: TaskSpec) -> Dependence:
    """Dependence of a design's columns on each other."""
    return measure_dependence(spec, SECRET)


def measure(spec: TaskSpec) -> float:
    """Difficulty of a design: the share of the gap to the oracle that competent defaults leave open."""
    return measure_difficulty(draw_pilot(spec, SECRET)).value


def _features(spec: TaskSpec) -> frozenset[str]:
    """Structure, motifs with the columns that they act on, all columns, faults and sizes."""
    mechanism = spec.mechanism
    return frozenset(
        [
            f"structure {spec.structure_label}",
            f"metric {spec.metric}",
            f"domain {spec.domain}",
            f"target {spec.story.target}",
            f"rows {spec.sizes.train // ROWS_STEP}",
            *(f"column {column.name}" for column in mechanism.columns),
            *(f"motif {term.motif.motif} {columns_of(term.motif)}" for term in mechanism.terms),
            *(f"fault {fault.kind} {getattr(fault, 'column', '')}" for fault in mechanism.pathologies),
        ]
    )


def _pathologies(spec: TaskSpec) -> frozenset[str]:
    """What of the field's faults a design has, under the names that seeds give them."""
    mechanism = spec.mechanism
    spread = [column.distribution for column in mechanism.columns]
    levels = [len(distribution.levels) for distribution in spread if isinstance(distribution, Categorical)]
    has = {
        PathologyKind.TIMESTAMPS: any(isinstance(distribution, Date) for distribution in spread),
        PathologyKind.GROUPS: any(isinstance(distribution, Unit) for distribution in spread),
        PathologyKind.HIGH_CARDINALITY: max(levels, default=0) > HIGH_CARDINALITY_LEVELS,
        PathologyKind.DRIFT: any(isinstance(term.motif, Drift) for term in mechanism.terms)
        or any(column.trend for column in mechanism.columns),
        PathologyKind.IMBALANCE: _is_imbalanced(spec),
    }
    declared = [str(fault.kind) for fault in mechanism.pathologies]
    return frozenset([*declared, *(str(kind) for kind, there in has.items() if there)])


def _is_imbalanced(spec: TaskSpec) -> bool:
    """Whether a class or label has less than half of an even share."""
    classes = len(class_names(spec.mechanism.link))
    if not classes:
        return False
    rows = draw_rows(spec.mechanism, Streams(SECRET, spec.fingerprint), range(SHARE_ROWS), is_train=False)
    codes = rows.target.astype(np.intp)
    if codes.ndim == 2:
        return bool(codes.mean(axis=0).min() < 1 / 4)
    return bool(np.bincount(codes, minlength=classes).min() < SHARE_ROWS / classes / 2)


def _grams(text: str) -> frozenset[str]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(" ".join(words[i : i + GRAM]) for i in range(len(words) - GRAM + 1))


def nearest(sets: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """For each set, the greatest Jaccard similarity with an earlier one, exact."""
    place: dict[str, int] = {}
    which = [place.setdefault(item, len(place)) for members in sets for item in sorted(members)]
    starts = np.cumsum([0, *map(len, sets)])
    has = csr_array((np.ones(len(which)), which, starts), shape=(len(sets), len(place)))
    sizes, across = np.diff(starts), has.T.tocsr()
    found = np.zeros(len(sets))
    for start in range(0, len(sets), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(sets)))
        common = (has[rows] @ across).toarray()
        similar = common / np.maximum(sizes[rows, None] + sizes[None, :] - common, 1)
        similar[np.arange(len(sets))[None, :] >= rows[:, None]] = 0
        found[rows] = similar.max(axis=1)
    return found


def distinct(sketches: Sequence[Sketch]) -> Iterator[str]:
    """Number of different kinds of designs, and of near-duplicates."""
    specs = [sketch.spec for sketch in sketches]
    whole = [(s.spec.structure_label, s.spec.domain, s.spec.metric, s.motifs) for s in sketches]
    yield "| distinct | number |"
    yield "|---|---:|"
    rows: list[tuple[str, Iterable[object]]] = [
        ("structure label, domain, metric and motifs", whole),
        ("structure label and metric", [(spec.structure_label, spec.metric) for spec in specs]),
        ("motif sets", [frozenset(sketch.motifs) for sketch in sketches]),
        ("domains", [spec.domain for spec in specs]),
        ("design fingerprints", [spec.fingerprint for spec in specs]),
    ]
    yield from (f"| {name} | {len(set(items))} |" for name, items in rows)
    yield ""
    yield "| near-duplicates of an earlier design | bound | share | median nearest | largest |"
    yield "|---|---:|---:|---:|---:|"
    for name, bound, sets in (
        ("features (Jaccard)", ALIKE_DESIGNS, [sketch.features for sketch in sketches]),
        (f"description (word {GRAM}-grams, Jaccard)", ALIKE_TEXTS, [sketch.grams for sketch in sketches]),
    ):
        found = nearest(sets)
        yield f"| {name} | {bound} | {np.mean(found > bound):.2%} | {np.median(found):.2f} | {found.max():.2f} |"


def coverage(sketches: Sequence[Sketch], seeds: Sequence[SeedTask]) -> Iterator[str]:
    """Which seeds' structures were met, and how often each of their parts."""
    made = {(s.spec.seed_id, s.spec.target, s.spec.metric, _split(s.spec.split)) for s in sketches}
    wanted = {seed.id: (seed.structure.target, seed.structure.metric, _split(seed.structure.split)) for seed in seeds}
    unmet = [name for name, structure in wanted.items() if (name, *structure) not in made]
    yield f"Structures (target, metric, split) of {len(seeds) - len(unmet)} of {len(seeds)} supported seeds are met."
    yield f"Not met: {', '.join(unmet)}." if unmet else ""
    lost = Counter(
        f"{seed.id} {kind}"
        for seed in seeds
        for kind in seed.structure.pathologies
        if not any(str(kind) in s.pathologies for s in sketches if s.spec.seed_id == seed.id)
    )
    yield f"Pathologies of a seed that none of its designs has: {', '.join(lost) or 'none'}."
    yield ""
    yield "| part | values | designs |"
    yield "|---|---:|---|"
    parts: list[tuple[str, Callable[[Sketch], Iterable[str]]]] = [
        ("target", lambda s: [s.spec.target]),
        ("split", lambda s: [s.spec.split]),
        ("metric", lambda s: [s.spec.metric]),
        ("pathology", lambda s: s.pathologies),
        ("motif", lambda s: set(s.motifs)),
        ("domain", lambda s: [s.spec.domain]),
    ]
    for name, values in parts:
        counts = Counter(str(value) for s in sketches for value in values(s))
        yield f"| {name} | {len(counts)} | {', '.join(f'{value} {n}' for value, n in counts.most_common())} |"


def _split(split: SplitKind | None) -> SplitKind:
    """Stratified splits are random ones in which classes keep their shares; they stand for each other if undeclared."""
    return SplitKind.RANDOM if split in (None, SplitKind.STRATIFIED) else split


def gaps(measured: Sequence[tuple[Sketch, float]]) -> Iterator[str]:
    """Difficulty of the designs that have a motif, beside that of the ones that have not."""
    yield "| motif | designs | median difficulty | without it |"
    yield "|---|---:|---:|---:|"
    for motif in sorted({motif for sketch, _ in measured for motif in sketch.motifs}):
        inside = [value for sketch, value in measured if motif in sketch.motifs]
        outside = [value for sketch, value in measured if motif not in sketch.motifs]
        yield f"| {motif} | {len(inside)} | {median(inside):.2f} | {f'{median(outside):.2f}' if outside else '-'} |"


def _run(
    pool: WorkerPool, what: str, function: Callable[[Item], Result], items: Sequence[Item], timeout_s: float
) -> dict[int, Result]:
    """Results by place, failures left out and told."""
    done: dict[int, Result] = {}
    failed: Counter[str] = Counter()
    for index, outcome in pool.map(function, items, timeout_s):
        if isinstance(outcome, Exception):
            failed[f"{type(outcome).__name__}: {outcome}"[:200]] += 1
        else:
            done[index] = outcome
        if (len(done) + failed.total()) % 50 == 0:
            print(f"{what}: {len(done)} done, {failed.total()} failed of {len(items)}", file=sys.stderr)
    for reason, count in failed.most_common():
        print(f"{what}: {count} failed: {reason}", file=sys.stderr)
    return dict(sorted(done.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks import diversity  # by its own name: worker processes cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=1000)
    parser.add_argument("--measured", type=int, default=120, help="designs whose difficulty is measured; 0: none")
    parser.add_argument("--draw", type=int, default=1, help="another number gives other designs (default 1)")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    seeds = ingest(()).supported
    places = even_places(given.designs)
    pieces = [
        diversity.Piece(seeds[number % len(seeds)], number, place, given.draw) for number, place in enumerate(places)
    ]
    with WorkerPool(given.workers) as pool:
        sketches = list(_run(pool, "design", diversity.sketch, pieces, DESIGN_TIMEOUT_S).values())
        print(f"{len(sketches)} designs from {len(seeds)} supported seeds; {given.designs - len(sketches)} failed.\n")
        print("\n".join([*distinct(sketches), "", *coverage(sketches, seeds), ""]))
        tables = [one.spec for one in sketches if one.spec.channel is None]
        found = _run(pool, "dependence", diversity.depend, tables, MEASURE_TIMEOUT_S)
        print("\n".join([*dependence_table(list(found.values())), ""]))
        texts = [one.grams for one in sketches if one.spec.channel is None]
        print("\n".join([*names_table(tables, texts), ""]))
        chosen = [
            sketches[i] for i in np.linspace(0, len(sketches) - 1, min(given.measured, len(sketches))).astype(int)
        ]
        values = _run(pool, "measure", diversity.measure, [s.spec for s in chosen], MEASURE_TIMEOUT_S)
    if values:
        print(f"Difficulty of {len(values)} of the designs (0: defaults reach the oracle, 1: they close no gap).\n")
        print("\n".join(gaps([(chosen[index], value) for index, value in values.items()])))


if __name__ == "__main__":
    main()
