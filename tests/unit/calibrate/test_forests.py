import numpy as np
import pytest

from sandmill.calibrate.solvers.forests import Forest


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
