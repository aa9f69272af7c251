"""How often an average of the panel's own searches, which is on no board, would be gold; and the best single entries.

Run from the repository root: python -m benchmarks.mixtures --tasks 100, or for tasks of all kinds that a release has,
python -m benchmarks.mixtures --release releases/lite. Kinds with a panel of their own have no average.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.first_tries import SECRET
from sandmill.calibrate.panel import PanelRun, run_panel
from sandmill.kinds.files.folder import write_files
from sandmill.models.base import Band
from sandmill.models.calibration import Calibration, Tier
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskPackage
from sandmill.models.plan import Attempt, Slot
from sandmill.models.reports import Medal
from sandmill.models.request import BuildRequest
from sandmill.pipeline.attempt import AttemptJob, Failed, run_attempt
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.workers import WorkerPool
from sandmill.score import get_metric
from sandmill.score.medals import medal_of
from sandmill.score.submission import read_answers
from sandmill.seeds import ingest
from sandmill.store.release import load

MIXTURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "every search": (
            "auto_search",
            "auto_process",
            "auto_encoded",
            "auto_crosses",
            "sparse_process",
            "repair_search",
            "encoding_search",
            "random_forest",
        ),
        "linear and smooth": ("auto_search", "auto_process", "sparse_process"),
        "defaults": ("linear", "random_forest", "extra_trees", "hist_boosting", "support_vectors"),
    }
)
"""Averages that a person would write once and use for every task."""


def golds_of(slot: Slot) -> tuple[Band, frozenset[str]] | str:
    """Measure a first try of any band: what is gold on it, entries and mixtures; or why there is no task."""
    attempt = Attempt(slot, 0, 1, 0, first_hardness(slot.seed.structure, slot.band), any_band=True)
    made = run_attempt(AttemptJob(attempt, "mixtures", SECRET)).result
    if isinstance(made, Failed):
        return made.error.reason
    return golds_among(made.package, made.calibration)


def golds_in(release: str, task_id: str) -> tuple[Band, frozenset[str]]:
    """Measure a task of a release."""
    stored = load(release)
    return golds_among(stored.package(task_id), stored.record(task_id).calibration)


def golds_among(package: TaskPackage, calibration: Calibration) -> tuple[Band, frozenset[str]]:
    """Return the difficulty band of a task, and the names of blind solvers and averages that win gold on it."""
    golds = {
        entry.solver
        for entry in calibration.board
        if entry.tier is not Tier.READER and is_gold(entry.final, calibration)
    }
    if kind_named(package.facts.kind).panel:
        return calibration.difficulty.band, frozenset(golds)
    with TemporaryDirectory() as folder:
        write_files(Path(folder), package.public)
        members = sorted({name for names in MIXTURES.values() for name in names})
        runs = {run.name: run for run in run_panel(Path(folder), package.facts, members) if run.has_run}
    answers, metric = read_answers(package.private["answers.csv"], package.facts), get_metric(package.facts.metric)
    final = answers.is_final
    for mixture, names in MIXTURES.items():
        prediction = average([runs[name] for name in names if name in runs], final)
        if is_gold(round(metric.own_score(answers.truth[final], prediction), 5), calibration):
            golds.add(f"mixture: {mixture}")
    return calibration.difficulty.band, frozenset(golds)


def average(runs: Sequence[PanelRun], rows: np.ndarray) -> np.ndarray:
    """Average what runs say of each row, and answer with that."""
    together = [np.mean([run.scores[place] for run in runs], axis=0) for place in range(len(runs[0].scores))]
    assert runs[0].answer is not None
    return np.asarray(runs[0].answer([column[rows] for column in together]))


def is_gold(score: float, calibration: Calibration) -> bool:
    """Whether a score earns gold."""
    return medal_of(score, calibration.thresholds, calibration.is_lower_better) is Medal.GOLD


def _work(given: argparse.Namespace) -> tuple[Callable[[Any], Any], Sequence[Any], str]:
    """Return what measures an item, the items, and what they are called."""
    from benchmarks.mixtures import golds_in, golds_of  # by their own name: worker processes cannot import __main__

    if given.release:
        return partial(golds_in, given.release), load(given.release).task_ids, "tasks"
    plan = plan_build(BuildRequest(name="bench", tasks=given.tasks, seed=given.seed), ingest(()))
    return golds_of, plan_slots(plan), "first tries"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100, help="first tries, of any band")
    parser.add_argument("--release", help="measure its tasks in place of first tries; needs the private half")
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    measure, items, tried = _work(given)
    with WorkerPool(given.workers) as pool:
        results = [result for _, result in pool.map(measure, items, 600)]
    for error in (result for result in results if isinstance(result, Exception)):
        raise error
    measured = [result for result in results if isinstance(result, tuple)]
    golds = Counter(name for _, winners in measured for name in winners)
    winners = median(len([name for name in names if not name.startswith("mixture")]) for _, names in measured)
    print(f"{len(measured)} tasks of {len(items)} {tried}; {winners:g} entries are gold on the median task.\n")
    print("| script | gold | " + " | ".join(f"{band}" for band in Band) + " |\n|---|---:|" + "---:|" * len(Band))
    entries = [name for name, _ in golds.most_common() if not name.startswith("mixture")][:6]
    for name in (*entries, *(f"mixture: {mixture}" for mixture in MIXTURES)):
        of_band = [[name in winners for band, winners in measured if band is wanted] for wanted in Band]
        cells = [f"{np.mean(won):.0%}" if won else "" for won in of_band]
        print(f"| {name} | {golds[name] / len(measured):.0%} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
