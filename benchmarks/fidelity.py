"""Do tasks resemble their seeds? Tasks of real tables, and which of these is nearest to each task.

Run from the repository root, `real_tables` says where the tables come from:

PYTHONPATH=/tmp/tables nice python -m benchmarks.fidelity --list final --calibrated --lines /tmp/final.jsonl

Each task is written to the file of lines when it is measured, and a run goes on where another one was killed.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.fidelity_figures import (
    Row,
    filled,
    kept,
    kept_rows,
    near_duplicates,
    nearness,
    real_or_made,
    spreads,
)
from benchmarks.fidelity_tasks import Made, Piece, add_line, pieces_of, read_lines
from benchmarks.real_tables import LISTS, RealTable
from benchmarks.solver_orders import agreement, order_of_table
from sandmill.fingerprint import fingerprint
from sandmill.models.fidelity import TRAITS, FidelityVector, compare, vector_of
from sandmill.models.profile import SMALL_ROWS
from sandmill.models.seed import SeedIntake, SeedTask
from sandmill.models.structure import TargetKind
from sandmill.pipeline.workers import WorkerPool, WorkerTimeout
from sandmill.seeds import ingest
from sandmill.seeds.profile import profile_sample

FROZEN = Path(__file__).parent / "results" / "fidelity-frozen.json"
"""Names of the tables, scale of each value and digest of each list."""
TIMEOUT_S = 3600


def digest_of(name: str, scale: Sequence[float]) -> str:
    """Return the digest of a list of tables, of all traits with their tolerances, and of the scales of distances."""
    tables = [table.name for table in LISTS[name]]
    return fingerprint([tables, [trait.model_dump() for trait in TRAITS], list(scale)])[:16]


def frozen_scale(name: str, vectors: Sequence[FidelityVector]) -> tuple[str, NDArray[np.float64]]:
    """Return digest and scales of a list as they are frozen.

    Raises:
        SystemExit: if the tables that were read have other scales.
    """
    frozen = json.loads(FROZEN.read_text())[name]
    measured = [round(float(one), 4) for one in spreads(vectors)]
    if measured != frozen["scale"]:
        sys.exit(f"{FROZEN}: other scales than those of the tables of {name}: {measured}, {digest_of(name, measured)}")
    return frozen["digest"], np.array(frozen["scale"])


def read_seeds(tables: Sequence[RealTable]) -> SeedIntake:
    """Write the tables as a person would, and ingest them."""
    with TemporaryDirectory(prefix="sandmill-fidelity-") as name:
        for table in tables:
            folder = Path(name) / table.name
            folder.mkdir()
            table.read().write_csv(folder / "table.csv")
            texts = f"id: {table.name}\ntitle: {table.name}\nsummary: A table.\nsource: {table.place}\nlicence: open\n"
            (folder / "seed.yaml").write_text(f"{texts}target: {table.target}\ntarget_kind: {table.kind}\n")
        return ingest((name,))


def again(table: RealTable, seed: SeedTask, draw: int) -> FidelityVector:
    """Measure another small sample of a real table."""
    frame = table.read().select(pl.all().cast(pl.String)).sample(SMALL_ROWS, with_replacement=False, seed=draw + 1)
    inputs = [name for name in frame.columns if name != table.target]
    known = seed.structure.columns
    count = known.numeric + known.categorical + known.date + known.text
    kind = TargetKind(table.kind)
    return vector_of(seed.structure, profile_sample(frame, [table.target], kind, SMALL_ROWS, min(count, len(inputs))))


def make_all(pieces: Sequence[Piece], lines: Path | None, workers: int) -> list[Made]:
    """Make the tasks that the file of lines lacks, and return all. One whose worker broke is not kept there."""
    from benchmarks.fidelity_tasks import make  # by its own name: worker processes cannot import __main__

    wanted = {piece.key: piece for piece in pieces}
    found = {one.key: one for one in read_lines(lines) if one.key in wanted} if lines else {}
    missing = [piece for key, piece in wanted.items() if key not in found]
    with WorkerPool(workers) as pool:
        for place, made in pool.map(make, missing, TIMEOUT_S):
            piece = missing[place]
            is_lost = isinstance(made, Exception) and not isinstance(made, WorkerTimeout)
            found[piece.key] = piece.empty(f"error {made!r}"[:300]) if isinstance(made, Exception) else made
            if lines and not is_lost:
                add_line(lines, found[piece.key])
            print(f"{len(found)} of {len(pieces)}: {piece.slot.seed.id} {piece.slot.number}", file=sys.stderr)
    return [found[piece.key] for piece in pieces]


def main() -> int:
    """Make what is missing, and print all figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", choices=LISTS, default="usual", help="which real tables")
    parser.add_argument("--tables", type=int, help="only the first of them")
    parser.add_argument("--tasks", type=int, default=10, help="of each table")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--calibrated", action="store_true", help="fill slots as builds do")
    parser.add_argument("--lines", type=Path, help="file with a line for each task; what it has is not made again")
    args = parser.parse_args()
    tables = LISTS[args.list]
    intake = read_seeds(tables)
    by_id = {seed.id: seed for seed in intake.supported}
    seeds = [by_id[table.name] for table in tables]
    vectors = {seed.id: vector_of(seed.structure) for seed in seeds}
    frozen, scale = frozen_scale(args.list, list(vectors.values()))
    used = seeds[: args.tables]
    tasks = make_all(
        pieces_of(frozen, used, intake.guards, args.tasks, is_calibrated=args.calibrated), args.lines, args.workers
    )
    made = [one for one in tasks if one.traits]
    failures = Counter(failure for one in tasks for failure in one.failures)
    if not made:
        sys.exit(f"no tasks: {failures}")
    fresh = {
        table.name: [again(table, seed, draw) for draw in range(args.tasks)]
        for table, seed in zip(tables, used, strict=False)
    }
    what = "calibrated tasks" if args.calibrated else "first designs"
    print(f"{len(used)} tables, {len(made)} of {len(tasks)} {what}; digest of tables, traits and scales: {frozen}\n")
    place, kinds = {seed.id: number for number, seed in enumerate(seeds)}, [str(one.structure.target) for one in seeds]
    real = [(vector, place[name]) for name, some in fresh.items() for vector in some]

    def near(some: Sequence[tuple[FidelityVector, int]]) -> list[Row]:
        return nearness([one for one, _ in some], [own for _, own in some], list(vectors.values()), kinds, scale)

    rows = [
        *near([(one.traits, place[one.seed]) for one in made if one.traits]),
        *((f"{name}, another sample of the real table", value, "") for name, value, _ in near(real)[:1]),
        real_or_made([seed.id for seed in used], made, fresh, scale),
        *kept_rows(kept(made, vectors)),
        *(filled(tasks) if args.calibrated else ()),
        *order_rows(tables, used, made),
    ]
    print_table(("figure", "value", "aim"), rows)
    print_table(*by_trait(vectors, made, fresh))
    print_table(*by_seed(used, vectors, tasks))
    across = [pair for pair in near_duplicates(made) if pair[0].seed != pair[1].seed]
    print(f"Near-duplicates across seeds: {len(across)} pairs.\n")
    print_table(("attempts that came to nothing", "times"), failures.most_common())
    return 0


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table in Markdown."""
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    print()


def order_rows(tables: Sequence[RealTable], seeds: Sequence[SeedTask], made: Sequence[Made]) -> list[Row]:
    """Say how well the order of frozen solvers on a table agrees with that on its tasks."""
    kinds = {seed.id: str(seed.structure.target) for seed in seeds}
    orders = {
        table.name: order_of_table(table.read(), table.target, TargetKind(table.kind))
        for table in tables
        if table.name in kinds
    }
    gains = agreement(orders, [(one.seed, one.solvers) for one in made], kinds)
    return [
        (f"order of ten solvers: Spearman above that of {name}", f"{mid:+.3f} ({low:+.3f} to {high:+.3f})", "above 0")
        for name, (mid, low, high) in gains.items()
    ]


def by_trait(
    vectors: Mapping[str, FidelityVector], made: Sequence[Made], fresh: Mapping[str, Sequence[FidelityVector]]
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Say how often each trait is kept: by tasks, by tasks of other seeds, and by second samples of real tables."""
    done = [(one.seed, one.traits) for one in made if one.traits]
    own = [compare(vectors[seed], traits) for seed, traits in done]
    chance = [compare(v, traits) for seed, traits in done for name, v in vectors.items() if name != seed]
    real = [compare(vectors[name], one) for name, some in fresh.items() for one in some]
    rows: list[Sequence[str]] = []
    for trait in TRAITS:
        cells = [_share(found, trait.name) for found in (own, chance, real)]
        pairs = [(vectors[seed].values.get(trait.name), traits.values.get(trait.name)) for seed, traits in done]
        rows.append([trait.words, trait.tier, *cells, _correlation(pairs)])
    return ("trait", "tier", "kept", "by chance", "real again", "correlation"), rows


