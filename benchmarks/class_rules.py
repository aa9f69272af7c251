"""How much better affine decision rules score than class weights, for MCC and macro F1.

Both kinds of rule are tuned on the same simulated rows and scored on others.

Run from the repository root: python -m benchmarks.class_rules --draws 8
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sandmill.score.base import Floats
from sandmill.score.cutoffs import AffineRule, affine_rule
from sandmill.score.tallies import Finish, Slopes, f1_macro, f1_macro_slopes, mcc, mcc_slopes

METRICS: dict[str, tuple[Finish, Slopes]] = {"mcc": (mcc, mcc_slopes), "f1_macro": (f1_macro, f1_macro_slopes)}
CLASSES = (3, 5, 7)
RARER = (0.0, 2.0, 4.0)
"""By how much the log odds of the last class are lowered; those of the others in equal steps."""
SIGNALS = (0.5, 1.5)
"""Standard deviation of the weights of the simulated rule."""
TUNING_ROWS, TEST_ROWS = 20_000, 100_000
SIZES = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03, 0.015, 0.008, 0.004)
"""Steps of the logarithms of class weights that the search tries, one class at a time."""


@dataclass(frozen=True)
class World:
    """A logistic rule on three columns and a square."""

    weights: Floats
    intercepts: Floats

    @classmethod
    def drawn(cls, rng: np.random.Generator, classes: int, rarer: float, signal: float) -> "World":
        """Draw the weights."""
        return cls(rng.normal(size=(4, classes)) * signal, -np.linspace(0, rarer, classes))

    def posterior(self, rng: np.random.Generator, rows: int) -> Floats:
        """Draw rows and return their class probabilities."""
        cells = rng.normal(size=(rows, 4))
        cells[:, 3] = np.square(cells[:, 3]) - 1
        logs = cells @ self.weights + self.intercepts
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def score(rule: AffineRule, rows: Floats, finish: Finish) -> float:
    """Expected score of a rule."""
    return float(finish(rule.tallies(rows))[0])


def best_weights(rows: Floats, finish: Finish) -> AffineRule:
    """Find the class weights with the best expected score, one class at a time."""
    classes = rows.shape[1]
    logs, zeros = np.zeros(classes), np.zeros(classes)
    reached = score(AffineRule(np.exp(logs), zeros), rows, finish)
    for size in SIZES:
        is_better = True
        while is_better:
            is_better = False
            for move in size * np.vstack([np.eye(classes), -np.eye(classes)]):
                tried = score(AffineRule(np.exp(logs + move), zeros), rows, finish)
                if tried > reached:
                    logs, reached, is_better = logs + move, tried, True
    return AffineRule(np.exp(logs), zeros)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=8, help="simulated rules of each kind and signal")
    given = parser.parse_args(arguments)
    print("| metric | classes | rarer by | best weights | gain, mean | least | most | ms |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, (finish, slopes) in METRICS.items():
        for classes in CLASSES:
            for rarer in RARER:
                reached, gains, seconds = [], [], []
                for seed, signal in ((seed, signal) for seed in range(given.draws) for signal in SIGNALS):
                    rng = np.random.default_rng(seed)
                    world = World.drawn(rng, classes, rarer, signal)
                    tuning, test = world.posterior(rng, TUNING_ROWS), world.posterior(rng, TEST_ROWS)
                    start = time.process_time()
                    affine = affine_rule(tuning, finish, slopes)
                    seconds.append(time.process_time() - start)
                    reached.append(score(best_weights(tuning, finish), test, finish))
                    gains.append(score(affine, test, finish) - reached[-1])
                print(
                    f"| `{name}` | {classes} | {rarer:.0f} | {np.mean(reached):.4f} | {np.mean(gains):+.5f} | "
                    f"{min(gains):+.5f} | {max(gains):+.5f} | {1000 * np.median(seconds):.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
