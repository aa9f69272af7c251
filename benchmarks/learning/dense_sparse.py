"""Dense rewards against sparse ones: `sandmle-paper` and `gap` against 0.1 format + 0.9 gold.

Run from the repository root: python -m benchmarks.learning.dense_sparse --release REF --real FOLDER
All arms start from the same supervised policy and use TRL's GRPO. An answer with a complete Python block has the format
rate 1, so that the sparse reward is that of the paper.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.learning import claims
from benchmarks.learning.claim_bench import LEARNING_RATE, Bench, teacher_examples
from benchmarks.learning.claims import Arm, ArmResult
from sandmill.learning.episode_executor import EpisodeExecutor
from sandmill.learning.plots import forest_plot, learning_curves
from sandmill.learning.results import Scored
from sandmill.learning.statistics import any_medal, is_valid, mean_interval, mean_of, paired_difference
from sandmill.models.rollout import Rollout
from sandmill.rewards import Gap, Reward, SandmlePaper, Sparse
from sandmill.trainers.answers import last_script

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy

SFT, SPARSE = "sft", "sparse"
FORMAT = 0.1
REWARDS: dict[str, Reward] = {
    "gap": Gap(),
    "sandmle-paper": SandmlePaper(format_weight=FORMAT),
    SPARSE: Sparse(format_weight=FORMAT),
}


class FormatRunner:
    """Sets the format rate of each rollout: 1 if the answer has a complete Python block, else 0."""

    def __init__(self, executor: EpisodeExecutor) -> None:
        self._executor = executor

    @property
    def requested(self) -> int:
        """Answers asked for."""
        return self._executor.requested

    @property
    def executed(self) -> int:
        """Scripts that ran."""
        return self._executor.executed

    def rollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        """Run answers, each on its task."""
        return [
            rollout.model_copy(update={"format_rate": float(bool(last_script(answer)))})
            for rollout, (_, answer) in zip(self._executor.rollouts(pairs), pairs, strict=True)
        ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train all arms, and print the table."""
    request = claims.parse("dense_sparse", __doc__, arguments, updates=40)
    found = claims.run_arms(request, arms(Bench(request)))
    rows = claims.rows_of(found)
    text = "\n\n".join([_table(found, rows), *_contrasts(rows)])
    curves = {
        name: [[(one["update"], one["flat_groups"]) for one in result.curve] for result in seeds.values()]
        for name, seeds in found.items()
        if name != SFT
    }
    charts = {
        "flat_groups": learning_curves(
            curves, title="Groups whose rewards are all equal", value="share", per="updates"
        ),
        "gaps": forest_plot(row for group in rows.values() for row in group),
    }
    claims.publish(request, found, text, charts)


def arms(bench: Bench) -> dict[str, Arm]:
    """Return all arms by name."""
    start: dict[str, Arm] = {SFT: lambda seed: ArmResult(bench.score(SFT, sft(bench, seed), seed), [])}
    return {**start, **{name: partial(_train, bench, name) for name in REWARDS}}


def sft(bench: Bench, seed: int) -> "MicroPolicy":
    """Return the policy that imitates the teacher."""
    return bench.start(seed, "teacher", lambda: teacher_examples(bench))


def grpo(bench: Bench, policy: "MicroPolicy", reward: Reward, seed: int, folder: Path) -> "claims.Trained":
    """Train a policy with TRL's GRPO, and return it with its curve."""
    from sandmill.learning.grpo import train
    from sandmill.learning.policy_settings import GrpoSettings

    settings = GrpoSettings(
        updates=bench.request.updates, tasks=bench.groups, samples=bench.samples, learning_rate=LEARNING_RATE
    )
    runner = FormatRunner(bench.executor)
    trained, curve = train(policy, bench.train, runner, settings, seed=seed, folder=folder, reward=reward)
    rows = [{name: float(value) for name, value in row if isinstance(value, int | float)} for row in curve]
    return claims.Trained(trained, [row for row in rows if "flat_groups" in row])


def _train(bench: Bench, name: str, seed: int) -> ArmResult:
    with TemporaryDirectory(prefix="sandmill-grpo-") as folder:
        trained = grpo(bench, sft(bench, seed), REWARDS[name], seed, Path(folder))
        return ArmResult(bench.score(name, trained.policy, seed), trained.curve)


def _table(found: Mapping[str, Mapping[int, ArmResult]], rows: Mapping[str, list[Scored]]) -> str:
    lines = []
    for name, group in rows.items():
        sampled = [row for row in group if row.temperature]
        curves = [result.curve for result in found[name].values() if result.curve]
        flat = [sum(one["flat_groups"] for one in curve) / len(curve) for curve in curves]
        lines.append(
            (
                name,
                claims.number(mean_interval(sampled, any_medal)),
                f"{mean_of([row for row in group if not row.temperature], any_medal):.3f}",
                claims.number(mean_interval(sampled)),
                f"{100 * mean_of(sampled, is_valid):.0f} %",
                claims.over_seeds(flat) if flat else "-",
            )
        )
    header = ("reward", "any medal, T = 1", "any medal, greedy", "gap, T = 1", "valid", "groups without variance")
    return claims.markdown(header, lines)


def _contrasts(rows: Mapping[str, list[Scored]]) -> list[str]:
    lines = []
    for name in REWARDS:
        if name == SPARSE or not {name, SPARSE} <= rows.keys():
            continue
        arm, other = ([row for row in rows[one] if row.temperature] for one in (name, SPARSE))
        medals = (paired_difference(arm, other, any_medal), claims.gain(arm, other, any_medal))
        lines.append((f"{name} against {SPARSE}", *medals, paired_difference(arm, other)))
    header = ("contrast", "difference in medals", "relative", "difference in gap")
    return [claims.markdown(header, lines)] if lines else []


if __name__ == "__main__":
    claims.run(main)
