import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from sandmill.calibrate.solvers.forests import Forest, as_single, grow_tree


def rows(count: int, seed: int):
    features = np.random.default_rng(seed).normal(size=(count, 8))
    return features, features[:, 0] + features[:, 1] * features[:, 2]


@pytest.mark.parametrize("is_random", [True, False])
@pytest.mark.parametrize(
    "settings",
    [{}, {"max_features": "sqrt"}, {"max_features": 1, "min_samples_leaf": 5}, {"max_depth": 3, "max_features": 0.5}],
    ids=str,
)
def test_a_tree_is_the_one_that_an_estimator_of_scikit_learn_grows(is_random: bool, settings: dict):
    features, latent = rows(150, 0)
    single, wanted = as_single(features), np.column_stack([latent, -(latent**2)])
    for weights in (None, np.bincount(np.random.default_rng(0).integers(150, size=150), minlength=150).astype(float)):
        states = [np.random.RandomState(3) for _ in range(2)]
        model = (DecisionTreeRegressor if is_random else ExtraTreeRegressor)(random_state=states[0], **settings)
        theirs = model.fit(single, wanted, sample_weight=weights, check_input=False).tree_
        own = grow_tree(single, wanted, states[1], weights, is_random=is_random, **settings)
        assert own.predict(single).tobytes() == theirs.predict(single).tobytes()
        assert states[0].randint(10**6) == states[1].randint(10**6), "as many numbers were drawn"


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
