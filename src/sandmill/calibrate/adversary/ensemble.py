"""The blind ensemble: models weighted by what they predict of rows that they have not seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import nnls

from sandmill.calibrate.adversary.bank import Bank, bank_of
from sandmill.calibrate.adversary.links import responses_of, scores_from
from sandmill.calibrate.adversary.members import MEMBERS, Inputs, Sparse
from sandmill.calibrate.adversary.sparse import average_models
from sandmill.calibrate.solvers.designs import Design, words
from sandmill.calibrate.solvers.table import Table

FOLDS = 3
SWEEPS, SWEEPS_IN_FOLDS = 30, 18
"""Length of the sparse model's chain on all rows, and on the rows of all folds but one."""
SPARSE = "sparse sums"
PRIOR_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        SPARSE: 0.45,
        "process of columns": 0.25,
        "process of features": 0.1,
        "extra trees": 0.0,
        "boosting": 0.2,
        "support vectors": 0.0,
    }
)
"""Weights that the fitted weights are drawn towards."""
PULL = 0.5
"""How strongly: a squared distance of 1 from these costs as much as this share of the best model's squared error."""
SUM_WEIGHT = 1e3
"""Weight of the row by which the fitted weights sum to 1."""
NUMBERS_SCALE = 2.0
"""Scale of the standardised numbers, divided by the root of their count, in the sparse model's background."""


@dataclass(frozen=True)
class Material:
    """A table as the ensemble reads it."""

    wanted: Any
    """Responses of all target columns side by side."""
    widths: tuple[int, ...]
    """Responses of each target column."""
    bank: Bank
    groups: tuple[int, ...]
    """Categories of each categorical column."""

    @classmethod
    def of(cls, table: Table, bank: Bank) -> "Material":
        """Read a table with all of its target columns."""
        wanted = [responses_of(part) for part in table.columns()]
        groups = tuple(len(set(words(table, name)[0])) for name in table.kinds.categorical)
        return cls(np.hstack(wanted), tuple(part.shape[1] for part in wanted), bank, groups)

    def known(self, rows: Any) -> Inputs:
        """Some of the training rows."""
        sources = self.bank.known
        numbers, flags = np.nan_to_num(sources.scores[rows]), sources.flags[rows]
        return Inputs(numbers, flags, lambda picks: self.bank.train[picks][:, rows].T)

    def asked(self) -> Inputs:
        """The test rows."""
        sources, made = self.bank.test, {}

        def features(picks: Any) -> Any:
            if (key := picks.tobytes()) not in made:
                made[key] = self.bank.on_test(picks)
            return made[key]

        return Inputs(np.nan_to_num(sources.scores), sources.flags, features)

    def blocks(self, inputs: Inputs) -> list[Any]:
        """Columns that are always in the sparse model: the numbers, and each column's categories."""
        scale = NUMBERS_SCALE / np.sqrt(max(1, inputs.numbers.shape[1]))
        ends = np.cumsum([0, *self.groups])
        levels_of = [inputs.flags[:, first:last] for first, last in pairwise(ends)]
        numbers = [inputs.numbers * scale] if inputs.numbers.shape[1] else []
        return [*numbers, *levels_of]


@dataclass(frozen=True)
class Fitted:
    """All models after fitting to all training rows."""

    predict: Callable[[Material, Inputs], dict[str, Any]]
    unseen: Mapping[str, Any]
    """Responses of the training rows by models that were fitted to other rows."""
    weights: Any
    """Of the models, in the order of `PRIOR_WEIGHTS`."""


def fit_members(material: Material, rows: Any, sweeps: int) -> Callable[[Material, Inputs], dict[str, Any]]:
    """Fit every model to some training rows. Returns a function from rows of a table to responses by model."""
    inputs, wanted = material.known(rows), material.wanted[rows]
    bank = np.ascontiguousarray(material.bank.train[:, rows])
    model = average_models(bank, material.bank.log_prior, wanted, material.blocks(inputs), sweeps)
    sparse = Sparse.of(model)
    others = {name: fit(inputs, wanted, sparse) for name, fit in MEMBERS.items()}

    def predict(of: Material, asked: Inputs) -> dict[str, Any]:
        blocks = of.blocks(asked)
        beside = np.hstack(blocks) if blocks else np.zeros((len(asked.numbers), 0))
        return {SPARSE: sparse.predict(asked, beside)} | {name: say(asked) for name, say in others.items()}

    return predict


def fit_weights(unseen: Sequence[Any], wanted: Any, prior: Sequence[float]) -> Any:
    """Weights of the models: not negative, with the sum 1, of least squared error on unseen rows."""
    guesses = np.column_stack([guess.ravel() for guess in unseen])
    least = min(float(np.mean((guess - wanted) ** 2)) for guess in unseen)
    pull = np.sqrt(PULL * least * len(guesses))
    rows = np.vstack([guesses, SUM_WEIGHT * np.ones(len(prior)), pull * np.eye(len(prior))])
    weights, _ = nnls(rows, np.concatenate([wanted.ravel(), [SUM_WEIGHT], pull * np.asarray(prior)]))
    return weights / weights.sum()


def fit_all(material: Material) -> Fitted:
    """Fit the models to all training rows, and their weights to rows that they have not seen."""
    rows = np.arange(len(material.wanted))
    fold = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    unseen = {name: np.zeros(material.wanted.shape) for name in PRIOR_WEIGHTS}
    for number in range(FOLDS):
        held = rows[fold == number]
        predict = fit_members(material, rows[fold != number], SWEEPS_IN_FOLDS)
        for name, guess in predict(material, material.known(held)).items():
            unseen[name][held] = guess
    weights = fit_weights(list(unseen.values()), material.wanted, list(PRIOR_WEIGHTS.values()))
    return Fitted(fit_members(material, rows, SWEEPS), unseen, weights)


def predict_responses(table: Table, extra: Design | None = None) -> list[tuple[Any, Any]]:
    """For each target column: responses of training rows, predicted unseen, and of test rows."""
    material = Material.of(table, bank_of(table, extra))
    fitted: Fitted = table.cached_fit("blind ensemble", lambda _: fit_all(material))
    sides = [
        sum(weight * side[name] for weight, name in zip(fitted.weights, PRIOR_WEIGHTS, strict=True))
        for side in (fitted.unseen, fitted.predict(material, material.asked()))
    ]
    edges = np.cumsum(material.widths)[:-1]
    return list(zip(*(np.split(side, edges, axis=1) for side in sides), strict=True))


def blind_scores(table: Table, extra: Design | None = None) -> Any:
    """Scores of the ensemble for one target column. All columns of a wide target are fitted together, once."""
    whole = table.whole or table
    unseen, test = whole.cached("blind responses", lambda it: predict_responses(it, extra))[table.place]
    return scores_from(unseen, test, table)
