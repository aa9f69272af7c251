"""Readers of texts: blind numbers, and measures of what a description tells."""

import numpy as np
import pandas as pd
import pytest

from sandmill.kinds.text.measures import measure_texts
from sandmill.kinds.text.read import expand_texts


@pytest.mark.parametrize(
    ("first", "second", "space"),
    [
        pytest.param("wave gull keel", "hill barn mill", " ", marks=pytest.mark.slow),
        pytest.param("волна чайка киль", "холм сарай мост", " ", marks=pytest.mark.slow),
        ("江湖溪", "山竹田", ""),
    ],
)
def test_topics_show_in_any_script(first, second, space):
    rng = np.random.default_rng(0)
    topics = rng.integers(2, size=160)
    words = [list(part) if space == "" else part.split() for part in (first, second)]
    texts = [space.join(rng.choice(words[topic], 40)) for topic in topics]
    table = pd.DataFrame({"id": [f"i{row}" for row in range(160)], "note": texts})
    train, test = expand_texts(table[:100].copy(), table[100:].reset_index(drop=True), "id")
    assert list(train.columns) == list(test.columns)
    assert "note" not in test
    assert abs(np.corrcoef(test["note words 0"], topics[100:])[0, 1]) > 0.95


def test_measures_count_own_words_and_not_those_of_a_quotation():
    text = "You said “Dark, dark, dark.” Bright lamps shine on us today! The dull hill, what a pity. DARK it is not."
    table = pd.DataFrame({"id": ["a"], "note": [text]})
    cues = [
        ("gloom", "grade", ['"bright"', '"dull"', '"dark"']),
        ("pity", "presence", ['"what a pity", "alas"']),
        ("place", "level", ['sea: "wave", "gull"', 'land: "hill", "barn"']),
    ]
    found = measure_texts(table, "id", cues).iloc[0]
    assert found["gloom"] == pytest.approx((0.5 + 0.25) / 2.5)
    assert found["pity"] == 1.25
    assert found["place"] == "land"
