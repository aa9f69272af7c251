"""Read files of texts as tables of general numbers."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.script_text import Reader, functions_source
from sandmill.kinds.table import read as tables_reader
from sandmill.models.package import TaskFacts

_JSON_READING = """\
public = sys.argv[1] if len(sys.argv) > 1 else "public"
train, test = read_objects(f"{public}/train.json"), read_objects(f"{public}/test.json")
"""


def source(facts: TaskFacts) -> list[str]:
    """Read both files, with numbers in place of texts. A text that is an id stays beside its numbers."""
    making = "train, test = expand_texts(train, test, ID)"
    return [*files_source(facts), *functions_source(expand_texts), "", "", making]


read = Reader(source).read


def files_source(facts: TaskFacts) -> list[str]:
    """Read CSV or JSON files as they are."""
    train, _ = tables_reader.files(facts)
    if train.endswith(".json"):
        return [*functions_source(read_objects), "", "", *_JSON_READING.splitlines()]
    return tables_reader.source(facts)


def read_objects(path: str) -> pd.DataFrame:
    """Make a table of a list of JSON objects; the parts of a nested object become one text."""
    table = pd.DataFrame(json.loads(Path(path).read_text(encoding="utf-8")))
    for name in table:
        if all(isinstance(cell, dict) for cell in table[name]):
            table[name] = [". ".join(map(str, cell.values())) for cell in table[name]]
    return table


def expand_texts(train: pd.DataFrame, test: pd.DataFrame, ident: str) -> list[pd.DataFrame]:
    """Put numbers in place of texts: directions of word and letter groups, lengths, and counts of marks."""
    strings = [name for name in test if not pd.api.types.is_numeric_dtype(test[name])]
    texts = [name for name in strings if test[name].astype(str).str.len().mean() > 30]
    parts = [[table.drop(columns=[name for name in texts if name != ident])] for table in (train, test)]
    for name in texts:
        cells = [table[name].fillna("").astype(str) for table in (train, test)]
        counted = count_words_and_pairs(cells)
        grouped = [count_letter_groups(part) for part in cells]
        made = (directions_of(counted, 20, f"{name} words"), directions_of(grouped, 10, f"{name} letters"))
        for place, part in enumerate(cells):
            parts[place] += [found[place] for found in made] + [count_marks(part, str(name))]
    return [pd.concat(part, axis=1) for part in parts]


def count_words_and_pairs(cells: list[pd.Series], most: int = 1000) -> list[np.ndarray]:
    """Count the words and pairs of neighbours that are most frequent in the first texts, and stand in three of them."""
    # A Chinese character counts as a word
    pattern = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+|[^\w\s]")
    listed = [pattern.findall(text.lower()) for part in cells for text in part]
    row = np.repeat(np.arange(len(listed)), [len(words) for words in listed])
    code, known = pd.factorize(np.array([word for words in listed for word in words], dtype=object))
    near = row[:-1] == row[1:]
    pairs = (code[:-1] + 1)[near] * len(known) + code[1:][near]
    row, code = np.r_[row, row[1:][near]], pd.factorize(np.r_[code, pairs])[0]
    row, code = row.astype(np.int64), code.astype(np.int64)
    size, first = code.max(initial=0) + 1, row < len(cells[0])
    holding = np.bincount(pd.unique(row[first] * size + code[first]) % size, minlength=size)
    total = np.where(holding >= 3, np.bincount(code[first], minlength=size), 0)
    chosen = np.argsort(-total, kind="stable")[: min(most, np.count_nonzero(total))]
    place = np.full(size, -1)
    place[chosen] = np.arange(len(chosen))
    found = place[code] >= 0
    at = row[found] * len(chosen) + place[code[found]]
    counts = np.bincount(at, minlength=len(listed) * len(chosen)).reshape(len(listed), -1)
    return np.split(counts, [len(cells[0])])


def directions_of(counts: list[np.ndarray], most: int, name: str) -> list[pd.DataFrame]:
    """Shares of what was counted, along the directions in which training texts differ most."""
    shares = [np.sqrt(part / np.maximum(part.sum(axis=1, keepdims=True), 1)) for part in counts]
    middle = shares[0].mean(axis=0)
    # Eigenvectors of the products, since the singular value decomposition of LAPACK fails on some sparse counts.
    _, directions = np.linalg.eigh((shares[0] - middle).T @ (shares[0] - middle))
    along = [(part - middle) @ directions[:, : -most - 1 : -1] for part in shares]
    return [pd.DataFrame(part).add_prefix(f"{name} ") for part in along]


def count_letter_groups(cells: pd.Series, groups: int = 512) -> np.ndarray:
    """Count two and three neighbouring letters, hashed to a few groups."""
    codes = [np.frombuffer(text.lower().encode("utf-32-le"), np.uint32) for text in cells]
    row = np.repeat(np.arange(len(codes)), [len(code) for code in codes])
    code, counts = np.concatenate(codes).astype(np.int64), np.zeros(len(codes) * groups)
    for size in (2, 3):
        if len(code) >= size:
            last = len(code) - size + 1
            hashed = sum(code[place : last + place] * 31**place * 7919 for place in range(size)) >> 3
            inside = row[:last] == row[size - 1 :]
            found = (row[:last] * groups + hashed % groups)[inside]
            counts += np.bincount(found, minlength=len(counts))
    return counts.reshape(len(codes), groups)


def count_marks(cells: pd.Series, name: str) -> pd.DataFrame:
    """Length, marks, digits and capital letters, and lengths of words and sentences."""
    patterns = {"words": r"\w+", "marks": r"[^\w\s]", "shouts": "[!！]", "questions": "[?？]"}
    patterns |= {"commas": "[,，]", "digits": r"\d", "capitals": "[A-ZÄÖÜА-Я]"}
    found = {mark: cells.str.count(pattern) for mark, pattern in patterns.items()}
    found |= {"long words": cells.str.count(r"\w{8,}"), "short words": cells.str.count(r"\b\w{1,3}\b")}
    found |= {"sentences": cells.str.count(r"[.!?。！？]+"), "letters": cells.str.len()}
    found["different words"] = cells.map(lambda text: len(set(re.findall(r"\w+", text))))
    of_sentences = found["letters"] / (found["sentences"] + 1)
    return pd.DataFrame({**found, "letters of a sentence": of_sentences}).add_prefix(f"{name} ")
