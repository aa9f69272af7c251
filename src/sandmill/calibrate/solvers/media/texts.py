"""Read files of texts as tables of numbers that know nothing of a task, here and in scripts."""

import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from sandmill.calibrate.solvers import tables_reader
from sandmill.models.package import TaskFacts

_JSON_READING = """\
public = sys.argv[1] if len(sys.argv) > 1 else "public"
train, test = read_objects(f"{public}/train.json"), read_objects(f"{public}/test.json")
"""


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both files, with numbers in place of texts. A text that is an id stays beside its numbers."""
    train, test = read_files(folder, facts)
    return expand_texts(train, test, facts.id_column)


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    functions = (expand_texts, ngram_directions, count_marks)
    return [*files_source(facts), *functions_source(*functions), "train, test = expand_texts(train, test, ID)"]


def read_files(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read CSV or JSON files as they are."""
    if (folder / "train.json").exists():
        return read_objects(f"{folder}/train.json"), read_objects(f"{folder}/test.json")
    return tables_reader.read(folder, facts)


def files_source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script."""
    train, _ = tables_reader.files(facts)
    if train.endswith(".json"):
        return [*functions_source(read_objects), *_JSON_READING.splitlines()]
    return tables_reader.source(facts)


def functions_source(*functions: object) -> list[str]:
    """Functions of this library as lines of a script."""
    texts = [inspect.getsource(function) for function in functions]  # type: ignore[arg-type]
    return [line for text in texts for line in ("", "", *text.splitlines())] + ["", ""]


def read_objects(path: str) -> pd.DataFrame:
    """Make a table of a list of JSON objects; the parts of a nested object become one text."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    table = pd.DataFrame(rows)
    for name in table:
        if table[name].map(type).eq(dict).all():
            table[name] = [". ".join(map(str, cell.values())) for cell in table[name]]
    return table


def expand_texts(train: pd.DataFrame, test: pd.DataFrame, ident: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put numbers in place of texts: directions of word and letter groups, and counts of marks."""
    strings = [name for name in test if not pd.api.types.is_numeric_dtype(test[name])]
    texts = [name for name in strings if test[name].astype(str).str.len().mean() > 30]
    for name in texts:
        cells = [table[name].fillna("").astype(str).reset_index(drop=True) for table in (train, test)]
        words = {"token_pattern": r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+|[^\w\s]"}
        letters = {"analyzer": "char", "ngram_range": (2, 3)}
        groups = [ngram_directions(cells, 20, f"{name} words", **words)]
        groups += [ngram_directions(cells, 10, f"{name} letters", **letters)]
        groups += [[count_marks(part, name) for part in cells]]
        kept = [table if name == ident else table.drop(columns=name) for table in (train, test)]
        train, test = (pd.concat(parts, axis=1) for parts in zip(kept, *groups))  # noqa: B905
    return train, test


def ngram_directions(cells, count, name, **how):
    """Shares of words or letter groups, along the directions in which training texts differ most."""
    counter = CountVectorizer(min_df=3, max_features=800, dtype=float, **how).fit(cells[0])
    counts = [counter.transform(part).toarray() for part in cells]
    shares = [np.sqrt(part / np.maximum(part.sum(axis=1, keepdims=True), 1)) for part in counts]
    middle = shares[0].mean(axis=0)
    _, _, directions = np.linalg.svd(shares[0] - middle, full_matrices=False)
    along = [(part - middle) @ directions[:count].T for part in shares]
    return [pd.DataFrame(part).add_prefix(f"{name} ") for part in along]


def count_marks(cells, name):
    """Length, marks, digits and capital letters."""
    letters = np.maximum(cells.str.len(), 1)
    found = {"letters": letters, "words": cells.str.count(r"\w+"), "marks": cells.str.count(r"[^\w\s]")}
    for mark, pattern in (("shouts", "[!！]"), ("questions", "[?？]"), ("commas", "[,，]"), ("digits", r"\d")):
        found[mark] = cells.str.count(pattern)
    found["capitals"] = cells.map(lambda text: sum(map(str.isupper, text))) / letters
    return pd.DataFrame(found).add_prefix(f"{name} ")
