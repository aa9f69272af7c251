"""Environment instrumentation: a start of which few scripts run, with and without credit for partial progress.

Run from the repository root: python -m benchmarks.learning.instrumentation --release REF
The start imitates teacher scripts with wrong fragments, until 25 % of its scripts are valid. All arms earn the same for
a valid submission, the share of the gap. A failure earns -0.5, and with credit more for each check that its submission
passes and each marker that its script prints, always less than a valid submission. Markers are inserted into scripts by
fixed rules (`pip install 'sandmill[instrument]'`).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.learning import claims
from benchmarks.learning.claim_bench import (
    BATCH,
    FACT_DROPOUT,
    START_RATE,
    Bench,
    Example,
    draft_prompts,
    points,
    scorer,
)
from benchmarks.learning.claims import Arm, ArmResult
from sandmill.learning.async_trainer import train_async
from sandmill.learning.evaluate import SampleSettings, evaluate
from sandmill.learning.learner import MicroLearner
from sandmill.learning.plots import learning_curves
from sandmill.learning.random_scripts import random_script
from sandmill.learning.results import Scored
from sandmill.learning.statistics import area_under_curve, is_valid, mean_interval, mean_of, paired_difference
from sandmill.rewards import PartialCreditGrpo

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy

SCRIPTS = 40
"""Scripts with mistakes for each training task."""
LEAST_VALID, CHUNK, MOST_CHUNKS = 0.25, 20, 30
"""Valid share of the start's scripts, and steps between its measurements."""
FINAL, CHECKS, CREDIT = "final score alone", "checks", "checks and markers"
REWARDS = {
    FINAL: PartialCreditGrpo(check_credit=0.0, marker_credit=0.0),
    CHECKS: PartialCreditGrpo(marker_credit=0.0),
    CREDIT: PartialCreditGrpo(),
}
START = "start"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train all arms, and print the table."""
    request = claims.parse("instrumentation", __doc__, arguments, updates=40)
    found = claims.run_arms(request, arms(Bench(request, is_instrumented=True)))
    rows = claims.rows_of(found)
    text = "\n\n".join([_table(found, rows), *_contrasts(found, rows)])
    trained = {name: seeds for name, seeds in found.items() if name != START}
    charts = {
        figure: learning_curves(
            {
                name: [[(one["number"], one[figure]) for one in result.curve] for result in seeds.values()]
                for name, seeds in trained.items()
            },
            title=f"{figure} of sampled scripts".capitalize(),
            value=figure,
            per="updates",
        )
        for figure in ("gap", "valid")
    }
    claims.publish(request, found, text, charts)


def arms(bench: Bench) -> dict[str, Arm]:
    """Return all arms by name."""
    start: dict[str, Arm] = {START: lambda seed: ArmResult(bench.score(START, weak_start(bench, seed), seed), [])}
    return {**start, **{name: partial(_train, bench, name) for name in REWARDS}}


def weak_start(bench: Bench, seed: int) -> "MicroPolicy":
    """Return a policy that imitates scripts with mistakes until enough of its own scripts are valid."""
    return bench.stored(f"weak-{seed}", lambda: _imitate_mistakes(bench, seed))


def _imitate_mistakes(bench: Bench, seed: int) -> "MicroPolicy":
    from sandmill.learning.sft import Fitting

    policy, examples = bench.new_policy(seed), _with_mistakes(bench, seed)
    fitting = Fitting.start(policy, seed, "instrumentation")
    for _ in range(1 if bench.request.is_smoke else MOST_CHUNKS):
        for _ in range(CHUNK):
            fitting.fit(examples, BATCH, START_RATE / 3, FACT_DROPOUT)
        rows = evaluate(
            START, policy, bench.train, bench.executor, draws=SampleSettings(samples=4, temperature=1.0, seed=seed)
        )
        if mean_of(rows, is_valid) >= LEAST_VALID:
            break
    return policy


def _with_mistakes(bench: Bench, seed: int) -> list[Example]:
    """Return scripts with up to four wrong, missing or additional fragments."""
    generator = np.random.default_rng([seed, SCRIPTS])
    return [
        (tuple(task.facts), random_script(bench.language, generator, task.facts))
        for task in bench.train
        for _ in range(SCRIPTS)
    ]


def _train(bench: Bench, name: str, seed: int) -> ArmResult:
    policy = weak_start(bench, seed)
    score = scorer(bench.executor, REWARDS[name])
    updates = train_async(MicroLearner(policy), draft_prompts(bench), score, bench.settings(seed))
    return ArmResult(bench.score(name, policy, seed), points(updates))


def _areas(seeds: Mapping[int, ArmResult]) -> list[float]:
    """Return the area under the curve of the gap for each seed, divided by the number of updates."""
    return [area_under_curve([(one["number"], one["gap"]) for one in seeds[seed].curve]) for seed in sorted(seeds)]


def _table(found: Mapping[str, Mapping[int, ArmResult]], rows: Mapping[str, list[Scored]]) -> str:
    lines = []
    for name, group in rows.items():
        sampled = [row for row in group if row.temperature]
        curve = name != START
        lines.append(
            (
                name,
                claims.over_seeds(_areas(found[name])) if curve else "-",
                claims.number(mean_interval(sampled)),
                f"{mean_of([row for row in group if not row.temperature]):.3f}",
                f"{100 * mean_of(sampled, is_valid):.0f} %",
            )
        )
    header = ("reward", "area under the curve", "final gap, T = 1", "final gap, greedy", "valid")
    return claims.markdown(header, lines)


def _contrasts(found: Mapping[str, Mapping[int, ArmResult]], rows: Mapping[str, list[Scored]]) -> list[str]:
    """Return the table of partial credit against the final score alone."""
    lines = []
    for name in (CHECKS, CREDIT):
        if name not in found or FINAL not in found:
            continue
        arm, other = ([row for row in rows[one] if row.temperature] for one in (name, FINAL))
        areas = [first - second for first, second in zip(_areas(found[name]), _areas(found[FINAL]), strict=True)]
        base = sum(_areas(found[FINAL])) / len(areas)
        relative = f"{100 * sum(areas) / len(areas) / base:+.1f} %" if base > 0 else "-"
        final = (paired_difference(arm, other), claims.gain(arm, other))
        lines.append((f"{name} against {FINAL}", claims.over_seeds(areas), relative, *final))
    header = ("contrast", "difference of areas", "relative", "difference of final gaps", "relative")
    return [claims.markdown(header, lines)] if lines else []


if __name__ == "__main__":
    claims.run(main)
