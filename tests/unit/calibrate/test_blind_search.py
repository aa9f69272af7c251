"""What the blind search and the sampler keep up to date is what they would compute anew."""

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.adversary.forms import Files, found_tables, paired
from sandmill.calibrate.adversary.judge import Judge
from sandmill.calibrate.adversary.sparse import AMPLITUDES, LEVEL, FeatureSampler
from sandmill.calibrate.solvers.table import Table
from sandmill.models.package import TaskFacts

FACTS = TaskFacts(
    id_column="id", target_column="y", target="regression", metric="rmse", encoding="value", submission_columns=("y",)
)


def table_of(columns: dict, y, train: int = 120) -> tuple[pd.DataFrame, pd.DataFrame]:
    whole = pd.DataFrame(columns).assign(y=y, id=[f"r{row}" for row in range(len(y))])
    return whole.iloc[:train].copy(), whole.iloc[train:].drop(columns="y").reset_index(drop=True)


def test_sizes_follow_the_features_that_are_taken():
    rng = np.random.default_rng(0)
    judge = Judge(
        Table.of(*table_of({"a": rng.normal(size=200), "b": rng.normal(size=200)}, rng.normal(size=200)), FACTS)
    )
    features = rng.normal(size=(120, 30))
    sizes = judge.sizes(features)
    for place in (3, 7):
        sizes = sizes - (judge.take(features[:, place]) @ features) ** 2
    assert sizes == pytest.approx(judge.sizes(features))
    assert judge.gains(features, sizes) == pytest.approx(judge.gains(features))
    assert judge.gains(features)[3] < 0.1


@pytest.mark.parametrize("columns", [3, 60])
def test_power_and_match_are_those_of_the_inverse(columns: int):
    rng = np.random.default_rng(1)
    bank, wanted, block = rng.normal(size=(90, 50)), rng.normal(size=(50, 2)), rng.normal(size=(50, columns))
    chain = FeatureSampler(bank, wanted, [block])
    chain.catch_up()
    chain.change(5, 1.0)
    chain.change(8, 1.0)
    chain.change(5, -1.0)
    amplitude = chain.draw_variance(block, 0.0, AMPLITUDES, 0.999999)
    chain.catch_up()
    inside = np.eye(50) + LEVEL + amplitude * block @ block.T + chain.effect * np.outer(bank[8], bank[8])
    inverse, target = np.linalg.inv(inside), wanted - wanted.mean(axis=0)
    assert amplitude > 0
    assert chain.power == pytest.approx(np.einsum("fi,ij,fj->f", bank, inverse, bank))
    assert chain.match == pytest.approx((bank @ inverse @ target).T)
    assert chain.rest == pytest.approx(np.einsum("ir,ij,jr->r", target, inverse, target))


def test_cells_in_another_unit_are_repaired_beside_a_column_of_gaps():
    rng = np.random.default_rng(2)
    site, degrees = rng.choice(["north", "south", "west"], 200), 15 + 4 * rng.normal(size=200)
    shown = np.where(site == "south", 32 + 1.8 * degrees, degrees) - 40
    tables = table_of({"heat": shown, "site": site, "left_out": [None] * 200}, degrees + rng.normal(size=200))
    found, plain = found_tables(Files(FACTS, tables, {}))
    repaired = plain.test["heat_by_site"]
    assert abs(np.corrcoef(repaired, degrees[120:])[0, 1]) > 0.98 > abs(np.corrcoef(shown, degrees)[0, 1])
    assert len(found.train) == 120


def test_the_pair_of_columns_that_counts_only_together_is_found():
    rng = np.random.default_rng(3)
    names = {name: rng.choice(list("pqr"), 300) for name in ("colour", "shape", "maker")}
    effect = dict(zip("pqr", (-1.0, 0.0, 1.0), strict=True))
    y = [effect[one] * effect[other] for one, other in zip(names["colour"], names["maker"], strict=True)]
    judge = Judge(Table.of(*table_of(names, y + 0.2 * rng.normal(size=300)), FACTS))
    assert paired(judge) == [("colour", "maker")]
