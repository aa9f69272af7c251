"""Measure in texts what the description says of them, here and in scripts."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from sandmill.kinds.memo import once_a_column
from sandmill.kinds.script_text import Reader, functions_source
from sandmill.kinds.text.read import files_source
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts


def source(facts: TaskFacts, cues: Sequence[Cue]) -> list[str]:
    """Read both files, with the column of each cue in place of texts."""
    known = ["CUES = ["]
    for cue in cues:
        lists = [f"        {str(words)!r}," for words in cue.parameters]
        known += [f"    ({cue.column!r}, {cue.measure!r}, [", *lists, "    ]),"]
    measuring = "train, test = (measure_texts(table, ID, CUES) for table in (train, test))"
    return [*files_source(facts), *known, "]", *functions_source(measure_texts), "", "", measuring]


def measure_texts(table: pd.DataFrame, ident: str, cues: list[tuple[str, str, list[str]]]) -> pd.DataFrame:
    """Put what the description explains in place of texts; quotations of others do not count."""
    strings = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    texts = [name for name in strings if table[name].astype(str).str.len().mean() > 30]
    found: dict[str, np.ndarray] = {}
    for name in texts:
        own = table[name].astype(str).str.replace(r"[“„«「][^”“»」]*[”“»」]", " ", regex=True)
        found |= measure_words(own, cues)
    gone = {*texts, *found} - {ident}
    return pd.concat([table[[name for name in table if name not in gone]], pd.DataFrame(found)], axis=1)


def measure_words(own: pd.Series, cues: list[tuple[str, str, list[str]]]) -> dict[str, np.ndarray]:
    """Return the columns that the description explains, from texts without quotations."""
    found = {}
    for column, measure, lists in cues:
        counts = np.stack([count_words(own, re.findall('"([^"]+)"', words)) for words in lists])
        if measure == "presence":
            found[column] = counts[0] + 0.25
        elif measure == "grade":
            steps = np.linspace(0, 1, len(lists))
            found[column] = (steps @ counts + 0.25) / (counts.sum(axis=0) + 0.5)
        else:
            levels = np.array([words.split(":")[0] for words in lists])
            found[column] = levels[np.argmax(counts, axis=0)]
    return found


def count_words(texts: pd.Series, words: list[str]) -> np.ndarray:
    """Count whole words and phrases; the first letter may be a capital."""
    parts = [
        f"[{word[0]}{word[0].upper()}]{re.escape(word[1:])}" if word[0].isalpha() else re.escape(word) for word in words
    ]
    starts, ends = (
        [r"\b" if re.search(place.format("[a-zа-яёäöüß]"), word, re.IGNORECASE) else "" for word in words]
        for place in ("^{}", "{}$")
    )
    pattern = "|".join(map("".join, zip(starts, parts, ends, strict=True)))
    return texts.str.count(pattern).to_numpy(float)


measure_words = once_a_column(measure_words)
read = Reader(source).read
