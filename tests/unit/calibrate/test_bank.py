"""The feature bank, and the sampler that averages sparse sums of its features."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.adversary.bank import bank_of
from sandmill.calibrate.adversary.sparse import average_models
from sandmill.calibrate.solvers.table import Table
from tests.unit.calibrate.tables import write_table


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
