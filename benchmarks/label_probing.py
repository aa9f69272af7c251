"""What an agent gains that uses feedback to read labels: with exact answers, with rounded ones, with the default meter.

The agent fits a model, then submits its predictions again and again with the probabilities of a few rows changed, each
by another amount, and works out from the change of the score which labels those rows have. It trains again with the
rows that it has read. The attack is stronger than a real one: it is told the exact score of its first submission, the
number of feedback rows, and how answers are rounded. For each submission it tries many sets of changes and takes the
one that promises most labels.

Run from the repository root: python -m benchmarks.label_probing --tasks 6
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import log2
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.models.base import Part
from sandmill.models.package import GradedTask
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunResult
from sandmill.models.spec import Sizes
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.feedback import MOST_ANSWERS, Feedback, rounding_of
from sandmill.play.score import score
from sandmill.scoring import get_metric
from sandmill.scoring.grading.private_half import read_private
from sandmill.scoring.submission import Answers
from tests.task_folders import write_task

Floats = NDArray[np.float64]
Round = Callable[[float], float | None]
"""From an exact score to the answer that the agent sees."""

SIZES = Sizes(train=150, feedback=2000, final=3000)
"""The smallest test that is published: feedback rows are easiest to hit in it, and each weighs most."""
MOST_ROWS, DESIGNS = 4, 16
LARGEST_CHANGE = 34.0
"""Logarithm of the ratio of probabilities; beyond it log loss is clipped."""
SURE = 0.95


class Probed:
    """One task as its attacker sees it, and the truth to judge the attack by."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        """Read the files and fit the first model."""
        import pandas as pd

        self.folder, self.rng = folder, np.random.default_rng(seed)
        train, test = (pd.read_csv(folder / "public" / name) for name in ("train.csv", "test.csv"))
        name = self.facts.facts.target_column
        both = pd.concat([train.drop(columns=name), test]).drop(columns="id")
        encoded = pd.get_dummies(both, dtype=float)
        table = encoded.fillna(encoded.median()).to_numpy()
        self._train, self._test = table[: len(train)], table[len(train) :]
        self._labels = train[name].to_numpy()
        self.guess = self.fit([], [])

    @cached_property
    def facts(self) -> GradedTask:
        """Private facts; the attacker is told how answers are rounded."""
        return read_private(self.folder)[0]

    @cached_property
    def answers(self) -> Answers:
        """The truth, in the order of test.csv."""
        return read_private(self.folder)[1]

    def fit(self, rows: Sequence[int], labels: Sequence[int]) -> Floats:
        """Probabilities of all test rows, from the training rows and some test rows whose labels were read."""
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        table = np.vstack([self._train, self._test[list(rows)]])
        target = np.concatenate([self._labels, np.asarray(labels, dtype=self._labels.dtype)])
        models = (
            make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000)),
            RandomForestClassifier(200, min_samples_leaf=3, random_state=0),
        )
        both = [model.fit(table, target).predict_proba(self._test)[:, 1] for model in models]
        return np.asarray(np.clip(np.mean(both, axis=0), 0.02, 0.98))

    def result(self, probabilities: Floats) -> RunResult:
        """What a run would leave that submits these."""
        rows = zip(self.answers.ids, probabilities.tolist(), strict=True)
        header = f"id,{self.facts.facts.target_column}\n"
        content = header + "".join(f"{row_id},{value!r}\n" for row_id, value in rows)
        return RunResult(outcome=Outcome.OK, isolation=Isolation.NONE, submission=content.encode())

    def exact(self, probabilities: Floats) -> float:
        """Feedback score, unrounded."""
        rows = self.answers.part(Part.FEEDBACK)
        return get_metric(self.facts.facts.metric).score(self.answers.truth[rows], probabilities[rows])

    def reward(self, probabilities: Floats) -> float:
        """What the trainer pays."""
        return score(self.folder, self.result(probabilities)).reward


@dataclass(frozen=True)
class Change:
    """A set of changed rows, and what each combination of their states would do to the answer."""

    rows: NDArray[np.int64]
    values: Floats
    shown: Floats
    """Answer for each combination; not a number where the meter tells no score."""
    chances: Floats
    """Probability of each combination."""
    states: NDArray[np.int64]
    """Combinations by rows: 0 no feedback row, 1 feedback row of class 0, 2 feedback row of class 1."""

    def read(self, answer: float | None) -> dict[int, int]:
        """Labels that are nearly sure after this answer."""
        fits = np.isnan(self.shown) if answer is None else self.shown == answer
        if not fits.any():
            return {}
        weights = self.chances[fits] / self.chances[fits].sum()
        sure = {(row, label) for label in (0, 1) for row in np.flatnonzero(weights @ self._has(label)[fits] > SURE)}
        return {int(self.rows[row]): label for row, label in sure}

    @cached_property
    def promise(self) -> float:
        """Labels that may be expected to be read."""
        _, group = np.unique(self.shown, return_inverse=True)
        together = np.zeros((group.max() + 1, len(self.chances)))
        together[group, np.arange(len(group))] = self.chances
        chances = together.sum(axis=1, keepdims=True)
        return float(sum((chances * (together @ self._has(label) > SURE * chances)).sum() for label in (0, 1)))

    def _has(self, label: int) -> Floats:
        return np.asarray(self.states == label + 1, dtype=np.float64)


def plan_change(probed: Probed, rows: NDArray[np.int64], round_: Round, base: float) -> Change:
    """Change the probabilities of some rows by random amounts, and foresee the answers."""
    feedback = int(probed.answers.part(Part.FEEDBACK).sum())
    share, before = feedback / len(probed.guess), probed.guess[rows]
    sizes = np.exp(probed.rng.uniform(np.log(0.1), np.log(LARGEST_CHANGE), len(rows)))
    is_down = probed.rng.random(len(rows)) < 0.5
    after = np.where(is_down, before * np.exp(-sizes), 1 - (1 - before) * np.exp(-sizes))
    changes = np.array([np.zeros(len(rows)), np.log((1 - before) / (1 - after)), np.log(before / after)])
    chances = np.array([np.full(len(rows), 1 - share), share * (1 - before), share * before])
    states = np.array(list(product(range(3), repeat=len(rows))))
    places = np.arange(len(rows))
    total = base + changes[states, places].sum(axis=1) / feedback
    shown = np.array([round_(value) for value in total.tolist()], dtype=np.float64)
    return Change(rows, after, shown, chances[states, places].prod(axis=1), states)


def probe(probed: Probed, ask: Callable[[Floats], float | None], round_: Round, submissions: int) -> dict[int, int]:
    """Read labels with so many submissions."""
    open_rows = probed.rng.permutation(np.flatnonzero((probed.guess > 0.15) & (probed.guess < 0.85)))
    base, read = probed.exact(probed.guess), dict[int, int]()
    for _ in range(submissions):
        if len(open_rows) < MOST_ROWS:
            break
        counts = probed.rng.integers(1, MOST_ROWS + 1, DESIGNS)
        change = max(
            (plan_change(probed, open_rows[:count], round_, base) for count in counts), key=lambda one: one.promise
        )
        open_rows = open_rows[len(change.rows) :]
        asked = probed.guess.copy()
        asked[change.rows] = change.values
        read |= change.read(ask(asked))
    return read


@dataclass(frozen=True)
class Attacked:
    """What an attack gave."""

    labels: int
    right: int
    before: float
    after: float


def attack(probed: Probed, submissions: int, is_exact: bool) -> Attacked:
    """Run the attack with exact scores or with metered ones, then train again on the labels that it read."""
    if is_exact:
        read = probe(probed, lambda asked: round(probed.exact(asked), 5), lambda value: round(value, 5), submissions)
    else:
        meter = Feedback(probed.folder, submissions)
        rounding = rounding_of(probed.facts.calibration, probed.facts.facts.metric)
        read = probe(probed, lambda asked: meter.submit(probed.result(asked)).score, rounding.round, submissions)
    return retrain(probed, read)


def give_labels(probed: Probed, labels: int) -> Attacked:
    """Hand over true labels, one for each bit that the answers of a meter can hold."""
    rows = probed.rng.permutation(np.flatnonzero(probed.answers.part(Part.FEEDBACK)))[:labels].tolist()
    return retrain(probed, {row: int(probed.answers.truth[row]) for row in rows})


def retrain(probed: Probed, read: dict[int, int]) -> Attacked:
    """Train with the labels read, and compare rewards."""
    truth: Any = probed.answers.truth
    right = sum(int(truth[row]) == label for row, label in read.items())
    after = probed.fit(list(read), list(read.values())) if read else probed.guess
    return Attacked(len(read), right, probed.reward(probed.guess), probed.reward(after))


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack some tasks in every way and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=6)
    count = parser.parse_args(arguments).tasks
    bits = 5 * log2(MOST_ANSWERS)
    ways: dict[tuple[str, int], Callable[[Probed], Attacked]] = {
        ("exact, 5 decimals", 100): lambda probed: attack(probed, 100, is_exact=True),
        ("exact, 5 decimals", 400): lambda probed: attack(probed, 400, is_exact=True),
        ("rounded by the meter", 100): lambda probed: attack(probed, 100, is_exact=False),
        ("the default meter", 5): lambda probed: attack(probed, 5, is_exact=False),
        (f"none: {bits:.0f} labels given for {bits:.0f} bits", 0): lambda probed: give_labels(probed, int(bits)),
    }
    found: dict[tuple[str, int], list[Attacked]] = {way: [] for way in ways}
    with TemporaryDirectory() as name:
        for slot in range(count):
            folder = write_task(Path(name), TargetKind.BINARY, MetricName.LOG_LOSS, slot, sizes=SIZES)
            for way, run in ways.items():
                found[way].append(run(Probed(folder, slot)))
    print(f"{count} binary tasks judged by log loss; {SIZES.train} training rows, {SIZES.feedback} feedback rows.\n")
    print("| answers | submissions | labels read | of them right | reward before | reward after | gain |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for (answers, submissions), results in found.items():
        labels, right = (fmean(getattr(one, field) for one in results) for field in ("labels", "right"))
        before, after = (fmean(getattr(one, field) for one in results) for field in ("before", "after"))
        cells = f"{labels:.1f} | {right:.1f} | {before:.3f} | {after:.3f} | {after - before:+.3f}"
        print(f"| {answers} | {submissions} | {cells} |")


if __name__ == "__main__":
    main()
