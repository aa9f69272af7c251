"""`texts_v1`: no description. Counts of words and letters, style, small topic models, and the columns beside."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, hstack
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB

from benchmarks.adversaries.heads import answer, beside, stacked, usual_models
from sandmill.kinds.script_text import Reader
from sandmill.kinds.text.read import files_source
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

WORDS = r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+|[^\w\s]"
LONG = 25
"""Letters of the average cell from which a column is a text."""
MARKS = (".", ",", ";", ":", "!", "?", "-", "(", '"', "'", "«", "。", "，", "！", "？", "…")


def texts_v1(public: Path, facts: TaskFacts) -> Array:
    """Predict from texts, and from columns beside them."""
    names = Reader(files_source).run(public, facts)
    train, test = names["train"], names["test"]
    is_text = [
        name
        for name in test
        if not pd.api.types.is_numeric_dtype(test[name]) and test[name].astype(str).str.len().mean() > LONG
    ]
    cells = [part[is_text].fillna("").astype(str).agg(" \n ".join, axis=1) for part in (train, test)]
    known, every = len(train), pd.concat(cells)
    dropped = [name for name in is_text if name != facts.id_column]
    tables = [part.drop(columns=dropped) for part in (train, test)]
    words = TfidfVectorizer(token_pattern=WORDS, ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit_transform(every)
    letters = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(2, 5), min_df=3, sublinear_tf=True, max_features=40_000
    ).fit_transform(every)
    counts = CountVectorizer(token_pattern=WORDS, min_df=3, binary=True).fit_transform(every)
    topics = NMF(16, init="nndsvda", max_iter=150, random_state=0).fit_transform(words)
    main = [TruncatedSVD(40, random_state=0).fit_transform(part) for part in (words, letters)]
    made = np.hstack([style(every), topics, *main])
    others = beside(tables, facts)
    dense = stacked(others, (made[:known], made[known:]))
    plain = stacked(others, (style(every)[:known], style(every)[known:]))
    wide = hstack([words, letters, csr_matrix(_scaled(np.vstack(others)))]).tocsr()
    linear = [LogisticRegression(C=c, max_iter=300) for c in (0.3, 3.0, 30.0)]
    blocks: list[Any] = [
        ((wide[:known], wide[known:]), linear),
        ((words[:known], words[known:]), linear),
        ((counts[:known], counts[known:]), [MultinomialNB(alpha=a) for a in (0.1, 1.0)] + [ComplementNB(alpha=1.0)]),
        (dense, usual_models()),
        (plain, usual_models()),
    ]
    return answer(tables, facts, blocks)


def _scaled(columns: Any) -> Any:
    return 0.3 * (columns - columns.mean(axis=0)) / (columns.std(axis=0) + 1e-9)


def style(texts: "pd.Series[str]") -> Any:
    """Lengths, marks, capitals, digits, repetition, and lengths of words and sentences."""
    rows = []
    for text in texts:
        found, sentences = re.findall(WORDS, text), [one for one in re.split(r"[.!?。！？]+", text) if one.strip()]
        named = [one for one in found if one[0].isalnum()] or [""]
        sizes = np.array([len(one) for one in named])
        per = np.array([len(re.findall(WORDS, one)) for one in sentences] or [0])
        letters = max(len(text), 1)
        row = [letters, len(named), len(sentences), sizes.mean(), sizes.std(), per.mean(), per.std()]
        row += [len(set(named)) / len(named), (sizes > 7).mean(), (sizes < 4).mean()]
        row += [sum(one.isupper() for one in text) / letters, sum(one.isdigit() for one in text) / letters]
        row += [sum(one.isupper() and len(one) > 1 for one in named), text.count("\n")]
        marks = [text.count(mark) for mark in MARKS]
        rows.append([*row, *marks, *(mark / len(named) for mark in marks[:6])])
    return np.array(rows, dtype=float)
