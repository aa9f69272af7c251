"""The arms of the proof. Each trained arm is one unit for each seed; all start from the same SFT policy of the seed."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.learning.proof_data import DEVELOPMENT, ProofData
from benchmarks.learning.proof_progress import ProofPlan, ProofProgress
from benchmarks.learning.proof_settings import ProofSettings
from benchmarks.learning.units import Counts, Outcome, UnitResult, Work, run_unit
from sandmill.fingerprint import fingerprint
from sandmill.learning import grpo, sft
from sandmill.learning.baseline_arms import BASELINES, choose_baselines, score_baselines
from sandmill.learning.curves import CurveRow
from sandmill.learning.evaluate import SampleSettings, best_temperature, evaluate, evaluate_temperatures
from sandmill.learning.executions import Executor
from sandmill.learning.language import load_language
from sandmill.learning.policy import MicroPolicy
from sandmill.learning.policy_settings import RejectionSettings
from sandmill.learning.results import Scored, write_atomically
from sandmill.learning.statistics import mean_of
from sandmill.learning.summary import keep_sources
from sandmill.learning.task_sets import LearningTask, TaskSet
from sandmill.rewards import Reward

SFT, REJECTION, COOLED = "sft", "rejection", "sft-best-temperature"
_POLICY, _TRAINING, _ASKED = "policy", "training", "asked.json"


class Proof:
    """Runs units in order. Each is read from its folder if it is complete."""

    def __init__(self, settings: ProofSettings, data: ProofData, progress: ProofProgress) -> None:
        self.settings, self.data = settings, data
        self.progress, self.say = progress, progress.say
        tested, validation = len(data.development) + len(data.final), len(data.validation)
        self.plan = ProofPlan(settings, tested, len(data.development), validation)
        self.root = settings.to / "units"
        self._tested = {
            "tasks": fingerprint([task.digest for task in [*data.development.tasks(), *data.final.tasks()]]),
            "samples": settings.samples,
            "timeout": settings.timeout,
        }

    def start(self, seed: int) -> UnitResult:
        """Train and score SFT."""

        def work(folder: Path) -> Outcome:
            policy = MicroPolicy.create(load_language(), seed)
            settings = self.settings.sft()
            tasks = self.data.training.tasks()
            policy, curve = sft.train(
                policy,
                tasks,
                settings,
                seed=seed,
                folder=folder / _TRAINING,
                listen=lambda row: self.say(f"{SFT} seed {seed}: {row.line}"),
            )
            policy.save(folder / _POLICY)
            return self.score(SFT, policy, seed), curve, Counts()

        return self.unit(SFT, seed, self.settings.sft().model_dump(mode="json"), work, self.plan.scored)

    def policy(self, arm: str, seed: int) -> MicroPolicy:
        """Load the policy of a unit that is complete."""
        return MicroPolicy.load(self.root / f"{arm}-seed{seed}" / _POLICY)

    def cooled(self, seeds: Sequence[int]) -> list[UnitResult]:
        """Score SFT at one temperature, which the development tables choose with the first seed."""
        samples, start = self.settings.samples, self.settings.sft().model_dump(mode="json")

        def try_temperatures(folder: Path) -> Outcome:
            policy, tasks = self.policy(SFT, seeds[0]), self.data.development.tasks()
            tester = self.data.tester()
            rows = evaluate_temperatures(COOLED, policy, tasks, tester, samples=samples, seed=seeds[0])
            return rows, (), Counts()

        tried = self.unit("sft-temperatures", seeds[0], {"start": start}, try_temperatures, self.plan.temperatures)
        temperature = best_temperature(tried.rows)
        self.say(f"{COOLED}: T = {temperature:g} is best on development tables")

        def score(seed: int, folder: Path) -> Outcome:
            draws = SampleSettings(samples=samples, temperature=temperature, seed=seed)
            rows = evaluate(COOLED, self.policy(SFT, seed), self.real_tasks(), self.data.tester(), draws=draws)
            return rows, (), Counts()

        settings = {"start": start, "temperature": temperature}
        return [self.unit(COOLED, seed, settings, partial(score, seed), self.plan.cooled) for seed in seeds]

    def rejection(self, seeds: Sequence[int]) -> list[UnitResult]:
        """Tune rejection fine-tuning on the development tables with the first seed, and train the other seeds."""
        variants = self.settings.rejection_variants()
        tried = [self._rejection(place, variant, seeds[0]) for place, variant in enumerate(variants)]
        scores = [_development_score(result) for result in tried]
        best = scores.index(max(scores))
        shown = ", ".join(f"{score:.3f}" for score in scores)
        self.say(f"rejection: variants have {shown} on development tables; variant {best} is used")
        results = [tried[best], *(self._rejection(best, variants[best], seed) for seed in seeds[1:])]
        return [_renamed(result, REJECTION) for result in results]

    def grpo(
        self,
        arm: str,
        seed: int,
        *,
        reward: str | Reward = "gap",
        choose: Callable[[Executor], Sequence[LearningTask]] | None = None,
        more: TaskSet | None = None,
        is_validated: bool = True,
        note: Any = None,
    ) -> UnitResult:
        """Train and score GRPO.

        Args:
            arm: name of the arm.
            seed: of the training.
            reward: name of a preset, or a reward.
            choose: returns the training tasks, and may run scripts for that, which count. None means all tasks.
            more: tasks that the executor needs beside those of the release.
            is_validated: whether validation tasks choose the checkpoint; otherwise it is the last one.
            note: JSON data on what else is different, such as the choice of tasks.
        """
        settings = self.settings.grpo()
        name = reward if isinstance(reward, str) else reward.preset

        def work(folder: Path) -> Outcome:
            runner = self.data.learner(more)
            tasks = choose(runner) if choose else self.data.training.tasks()
            policy, curve = grpo.train(
                self.policy(SFT, seed),
                tasks,
                runner,
                settings,
                seed=seed,
                folder=folder / _TRAINING,
                reward=reward,
                validation=self.data.validation.tasks() if is_validated else (),
                listen=lambda row: self.say(f"{arm} seed {seed}: {row.line}"),
                explain=self.say,
            )
            policy.save(folder / _POLICY)
            return self.score(arm, policy, seed), curve, _counts(runner, curve)

        described: dict[str, Any] = {"grpo": settings.model_dump(mode="json"), "reward": name, "note": note}
        described["start"] = self.settings.sft().model_dump(mode="json")
        return self.unit(arm, seed, described, work, self.plan.grpo)

    def baselines(self, arm: str) -> tuple[UnitResult, Mapping[str, int]]:
        """Choose all baselines, or the best single pipeline alone, on training tasks, and score them.

        Returns the unit, and how many scripts each baseline asked for.
        """
        budget = self.settings.baseline_budget

        def work(folder: Path) -> Outcome:
            runner = self.data.learner()
            names = BASELINES if arm == "baselines" else (arm,)
            tasks = self.data.training.tasks()
            arms, asked = choose_baselines(load_language(), tasks, runner, budget=budget, names=names)
            write_atomically(folder / _ASKED, json.dumps(asked) + "\n")
            rows = score_baselines(arms, self.real_tasks(), self.data.tester())
            return rows, (), Counts(requested=max(asked.values()), executed=runner.executed)

        result = self.unit(arm, 0, {"budget": budget}, work, self.plan.baselines(arm))
        return result, json.loads((self.root / f"{arm}-seed0" / _ASKED).read_text("utf-8"))

    def real_tasks(self) -> list[LearningTask]:
        """Return the tasks of both parts."""
        return [*self.data.development.tasks(), *self.data.final.tasks()]

    def score(
        self, arm: str, policy: MicroPolicy, seed: int, facts: Mapping[str, Sequence[str]] | None = None
    ) -> list[Scored]:
        """Return greedy rows and rows at temperature 1 on all real tables."""
        runner, rows = self.data.tester(), []
        for draws in (
            SampleSettings(seed=seed),
            SampleSettings(samples=self.settings.samples, temperature=1.0, seed=seed),
        ):
            rows += evaluate(arm, policy, self.real_tasks(), runner, draws=draws, facts=facts)
        return rows

    def unit(
        self,
        arm: str,
        seed: int,
        settings: Mapping[str, Any],
        work: Work,
        planned: int,
    ) -> UnitResult:
        """Run a unit of about `planned` scripts, or read it, and say so. Its key names the tasks it depends on."""
        learned = fingerprint([task.digest for task in [*self.data.training.tasks(), *self.data.validation.tasks()]])
        with self.progress.unit(f"{arm} seed {seed}", planned):
            key = {**settings, "tested": self._tested, "learned": learned}
            result = run_unit(self.root, arm, seed, key, work)
        mean = mean_of(keep_sources(result.rows, DEVELOPMENT))
        asked = result.counts.requested
        self.say(f"{arm} seed {seed}: gap on development tables {mean:.3f}, {asked} executions, {result.seconds:.0f} s")
        return result

    def _rejection(self, place: int, settings: RejectionSettings, seed: int) -> UnitResult:
        from sandmill.learning import rejection

        arm = f"{REJECTION}-{place}"

        def work(folder: Path) -> Outcome:
            runner = self.data.learner()
            policy, curve = rejection.train(
                self.policy(SFT, seed),
                self.data.training.tasks(),
                runner,
                settings,
                seed=seed,
                folder=folder / _TRAINING,
                listen=lambda row: self.say(f"{arm} seed {seed}: {row.line}"),
            )
            policy.save(folder / _POLICY)
            return self.score(arm, policy, seed), curve, _counts(runner, curve)

        start = self.settings.sft().model_dump(mode="json")
        described = {"rejection": settings.model_dump(mode="json"), "start": start}
        return self.unit(arm, seed, described, work, self.plan.rejection)


def _development_score(result: UnitResult) -> float:
    """Return the mean of greedy and sampled gap on development tables."""
    rows = keep_sources(result.rows, DEVELOPMENT)
    return 0.5 * sum(mean_of([row for row in rows if row.temperature == at]) for at in (0.0, 1.0))


def _renamed(result: UnitResult, arm: str) -> UnitResult:
    rows = tuple(row.model_copy(update={"arm": arm}) for row in result.rows)
    return result.model_copy(update={"arm": arm, "rows": rows})


def _counts(runner: Executor, curve: Sequence[CurveRow]) -> Counts:
    """Return the counts of a training. A resumed one counts what it asked for before, too."""
    requested = max([runner.requested, *(row.requested for row in curve)])
    return Counts(requested=requested, executed=runner.executed)
