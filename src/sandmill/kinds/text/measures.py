"""Measure in texts the quantities that the description explains, here and in scripts."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.script_text import functions_source
from sandmill.kinds.text.read import files_source, read_files
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts


def read(folder: Path, facts: TaskFacts, cues: tuple[Cue, ...]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both files and measure every quantity that the description explains."""
    train, test = read_files(folder, facts)
    known = [(cue.column, cue.measure, list(map(str, cue.parameters))) for cue in cues]
    return measure_texts(train, facts.id_column, known), measure_texts(test, facts.id_column, known)


def source(facts: TaskFacts, cues: tuple[Cue, ...]) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    known = ["CUES = ["]
    for cue in cues:
        known += [f"    ({cue.column!r}, {cue.measure!r}, ["]
        known += [f"        {str(words)!r}," for words in cue.parameters]
        known += ["    ]),"]
    return [
        *files_source(facts),
        *known,
        "]",
        *functions_source(measure_texts),
        "",
        "",
        "train, test = (measure_texts(table, ID, CUES) for table in (train, test))",
    ]


def measure_texts(table: pd.DataFrame, ident: str, cues: list[tuple[str, str, list[str]]]) -> pd.DataFrame:
    """Put what the description explains in place of texts; quotations of others do not count."""
    strings = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    texts = [name for name in strings if table[name].astype(str).str.len().mean() > 30]
    found = {}
    for name in texts:
        own = table[name].astype(str).str.replace(r"[“„«「][^”“»」]*[”“»」]", " ", regex=True)
        sentences = np.maximum(own.str.count(r"[.!?。！？]+").to_numpy(float), 1)
        for column, measure, lists in cues:
            counts = [count_words(own, re.findall('"([^"]+)"', words)) for words in lists]
            if measure == "presence":
                found[column] = (counts[0] + 0.25) / (sentences + 1)
            elif measure == "share":
                found[column] = (counts[0] + 0.5) / (counts[0] + counts[1] + 1)
            else:
                levels = np.array([words.split(":")[0] for words in lists])
                found[column] = levels[np.argmax(counts, axis=0)]
    gone = {*texts, *found} - {ident}
    return pd.concat([table[[name for name in table if name not in gone]], pd.DataFrame(found)], axis=1)


def count_words(texts: pd.Series, words: list[str]) -> np.ndarray:
    """Count whole words and phrases; the first letter may be a capital."""
    parts = [
        f"[{word[0]}{word[0].upper()}]{re.escape(word[1:])}" if word[0].isalpha() else re.escape(word) for word in words
    ]
    ends = [r"\b" if re.search(r"[a-zа-яäöüß]$", word, re.IGNORECASE) else "" for word in words]
    pattern = "|".join(f"{end}{part}{end}" for end, part in zip(ends, parts, strict=True))
    return texts.str.count(pattern).to_numpy(float)
