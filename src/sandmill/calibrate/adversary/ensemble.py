"""The blind ensemble: models weighted by what they predict of rows that they have not seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import nnls

from sandmill.calibrate.adversary.bank import Bank, bank_of
from sandmill.calibrate.adversary.links import rescaled, responses_of, scores_from
from sandmill.calibrate.adversary.members import MEMBERS, Inputs, SparseModel
from sandmill.calibrate.adversary.sparse import average_models
from sandmill.calibrate.solvers.designs import Design, plain_scaled, words
from sandmill.calibrate.solvers.table import Table

FOLDS = 3
SWEEPS, SWEEPS_IN_FOLDS = 30, 18
"""Length of the sparse model's chain on all rows, and on the rows of all folds but one."""
SPARSE = "sparse sums"
WEIGHTS = "weights of the blind ensemble"
WITH_CHILDREN = " with child tables"
"""Added to the cache name of a fit that also used columns made from child tables, to keep it apart from other fits."""
WEIGHTS_KEYS = ((WEIGHTS, True, 0), (WEIGHTS + WITH_CHILDREN, True, 0))
"""Where the weights are kept among what was fitted to the training rows of a whole table."""
PRIOR_WEIGHTS: Mapping[str, float] = {
    SPARSE: 0.45,
    "process of columns": 0.25,
    "process of features": 0.1,
    "extra trees": 0.0,
    "boosting": 0.2,
    "support vectors": 0.0,
}
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
        """Read a table with all of its target columns, as that which the models were weighed on."""
        weighing: Weighing | None = next(filter(None, map(table.learned.get, WEIGHTS_KEYS)), None)
        parts = zip(table.columns(), (weighing.table if weighing else table).columns(), strict=True)
        wanted = [responses_of(part, other) for part, other in parts]
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
class Weighing:
    """How much each model counts, by what it predicts of training rows that it has not seen."""

    table: Table
    """Holds these rows."""
    weights: Any
    """Of the models, in the order of `PRIOR_WEIGHTS`."""
    unseen: Any
    """Responses of the training rows by all models together, each fitted to other rows."""


def fit_sparse(material: Material, rows: Any, sweeps: int) -> SparseModel:
    """Fit the sparse model to some training rows."""
    bank = np.ascontiguousarray(material.bank.train[:, rows])
    blocks = material.blocks(material.known(rows))
    return SparseModel.of(average_models(bank, material.bank.log_prior, material.wanted[rows], blocks, sweeps))


def fit_members(material: Material, rows: Any, sparse: SparseModel) -> Callable[[Material, Inputs], dict[str, Any]]:
    """Fit the other models to some training rows. Returns a function from rows of a table to responses by model."""
    inputs, wanted = material.known(rows), material.wanted[rows]
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


def fit_name(name: str, *, is_plain: bool) -> str:
    """Return the cache name of a fit, with or without columns made from child tables."""
    return name if is_plain else name + WITH_CHILDREN


def sparse_of_all(table: Table, material: Material, *, is_plain: bool = True) -> SparseModel:
    """Return the sparse model of all training rows. It is fitted once and then taken from the cache."""
    return table.cached_fit(
        fit_name(SPARSE, is_plain=is_plain), lambda _: fit_sparse(material, np.arange(len(material.wanted)), SWEEPS)
    )


def weigh_models(table: Table, material: Material) -> Weighing:
    """Fit the models to the rows outside of each fold, and their weights to the rows in it."""
    rows = np.arange(len(material.wanted))
    fold = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    unseen = {name: np.zeros(material.wanted.shape) for name in PRIOR_WEIGHTS}
    for number in range(FOLDS):
        held, others = rows[fold == number], rows[fold != number]
        predict = fit_members(material, others, fit_sparse(material, others, SWEEPS_IN_FOLDS))
        for name, guess in predict(material, material.known(held)).items():
            unseen[name][held] = guess
    weights = fit_weights(list(unseen.values()), material.wanted, list(PRIOR_WEIGHTS.values()))
    return Weighing(table, weights, blend(weights, unseen))


def blend(weights: Any, responses: Mapping[str, Any]) -> Any:
    """Average the models' responses."""
    return sum(weight * responses[name] for weight, name in zip(weights, PRIOR_WEIGHTS, strict=True))


def take_weights(table: Table, like: Table) -> None:
    """Take over the weights of the models from another training draw: fitting them takes most of the time."""
    table.learned.update({key: like.learned[key] for key in WEIGHTS_KEYS if key in like.learned})


def forget_children(table: Table) -> None:
    """Drop fits that used columns made from child tables, taken over from other test rows of the same task.

    These columns depend on the test rows too: on the latest time and the commonest categories of all.
    """
    table.learned = {key: fit for key, fit in table.learned.items() if not str(key[0]).endswith(WITH_CHILDREN)}


def predict_responses(table: Table, extra: Design | None = None) -> tuple[Weighing, list[tuple[Any, Any]]]:
    """For each target column: responses of rows predicted unseen, and of the test rows on the same scale."""
    is_plain = extra is None
    bank = table.cached_features("bank", bank_of) if is_plain else bank_of(table, extra)
    kept = fit_name(WEIGHTS, is_plain=is_plain)
    weighing: Weighing = table.cached_fit(kept, lambda whole: weigh_models(whole, Material.of(whole, bank)))
    material = Material.of(table, bank)

    def fit(whole: Table) -> Callable[[Material, Inputs], dict[str, Any]]:
        sparse = sparse_of_all(whole, material, is_plain=is_plain)
        return fit_members(material, np.arange(len(material.wanted)), sparse)

    predict = table.cached_fit(fit_name("blind ensemble", is_plain=is_plain), fit)
    test = blend(weighing.weights, predict(material, material.asked()))
    edges = np.cumsum(material.widths)[:-1]
    sides = (np.split(side, edges, axis=1) for side in (weighing.unseen, test))
    return weighing, list(zip(*sides, strict=True))


def blind_scores(table: Table, extra: Design | None = None) -> Any:
    """Scores of the ensemble for one target column. All columns of a wide target are fitted together, once."""
    whole, name = table.whole or table, fit_name("blind responses", is_plain=extra is None)
    weighing, responses = whole.cached(name, lambda it: predict_responses(it, extra))
    unseen, test = responses[table.place]
    like = weighing.table.columns()[table.place]
    return scores_from(unseen, rescaled(test, table, like), like)


PLAIN_SCALE = 0.4
"""Scale of the plain columns beside the selected features."""


def selected_features(table: Table) -> Design:
    """The features that the sparse model selects, each scaled by how often it is in. All target columns share them."""
    whole = table.whole or table
    bank = whole.cached_features("bank", bank_of)
    sparse = sparse_of_all(whole, Material.of(whole, bank))
    picks = sparse.selected

    def make(_: Table) -> Design:
        return Design(bank.train[picks].T * sparse.relevance, bank.on_test(picks) * sparse.relevance)

    return whole.cached("selected features", make)


def with_columns(table: Table) -> Design:
    """Selected features beside the plain columns, which count for less."""
    plain, features = plain_scaled(table), selected_features(table)
    return Design(plain.train * PLAIN_SCALE, plain.test * PLAIN_SCALE).beside(features)
