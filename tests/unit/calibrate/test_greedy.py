"""The search for features of many classes goes on where a search for one response would stop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandmill.calibrate.solvers import greedy
from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.features import training_features
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
    monkeypatch.setattr(greedy, "training_features", lambda *_: [made[:, [place]] for place in range(CANDIDATES)])
    table: Any = _Rows()
    recipes: list[Any] = list(range(CANDIDATES))
    return greedy.grow(Design.empty(table).train, wanted - wanted.mean(axis=0), recipes, table, 0, 16)


@pytest.mark.slow
def test_every_feature_that_moves_some_of_many_classes_is_found(monkeypatch):
    assert set(range(REAL)) <= set(_grown(monkeypatch, 3.0))


def test_chance_alone_is_seldom_taken_for_a_feature_of_many_classes(monkeypatch):
    assert len(_grown(monkeypatch, 0.0)) <= 2


def test_a_feature_is_the_same_in_whatever_company_it_is_made(tmp_path: Path):
    written = write_table(tmp_path, "regression", "rmse", missing=0.1)
    table, other = (Table.read(written.folder, written.facts) for _ in range(2))
    recipes = all_recipes(table)
    together = training_features(recipes, table)
    alone = [training_features([recipe], other)[0] for recipe in reversed(recipes)]
    assert [part.tobytes() for part in together] == [part.tobytes() for part in reversed(alone)]


def test_errors_with_a_candidate_are_those_of_ridge_without_each_row():
    rng = np.random.default_rng(3)
    base, wanted, made = rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), rng.normal(size=(40, 5, 2))
    columns = np.hstack([wanted, made[:, :, 0], made[:, :, 1]])
    factor = greedy.base_factor(base, wanted)
    left, own = columns - factor @ (factor.T @ columns), 1 - (factor**2).sum(axis=1)[:, None]
    found = greedy.errors_with(own, columns, left, 2)
    remover = greedy.base_remover(base, wanted)
    for place in range(5):
        whole = remover
        for column in made[:, place].T:
            carried = whole @ column
            whole = whole - np.outer(carried, carried) / (greedy.CANDIDATE_PENALTY + column @ carried)
        wanted_error = np.mean(((whole @ wanted) / np.diag(whole)[:, None]) ** 2)
        np.testing.assert_allclose(found[place], wanted_error)
