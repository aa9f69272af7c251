"""Solvers run on one thread and without needless checks; after the block all is as before."""

import numpy as np
import pandas as pd
from sklearn import get_config
from sklearn.utils import validation
from threadpoolctl import threadpool_info, threadpool_limits

from sandmill.calibrate.conditions import one_thread, solver_conditions


def test_every_library_is_limited_within_the_block_alone():
    with one_thread():
        pass  # Loads the libraries, so that the limit below is set for all of them.
    with threadpool_limits(2):
        with one_thread():
            assert {library["num_threads"] for library in threadpool_info()} == {1}
        assert {library["num_threads"] for library in threadpool_info()} == {2}


def test_scikit_learn_asks_only_of_arrays_no_more_what_they_are():
    asking, settings = validation._get_feature_names, get_config()
    with solver_conditions():
        assert validation._get_feature_names(np.zeros((2, 1))) is None
        assert list(validation._get_feature_names(pd.DataFrame({"a": [1]}))) == ["a"]
        assert get_config()["assume_finite"]
    assert validation._get_feature_names is asking
    assert get_config() == settings
