"""Duration-aware gradients: training on batches that miss slow scripts, with and without weights.

Run from the repository root: python -m benchmarks.learning.durations_rl --release REF
The start imitates fast linear scripts (70 %) and slow ones that search or stack (30 %), which are better. Scripts are
collected on a virtual clock: the first 12 of 16 of each group, what ends before a deadline, or without an end. Weights
are inverse probabilities (`duration_weights`), or durations as in arXiv 2509.01684. Collection without an end loses
nothing, so weights by duration can only add a bias there: the negative control.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.learning import claims
from benchmarks.learning.claim_bench import Bench, Example, draft_prompts, points, run_seconds, scorer
from benchmarks.learning.claims import Arm, ArmResult
from sandmill.learning.async_trainer import train_async
from sandmill.learning.collection import CollectionSettings
from sandmill.learning.learner import MicroLearner
from sandmill.learning.plots import forest_plot, learning_curves
from sandmill.learning.results import Scored
from sandmill.learning.statistics import mean_interval, mean_of, paired_difference
from sandmill.learning.teacher import pipelines

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy

FAST = ("linear", "linear_firm", "plain_linear", "discriminant", "plain_tree", "shallow_tree", "naive_bayes")
SLOW = ("chosen_of_four", "chosen", "stack")
SLOW_SHARE = 0.3
"""Share of slow scripts in the examples of the start."""
WORKERS = 8
WINDOW = 2.0
"""Length of the window, in median durations of slow scripts."""
START = "start"
WEIGHINGS = {"": "none", " weighted": "inverse-probability", " by duration": "duration"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train all arms, and print the table."""
    request = claims.parse("durations_rl", __doc__, arguments, updates=30, tasks=20)
    bench = Bench(request)
    fast, slow = (median_seconds(bench, names[: 2 if request.is_smoke else None]) for names in (FAST, SLOW))
    found = claims.run_arms(request, arms(bench, WINDOW * slow))
    rows = claims.rows_of(found)
    limit = float(np.sqrt(fast * slow))
    text = "\n\n".join([_table(found, rows, limit), *_contrasts(rows, limit)])
    text += f"\n\nMedian seconds: fast scripts {fast:.2f}, slow ones {slow:.2f}; a script over {limit:.2f} s is slow."
    curves = {
        name: [[(one["elapsed"], one["gap"]) for one in result.curve] for result in seeds.values()]
        for name, seeds in found.items()
        if name != START
    }
    sampled = [row for group in rows.values() for row in group if row.temperature]
    charts = {
        "curves": learning_curves(curves, title="Gap of sampled scripts", value="gap", per="virtual seconds"),
        "gaps": forest_plot(sampled, title="Share of the gap on held-out tasks"),
    }
    claims.publish(request, found, text, charts)


