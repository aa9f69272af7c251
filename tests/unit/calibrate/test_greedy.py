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


def test_errors_with_a_candidate_are_those_after_it_is_added():
    rng = np.random.default_rng(3)
    base, wanted, leads, partners = (rng.normal(size=(60, count)) for count in (4, 3, 9, 9))
    search = greedy.Search(base, wanted - wanted.mean(axis=0), leads, partners)
    for candidate in (2, 7):
        expected = search.errors()[candidate]
        search.add(candidate)
        assert search.error() == pytest.approx(expected)


def test_a_search_starts_from_what_a_base_leaves():
    rng = np.random.default_rng(4)
    base, wanted, candidates = (rng.normal(size=(50, count)) for count in (6, 2, 5))
    remover = greedy.base_remover(base, wanted)
    error = np.mean(((remover @ wanted) / np.diag(remover)[:, None]) ** 2)
    assert greedy.Search(base, wanted, candidates, candidates).error() == pytest.approx(error)
