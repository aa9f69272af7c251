"""Whether medal hardness foretells the medals of scripts that it was not measured with, on a published release.

Run from the repository root: python -m benchmarks.medal_hardness releases/x
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import sandmill
from sandmill.calibrate.panel import open_panel
from sandmill.kinds.files.folder import write_files
from sandmill.kinds.table.kind import TABLE
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration, Tier
from sandmill.models.reports import Medal
from sandmill.pipeline.workers import WorkerPool
from sandmill.score import get_metric
from sandmill.score.gap import gap_closed
from sandmill.score.medals import medal_of
from sandmill.score.submission import read_answers

RESAMPLES = 2000
MOST_ROWS = 3000
"""Rows of the final part that scripts answer."""


@dataclass(frozen=True)
class Tried:
    """Final scores of the held-out scripts on one task."""

    task_id: str
    calibration: Calibration
    finals: Mapping[str, float]
    failures: Mapping[str, str]

    def share(self, *medals: Medal) -> float:
        """Return the share of the scripts that win one of some medals."""
        bars, lower = self.calibration.thresholds, self.calibration.is_lower_better
        won = [medal_of(final, bars, lower) in medals for final in self.finals.values()]
        return float(np.mean(won))

    @property
    def gap(self) -> float:
        """Median share of the gap that the scripts close."""
        ends = self.calibration.trivial, self.calibration.oracle
        return float(np.median([gap_closed(final, *ends) for final in self.finals.values()]))


def try_scripts(piece: tuple[str, str]) -> Tried:
    """Run all held-out scripts on the public files of a task."""
    from sklearn import config_context
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from benchmarks.held_out_scripts import BLENDS, SCRIPTS
    from sandmill.calibrate.solvers.decisions import decide

    release, task_id = piece
    record, package = (found := sandmill.load(release)).record(task_id), found.package(task_id)
    metric, answers = get_metric(package.facts.metric), read_answers(package.private["answers.csv"], package.facts)
    rows = np.flatnonzero(answers.part(Part.FINAL))[:MOST_ROWS]
    truth, finals, failures = answers.truth[rows], {}, {}
    with TemporaryDirectory(prefix="sandmill-held-out-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_files(Path(name), package.public)
        panel = open_panel(Path(name), package.facts).aside(rows)
        with threadpool_limits(1), config_context(skip_parameter_validation=True), np.errstate(all="ignore"):
            for script, solver in (*SCRIPTS.items(), *BLENDS.items()):
                run = panel.run_solver(script, Tier.NAIVE, partial(_named, solver, script), lambda: decide)
                if run.has_run:
                    finals[script] = metric.rounded(truth, run.prediction)
                else:
                    failures[script] = run.failure or ""
    return Tried(task_id, record.calibration, finals, failures)


def _named(solver: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """Give a solver the name under which its runs are cached."""
    solver.__name__ = name
    return solver


def report(tried: Sequence[Tried]) -> Iterator[str]:
    """Write rank correlations with the medals of the scripts, and what each script wins."""
    measured = [one for one in tried if one.calibration.medal_hardness]
    hardness = [one.calibration.medal_hardness.value for one in measured if one.calibration.medal_hardness]
    difficulty = [one.calibration.difficulty.value for one in measured]
    outcomes = {
        "gold": [one.share(Medal.GOLD) for one in measured],
        "silver or better": [one.share(Medal.GOLD, Medal.SILVER) for one in measured],
        "any medal": [one.share(*Medal) for one in measured],
        "share of the gap": [one.gap for one in measured],
    }
    yield "| of held-out scripts | mean | Spearman with medal hardness | with difficulty |"
    yield "|---|---:|---:|---:|"
    for name, values in outcomes.items():
        cells = [f"{np.mean(values):.2f}", _with_interval(hardness, values), _with_interval(difficulty, values)]
        yield f"| {name} | {' | '.join(cells)} |"
    yield "\n| script | tasks | silver or better | any medal | median gap |"
    yield "|---|---:|---:|---:|---:|"
    for name in dict.fromkeys(name for one in tried for name in one.finals):
        some = [one for one in tried if name in one.finals]
        won = [medal_of(one.finals[name], one.calibration.thresholds, one.calibration.is_lower_better) for one in some]
        gaps = [gap_closed(one.finals[name], one.calibration.trivial, one.calibration.oracle) for one in some]
        shares = [np.mean([medal in medals for medal in won]) for medals in ((Medal.GOLD, Medal.SILVER), tuple(Medal))]
        yield f"| {name} | {len(some)} | {shares[0]:.0%} | {shares[1]:.0%} | {np.median(gaps):.2f} |"


def _with_interval(one: Sequence[float], other: Sequence[float]) -> str:
    """Write a rank correlation with a 90 % interval from a bootstrap over tasks; nothing where all values are equal."""
    if min(len(set(one)), len(set(other))) < 2:
        return "-"
    rng, pairs = np.random.default_rng(0), np.array([one, other])
    samples = (pairs[:, rng.integers(len(one), size=len(one))] for _ in range(RESAMPLES))
    drawn = [spearmanr(*sample).statistic for sample in samples if np.ptp(sample, axis=1).all()]
    low, high = np.quantile(drawn, [0.05, 0.95])
    return f"{spearmanr(one, other).statistic:+.2f} [{low:+.2f}, {high:+.2f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from benchmarks.medal_hardness import Tried, try_scripts  # by their own names: workers cannot import __main__

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="a release with its private half")
    parser.add_argument("--tasks", type=int, default=48, help="most tables to try")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    release = sandmill.load(given.release)
    tables = [task_id for task_id in release.task_ids if release.record(task_id).facts.kind == TABLE.name]
    pieces = [(release.ref, task_id) for task_id in tables[: given.tasks]]
    with WorkerPool(given.workers) as pool:
        results = [result for _, result in pool.map(try_scripts, pieces, 600)]
    for error in (result for result in results if isinstance(result, Exception)):
        raise error
    tried = [result for result in results if isinstance(result, Tried)]
    print(f"{len(tried)} tables of {release.ref}; ", end="")
    print(f"{sum(len(one.failures) for one in tried)} runs of scripts failed.\n")
    print("\n".join(report(tried)))


if __name__ == "__main__":
    main()
