"""Solvers read prose as word counts along a few directions; names stay categories."""

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.table import expand_texts


def frames():
    rng = np.random.default_rng(0)
    topics = rng.integers(2, size=120)
    words = (["wave", "gull", "keel", "tide"], ["hill", "barn", "mill", "cart"])
    notes = [" ".join(rng.choice(words[topic], 9)) for topic in topics]
    data = pd.DataFrame({"town": rng.choice(["Pell", "Gair"], 120), "note": notes, "size": rng.normal(size=120)})
    return data[:80].copy(), data[80:].reset_index(drop=True), topics


def test_prose_becomes_numbers_that_tell_topics_apart_and_other_columns_stay():
    train, test, topics = frames()
    features, texts = expand_texts(train, test, ["town", "note", "size"])
    assert texts == {"note": 7}
    assert features[0] == "town"
    assert features[-1] == "size"
    assert "note" not in train.columns
    assert list(train.columns) == list(test.columns)
    first = test["note 0"].to_numpy()
    assert abs(np.corrcoef(first, topics[80:])[0, 1]) > 0.95
    assert test["note length"].tolist() == [9.0] * 40


def test_words_that_only_the_test_has_change_nothing():
    train, test, _ = frames()
    other = test.copy()
    other["note"] += " zebra zebra zebra"
    again = train.copy()
    expand_texts(train, test, ["note"])
    expand_texts(again, other, ["note"])
    pd.testing.assert_frame_equal(test, other)
