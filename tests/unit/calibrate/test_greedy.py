"""Searches for features, the bank they choose from, and the trees beside them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.adversary.bank import bank_of
from sandmill.calibrate.adversary.sparse import average_models
from sandmill.calibrate.solvers import greedy
from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.features import FeatureRows, training_features
from sandmill.calibrate.solvers.forests import Forest
from sandmill.calibrate.solvers.search import all_recipes
from sandmill.calibrate.solvers.table import Table
from tests.unit.calibrate.tables import write_table

ROWS, CANDIDATES, REAL = 200, 600, 6


class _Rows:
    """As much of a table as an empty design asks for."""

    train, test = range(ROWS), range(0)


def _grown(monkeypatch: pytest.MonkeyPatch, weights: float) -> list[Any]:
    """Search candidates of which the first few move ten classes, by so much."""
    rng = np.random.default_rng(5)
    made = rng.normal(size=(ROWS, CANDIDATES))
    scores = made[:, :REAL] @ rng.normal(scale=weights, size=(REAL, 10)) + rng.gumbel(size=(ROWS, 10))
    wanted = np.eye(10)[scores.argmax(axis=1)]
    recipes = [("step", place, 0.0) for place in range(CANDIDATES)]
    places = {recipe: place for place, recipe in enumerate(recipes)}
    rows = FeatureRows(made.T, np.zeros(CANDIDATES), np.ones(CANDIDATES), places)
    monkeypatch.setattr(greedy, "training_features", lambda *_: rows)
    table: Any = _Rows()
    return greedy.grow(Design.empty(table).train, wanted - wanted.mean(axis=0), recipes, table, 0, 16)


@pytest.mark.slow
def test_every_feature_that_moves_some_of_many_classes_is_found(monkeypatch):
    assert set(range(REAL)) <= {place for _, place, _ in _grown(monkeypatch, 3.0)}


def test_chance_alone_is_seldom_taken_for_a_feature_of_many_classes(monkeypatch):
    assert len(_grown(monkeypatch, 0.0)) <= 2


def test_a_feature_is_the_same_in_whatever_company_it_is_made(tmp_path: Path):
    written = write_table(tmp_path, "regression", "rmse", missing=0.1)
    table, other = (Table.read(written.folder, written.facts) for _ in range(2))
    recipes = all_recipes(table)
    together = training_features(recipes, table)
    for recipe in reversed(recipes):
        alone = training_features([recipe], other)
        assert (
            alone.cells[alone.places_of([recipe])].tobytes() == together.cells[together.places_of([recipe])].tobytes()
        )


def test_errors_with_a_candidate_are_those_after_it_is_added():
    rng = np.random.default_rng(3)
    base, wanted, leads, partners = (rng.normal(size=(60, count)) for count in (4, 3, 9, 3))
    search = greedy.Search(base, wanted - wanted.mean(axis=0), leads.T, partners.T, np.array([1, 2, 7]))
    for candidate in (2, 4, 7):
        expected = search.errors()[candidate]
        search.add(candidate)
        assert search.error() == pytest.approx(expected)


def test_a_narrowed_search_measures_its_candidates_as_before(monkeypatch):
    monkeypatch.setattr(greedy, "AT_ONCE", 2)
    rng = np.random.default_rng(3)
    base, wanted, leads, partners = (rng.normal(size=(60, count)) for count in (4, 3, 9, 3))
    search = greedy.Search(base, wanted - wanted.mean(axis=0), leads.T, partners.T, np.array([1, 2, 7]))
    expected, kept = search.errors(), np.array([0, 2, 5, 7])
    search.narrow(kept)
    assert search.errors() == pytest.approx(expected[kept])


def test_a_search_starts_from_what_a_base_leaves():
    rng = np.random.default_rng(4)
    base, wanted, candidates = (rng.normal(size=(50, count)) for count in (6, 2, 5))
    remover = greedy.base_remover(base, wanted)
    error = np.mean(((remover @ wanted) / np.diag(remover)[:, None]) ** 2)
    search = greedy.Search(base, wanted, candidates.T, candidates.T[:0], np.zeros(0, dtype=int))
    assert search.error() == pytest.approx(error)


def table_of(folder: Path, **changes) -> Table:
    written = write_table(folder, **({"train": 120, "test": 90} | changes))
    return Table.read(folder, written.facts)


def test_features_of_test_rows_are_those_of_training_rows(tmp_path: Path):
    written = write_table(tmp_path, train=120, test=120)
    train = pd.read_csv(tmp_path / "train.csv", dtype={"row_id": str})
    train.drop(columns="outcome").to_csv(tmp_path / "test.csv", index=False)
    bank = bank_of(Table.read(tmp_path, written.facts))
    every = np.arange(len(bank.train))
    np.testing.assert_allclose(bank.on_test(every), bank.train.T, atol=1e-9)
    some = np.array([1, 40, 41, len(every) - 1])
    np.testing.assert_allclose(bank.on_test(some), bank.train[some].T, atol=1e-9)


def test_a_feature_of_a_missing_cell_is_its_mean(tmp_path: Path):
    table = table_of(tmp_path, missing=0.3)
    place = table.kinds.numeric.index("height")
    bank, gap = bank_of(table), table.train["height"].isna().to_numpy()
    squares = next(made for made in bank.forms if made.kind == "square")
    start = sum(len(made) for made in bank.forms[: bank.forms.index(squares)])
    row = bank.train[start + list(squares.left).index(place)]
    assert (row[gap] == 0).all()
    assert (row[~gap] != 0).all()


@pytest.mark.slow
def test_the_average_finds_a_planted_feature_and_leaves_noise_out():
    rng = np.random.default_rng(0)
    bank = rng.normal(size=(400, 120))
    bank -= bank.mean(axis=1, keepdims=True)
    wanted = (bank[17] - 0.8 * bank[230] + 0.5 * rng.normal(size=120))[:, None]
    prior = np.full(400, -np.log(400))
    found = average_models(bank, prior, wanted / wanted.std(), [])
    assert set(np.argsort(-found.inclusion)[:2]) == {17, 230}
    assert found.inclusion[[17, 230]].min() > 0.9
    noise = average_models(bank, prior, rng.normal(size=(120, 1)), [])
    assert (bank.T @ noise.weights).std() < 0.3 * (bank.T @ found.weights).std()


def rows(count: int, seed: int):
    features = np.random.default_rng(seed).normal(size=(count, 8))
    return features, features[:, 0] + features[:, 1] * features[:, 2]


def test_what_is_said_of_training_rows_comes_from_trees_that_have_not_seen_them():
    features = rows(200, 0)[0]
    noise = np.random.default_rng(1).normal(size=(200, 1))
    forest = Forest("random", 100).fit(features, noise)
    assert np.corrcoef(forest.predict(features)[:, 0], noise[:, 0])[0, 1] > 0.9
    assert np.corrcoef(forest.unseen[:, 0], noise[:, 0])[0, 1] < 0.2


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_a_feature_that_trees_cannot_hold_is_refused(bad: float):
    features, latent = rows(20, 0)
    features[3, 2] = bad
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="finite"):
        Forest("random", 3).fit(features, latent[:, None])