def _share(found: Sequence[Mapping[str, bool]], name: str) -> str:
    known = [one[name] for one in found if name in one]
    return f"{mean(known):.0%}" if known else "-"


def _correlation(pairs: Sequence[tuple[float | str | None, float | str | None]]) -> str:
    numbers = [(a, b) for a, b in pairs if isinstance(a, float) and isinstance(b, float)]
    if len(numbers) < 10 or len({a for a, _ in numbers}) < 2 or len({b for _, b in numbers}) < 2:
        return "-"
    return f"{np.corrcoef(np.array(numbers).T)[0, 1]:.2f}"


def by_seed(
    seeds: Sequence[SeedTask], vectors: Mapping[str, FidelityVector], tasks: Sequence[Made]
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Say of each seed what its tasks keep, and how they differ among themselves."""
    rows: list[Sequence[str]] = []
    for seed in seeds:
        own = [one for one in tasks if one.seed == seed.id]
        done = [one for one in own if one.traits]
        shares = [share for one in done if one.traits for share in compare(vectors[seed.id], one.traits).values()]
        rows.append(
            [
                seed.id,
                f"{len(done)} of {len(own)}",
                f"{mean(shares):.0%}" if shares else "-",
                str(sum(one.reached is one.wanted for one in done)) if any(one.reached for one in done) else "-",
                str(len({one.domain for one in done})),
                str(len({one.rule for one in done})),
                str(len(near_duplicates(done))),
            ]
        )
    return ("seed", "tasks", "traits kept", "in band", "domains", "rules", "near-duplicates"), rows


if __name__ == "__main__":
    sys.exit(main())
