"""Text columns as numbers: how often words occur, in a few directions."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

WORDS_OF_PROSE = 5
"""A column whose cells have so many words on average holds prose, not names."""
DIRECTIONS = 20
TOKEN = r"[^\W_]+|[!?;:,.]"


def expand_texts(train: pd.DataFrame, test: pd.DataFrame, features: list[str]) -> tuple[list[str], dict[str, int]]:
    """Replace text columns by numeric ones in place: directions of word counts, and lengths.

    Returns:
        All features, and the number of directions of each text column.
    """
    made: list[str] = []
    texts: dict[str, int] = {}
    for name in features:
        columns = read_words(train, test, name) if is_prose(train[name]) else [name]
        if columns != [name]:
            texts[name] = len(columns) - 1
        made += columns
    return made, texts


def is_prose(cells: pd.Series) -> bool:
    """Whether cells are sentences."""
    if pd.api.types.is_numeric_dtype(cells):
        return False
    return bool(cells.dropna().astype(str).str.count(" ").mean() >= WORDS_OF_PROSE)


def read_words(train: pd.DataFrame, test: pd.DataFrame, name: str) -> list[str]:
    """Write square roots of word counts along their main directions, and the number of words, as columns."""
    texts = [frame[name].fillna("").astype(str) for frame in (train, test)]
    counter = CountVectorizer(token_pattern=TOKEN, min_df=3)
    counts = [counter.fit_transform(texts[0]).astype(float), counter.transform(texts[1]).astype(float)]
    sizes = [np.maximum(np.asarray(part.sum(axis=1)).ravel(), 1.0) for part in counts]
    rooted = [part.multiply(1 / size[:, None]).sqrt().tocsr() for part, size in zip(counts, sizes, strict=True)]
    middle = np.asarray(rooted[0].mean(axis=0)).ravel()
    directions = TruncatedSVD(min(DIRECTIONS, rooted[0].shape[1] - 1), algorithm="arpack", random_state=0)
    directions.fit(rooted[0].toarray() - middle)
    names = [f"{name} {place}" for place in range(directions.n_components)]
    for frame, part, size in zip((train, test), rooted, sizes, strict=True):
        along: Any = (part.toarray() - middle) @ directions.components_.T
        frame[names] = along
        frame[f"{name} length"] = size
        del frame[name]
    return [*names, f"{name} length"]
