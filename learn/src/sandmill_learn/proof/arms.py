"""The arms of the proof. One arm with one seed is a unit, which is read from its folder once it is complete.

All trained arms start from the same SFT policy of the seed.
"""

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandmill.fingerprint import fingerprint
from sandmill.models.base import Frozen
from sandmill.rewards import Reward
from sandmill_learn import grpo, sft
from sandmill_learn.baselines import BASELINES, choose_baselines, score_baselines
from sandmill_learn.evaluate import SampleSettings, evaluate
from sandmill_learn.executions import Executor
from sandmill_learn.language import load_language
from sandmill_learn.policy import MicroPolicy
from sandmill_learn.proof.data import DEVELOPMENT, ProofData
from sandmill_learn.proof.progress import ProofPlan, ProofProgress
from sandmill_learn.proof.settings import ProofSettings
from sandmill_learn.records import CurveRow, read_curves, write_curves, write_file
from sandmill_learn.results import Scored, read_results, write_results
from sandmill_learn.settings import RejectionSettings
from sandmill_learn.statistics import mean_of
from sandmill_learn.summary import keep_sources
from sandmill_learn.task_sets import LearningTask

_KEY, _RECORD, _ROWS, _CURVE = "key.json", "unit.json", "results.parquet", "curves.csv"


class Counts(Frozen):
    """Scripts of one unit on training and validation tasks."""

    requested: int = 0
    """Scripts asked for. It is the figure that arms are compared at."""
    executed: int = 0
    """Scripts that ran; the others were cached."""


class UnitResult(Frozen):
    """What a unit left."""

    arm: str
    seed: int
    seconds: float
    counts: Counts
    rows: tuple[Scored, ...]
    curve: tuple[CurveRow, ...] = ()


Outcome = tuple[Sequence[Scored], Sequence[CurveRow], Counts]
"""Rows on real tables, learning curve, and counts of scripts."""

Work = Callable[[Path], Outcome]
"""Does a unit in its folder. Trainings go on from the checkpoints that they find there."""


def run_unit(root: Path, arm: str, seed: int, settings: Any, work: Work) -> UnitResult:
    """Return the result of a unit: from its folder if it is complete with equal settings, else from its work.

    A folder with other settings is emptied. `unit.json` is written last and marks the unit as complete.

    Args:
        root: folder of all units.
        arm: name of the arm.
        seed: training seed.
        settings: JSON data; everything that the result depends on.
        work: does the unit.
    """
    folder, key = root / f"{arm}-seed{seed}", fingerprint(settings)
    if _read_key(folder) != key:
        shutil.rmtree(folder, ignore_errors=True)
        write_file(folder / _KEY, json.dumps({"key": key, "settings": settings}, indent=1) + "\n")
    if (folder / _RECORD).is_file():
        return _read(folder)
    started = time.monotonic()
    rows, curve, counts = work(folder)
    write_results(folder / _ROWS, list(rows))
    write_curves(folder / _CURVE, list(curve))
    seconds = time.monotonic() - started
    record = {"arm": arm, "seed": seed, "seconds": seconds, "counts": counts.model_dump()}
    write_file(folder / _RECORD, json.dumps(record, indent=1) + "\n")
    return _read(folder)


def _read(folder: Path) -> UnitResult:
    record = json.loads((folder / _RECORD).read_text("utf-8"))
    rows, curve = read_results(folder / _ROWS), read_curves(folder / _CURVE)
    return UnitResult(**record, rows=tuple(rows), curve=tuple(curve))


def _read_key(folder: Path) -> str | None:
    try:
        key: str = json.loads((folder / _KEY).read_text("utf-8"))["key"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return key


SFT, REJECTION = "sft", "rejection"
_POLICY, _TRAINING, _ASKED = "policy", "training", "asked.json"


class Proof:
    """Runs units in order. Each is read from its folder if it is complete."""

    def __init__(self, settings: ProofSettings, data: ProofData, progress: ProofProgress) -> None:
        self.settings, self.data = settings, data
        self.progress, self.say = progress, progress.say
        tested, validation = len(data.development) + len(data.final), len(data.validation)
        self.plan = ProofPlan(settings, tested, validation)
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
    ) -> UnitResult:
        """Train and score GRPO with a reward, or the preset of this name."""
        settings = self.settings.grpo()
        name = reward if isinstance(reward, str) else reward.preset

        def work(folder: Path) -> Outcome:
            runner = self.data.learner()
            policy, curve = grpo.train(
                self.policy(SFT, seed),
                self.data.training.tasks(),
                runner,
                settings,
                seed=seed,
                folder=folder / _TRAINING,
                reward=reward,
                validation=self.data.validation.tasks(),
                listen=lambda row: self.say(f"{arm} seed {seed}: {row.line}"),
                explain=self.say,
            )
            policy.save(folder / _POLICY)
            return self.score(arm, policy, seed), curve, _counts(runner, curve)

        described: dict[str, Any] = {"grpo": settings.model_dump(mode="json"), "reward": name}
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
            write_file(folder / _ASKED, json.dumps(asked) + "\n")
            rows = score_baselines(arms, self.real_tasks(), self.data.tester())
            return rows, (), Counts(requested=max(asked.values()), executed=runner.executed)

        result = self.unit(arm, 0, {"budget": budget}, work, self.plan.baselines(arm))
        return result, json.loads((self.root / f"{arm}-seed0" / _ASKED).read_text("utf-8"))

    def real_tasks(self) -> list[LearningTask]:
        """Return the tasks of both parts."""
        return [*self.data.development.tasks(), *self.data.final.tasks()]

    def score(self, arm: str, policy: MicroPolicy, seed: int) -> list[Scored]:
        """Return greedy rows and rows at temperature 1 on all real tables."""
        runner, rows = self.data.tester(), []
        for draws in (
            SampleSettings(seed=seed),
            SampleSettings(samples=self.settings.samples, temperature=1.0, seed=seed),
        ):
            rows += evaluate(arm, policy, self.real_tasks(), runner, draws=draws)
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
        from sandmill_learn import rejection

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