def arms(bench: Bench, window: float) -> dict[str, Arm]:
    """Return all arms by name."""
    made: dict[str, Arm] = {START: lambda seed: ArmResult(bench.score(START, _start(bench, seed), seed), [])}
    facts = {"first": 3 * bench.samples // 4, "workers": WORKERS, "window": window}
    plans = {
        "complete": ("complete", [""]),
        "first-k": ("first_k", [*WEIGHINGS]),
        "deadline": ("deadline", [*WEIGHINGS]),
    }
    plans["continuous"] = ("continuous", ["", " by duration"])
    for name, (sampling, weighings) in plans.items():
        for weighing in weighings:
            values = {**facts, "sampling": sampling, "weighing": WEIGHINGS[weighing]}
            collection = CollectionSettings.model_validate(values)
            made[name + weighing] = partial(_train, bench, name + weighing, collection)
    return made


def median_seconds(bench: Bench, names: Sequence[str]) -> float:
    """Return the median duration of some pipelines on the training tasks; a script that was stopped has its limit."""
    chosen = pipelines(bench.language)
    pairs = [(task.id, bench.language.answer(chosen[name](task.facts))) for task in bench.train for name in names]
    return median(run_seconds(rollout) for rollout in bench.executor.rollouts(pairs) if not rollout.mask)


def _start(bench: Bench, seed: int) -> "MicroPolicy":
    return bench.start(seed, "durations", lambda: _examples(bench, seed))


def _examples(bench: Bench, seed: int) -> list[Example]:
    """Return fast and slow scripts for each training task, in their shares."""
    chosen, generator = pipelines(bench.language), np.random.default_rng([seed, len(FAST)])
    examples = []
    for task in bench.train:
        for _ in range(40):
            names = SLOW if generator.random() < SLOW_SHARE else FAST
            script = chosen[names[int(generator.integers(len(names)))]](task.facts)
            examples.append((tuple(task.facts), tuple(script)))
    return examples


def _train(bench: Bench, name: str, collection: CollectionSettings, seed: int) -> ArmResult:
    policy = _start(bench, seed)
    settings = bench.settings(seed, collection=collection)
    updates = train_async(MicroLearner(policy), draft_prompts(bench), scorer(bench.executor), settings)
    return ArmResult(bench.score(name, policy, seed), points(updates))


def _slow_good(row: Scored, limit: float, start: Mapping[str, float]) -> float:
    return float(row.seconds > limit and row.gap > start.get(row.task_id, 0.0))


def _start_gaps(rows: Mapping[str, list[Scored]]) -> dict[str, float]:
    """Return the mean gap of the start on each task; a better script is good."""
    gaps: dict[str, list[float]] = {}
    for row in rows.get(START, []):
        if row.temperature:
            gaps.setdefault(row.task_id, []).append(row.gap)
    return {task: float(np.mean(values)) for task, values in gaps.items()}


def _table(found: Mapping[str, Mapping[int, ArmResult]], rows: Mapping[str, list[Scored]], limit: float) -> str:
    start = _start_gaps(rows)
    lines = []
    for name, group in rows.items():
        sampled = [row for row in group if row.temperature]
        curves = [result.curve for result in found[name].values()]
        elapsed = np.mean([curve[-1]["elapsed"] for curve in curves]) if curves and curves[0] else 0.0
        dropped = np.mean(
            [one["dropped"] / max(1.0, one["dropped"] + one["collected"]) for curve in curves for one in curve] or [0]
        )
        lines.append(
            (
                name,
                claims.number(mean_interval(sampled)),
                f"{mean_of([row for row in group if not row.temperature]):.3f}",
                claims.number(mean_interval(sampled, lambda row: _slow_good(row, limit, start))),
                f"{mean_of(sampled, lambda row: row.seconds):.2f}",
                f"{100 * dropped:.0f} %",
                f"{elapsed:.0f}",
            )
        )
    header = (
        "collected",
        "gap, T = 1",
        "gap, greedy",
        "slow and good",
        "seconds a script",
        "dropped",
        "virtual seconds",
    )
    return claims.markdown(header, lines)


def _contrasts(rows: Mapping[str, list[Scored]], limit: float) -> list[str]:
    """Return the table of weighted against unweighted arms."""
    start, lines = _start_gaps(rows), []
    for scheme in ("first-k", "deadline", "continuous"):
        for weighing in (" weighted", " by duration"):
            if scheme not in rows or scheme + weighing not in rows:
                continue
            arm, other = ([row for row in rows[name] if row.temperature] for name in (scheme + weighing, scheme))
            lines.append(
                (
                    f"{scheme}{weighing} against none",
                    paired_difference(arm, other),
                    claims.gain(arm, other),
                    paired_difference(arm, other, lambda row: _slow_good(row, limit, start)),
                )
            )
    header = ("weights", "difference in gap", "relative", "difference in slow and good")
    return [claims.markdown(header, lines)] if lines else []


if __name__ == "__main__":
    claims.run(main)
