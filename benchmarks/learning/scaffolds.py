"""Unseen scaffolds: the gain of GRPO over supervised fine-tuning under two ways of calling that training never saw.

Run from the repository root: python -m benchmarks.learning.scaffolds --release REF --real FOLDER
Best of 3: sample three scripts, and grade the one with the best feedback. Draft then improve: sample a script, keep the
first half of its fragments, write the rest anew, and grade the one with the better feedback. The measure is
(entries - place + 1) / entries on the leaderboard of each table. Each policy has the sampling temperature that is best
for it on training tasks.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.learning import claims
from benchmarks.learning.claim_bench import Bench
from benchmarks.learning.claims import Arm, ArmResult, Point
from benchmarks.learning.dense_sparse import REWARDS, grpo, sft
from sandmill.learning.evaluate import best_temperature, evaluate_temperatures
from sandmill.learning.learner import MicroLearner
from sandmill.learning.plots import difference_plot
from sandmill.learning.results import Scored
from sandmill.learning.scaffolds import ArmLabels, best_on_feedback, draft_then_improve
from sandmill.learning.statistics import gap, mean_interval, mean_of, paired_difference, place

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy
    from sandmill.learning.task_sets import LearningTask
    from sandmill.models.rollout import Rollout

SFT, GRPO = "sft", "grpo"
ONE, BEST, IMPROVE = "one script", "best of 3", "draft then improve"
KEPT = 0.5
"""Share of a draft that is kept."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both policies, call them in three ways, and print the table."""
    request = claims.parse("scaffolds", __doc__, arguments, updates=40)
    found = claims.run_arms(request, arms(Bench(request)))
    calls = by_call(claims.rows_of(found))
    text = _table(calls)
    charts = {
        call.replace(" ", "_"): difference_plot(calls[GRPO, call], calls[SFT, call], title=f"GRPO against SFT, {call}")
        for call in (ONE, BEST, IMPROVE)
        if {(GRPO, call), (SFT, call)} <= calls.keys()
    }
    claims.publish(request, found, text, charts)


def arms(bench: Bench) -> dict[str, Arm]:
    """Return both arms by name."""
    return {SFT: partial(_sft, bench), GRPO: partial(_grpo, bench)}


def call_rows(bench: Bench, arm: str, policy: "MicroPolicy", seed: int) -> list[Scored]:
    """Return the rows of a policy under all ways of calling it."""
    learner = MicroLearner(policy)
    tried = evaluate_temperatures(arm, policy, bench.train, bench.executor, samples=min(2, bench.calls), seed=seed)
    temperature = best_temperature(tried)
    rows: list[Scored] = []
    for call in range(bench.calls):

        def write(tasks: "Sequence[LearningTask]", n: int, *, number: int = call) -> list[list[str]]:
            facts = [task.facts for task in tasks]
            return learner.sample(facts, n=n, temperature=temperature, seed=bench.calls * seed + number)

        def rewrite(
            tasks: "Sequence[LearningTask]", drafts: Sequence[str], rollouts: "Sequence[Rollout]", *, number: int = call
        ) -> list[str]:
            facts, new_seed = [task.facts for task in tasks], bench.calls * seed + number
            return learner.rewrite(facts, drafts, keep=KEPT, temperature=temperature, seed=new_seed)

        for name, scripts in ((ONE, 1), (BEST, 3)):
            names = ArmLabels(f"{arm}: {name}", seed, temperature)
            rows += numbered(best_on_feedback(write, bench.held_out, bench.executor, names, scripts=scripts), call)
        names = ArmLabels(f"{arm}: {IMPROVE}", seed, temperature)
        rows += numbered(draft_then_improve(write, rewrite, bench.held_out, bench.executor, names), call)
    return rows


def numbered(rows: Sequence[Scored], call: int) -> list[Scored]:
    """Return rows with the number of their call."""
    return [row.model_copy(update={"sample": call}) for row in rows]


def by_call(rows: Mapping[str, Sequence[Scored]]) -> dict[tuple[str, str], list[Scored]]:
    """Return rows by arm and way of calling."""
    calls: dict[tuple[str, str], list[Scored]] = {}
    for group in rows.values():
        for row in group:
            arm, _, call = row.arm.partition(": ")
            calls.setdefault((arm, call), []).append(row)
    return calls


def _sft(bench: Bench, seed: int) -> ArmResult:
    return ArmResult(call_rows(bench, SFT, sft(bench, seed), seed), list[Point]())


def _grpo(bench: Bench, seed: int) -> ArmResult:
    with TemporaryDirectory(prefix="sandmill-grpo-") as folder:
        trained = grpo(bench, sft(bench, seed), REWARDS["gap"], seed, Path(folder))
    return ArmResult(call_rows(bench, GRPO, trained.policy, seed), trained.curve)


def _table(calls: Mapping[tuple[str, str], list[Scored]]) -> str:
    lines = []
    for call in (ONE, BEST, IMPROVE):
        if not {(SFT, call), (GRPO, call)} <= calls.keys():
            continue
        first, second = calls[GRPO, call], calls[SFT, call]
        lines.append(
            (
                call,
                claims.number(mean_interval(second, place)),
                claims.number(mean_interval(first, place)),
                paired_difference(first, second, place),
                claims.gain(first, second, place),
                f"{mean_of(second, gap):.3f} to {mean_of(first, gap):.3f}",
            )
        )
    header = ("call", "place score, SFT", "place score, GRPO", "difference", "relative gain", "gap")
    return claims.markdown(header, lines)


if __name__ == "__main__":
    claims.run(main)
