"""Facts of the files beside the training table: the description, the data dictionary, a child table."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from sandmill.learning.facts import UNKNOWN
from sandmill.models.hints import DATA_DICTIONARY

_DESCRIPTION = "description.md"
_MOST_BYTES = 1 << 20
_TABLES = frozenset({"train.csv", "test.csv", "sample_submission.csv"})
_NOT_OF_COLUMNS = frozenset({"files", "evaluation", "environment", "submission", "overview"})
"""Headings of sections that define no quantity over columns."""
_QUOTED = re.compile(r"`([^`\n]+)`")
_ARITHMETIC = re.compile(
    r"\b(divid\w+|multipl\w+|times|product|ratio|quotient|sum|minus|plus|subtract\w*|difference|numerator|over|per)\b"
    r"|[`)]\s*[-+*/÷×]\s*[`(]",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(above|below|at most|at least|more than|less than|under|exceed\w*|if|whose|provided|once|unless|where)\b"
    r"|\bas long as\b|[<>≤≥]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")


def text_facts(public: Path, features: Collection[str]) -> dict[str, str]:
    """Return what lies beside the training table, and what the description states over the columns."""
    names = {path.name for path in public.iterdir()} if public.is_dir() else set()
    if not names:
        return {}
    further = {name for name in names - _TABLES if name.endswith(".csv")}
    return {
        "child": "yes" if further else "no",
        "dictionary": "yes" if DATA_DICTIONARY in names else "no",
        "states": _states(public / _DESCRIPTION, features),
    }


def _states(path: Path, features: Collection[str]) -> str:
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return UNKNOWN if not features else "nothing"
    sentences = list(_sentences(path.read_text(encoding="utf-8", errors="replace")))
    quoted = [{*_QUOTED.findall(sentence)} & {*features} for sentence in sentences]
    formula = any(len(of) > 1 and _ARITHMETIC.search(text) for text, of in zip(sentences, quoted, strict=True))
    condition = any(of and _is_condition(text) for text, of in zip(sentences, quoted, strict=True))
    return "both" if formula and condition else "formula" if formula else "condition" if condition else "nothing"


def _is_condition(sentence: str) -> bool:
    """Whether a sentence compares a column with a number or a level: a limit's words, and no arithmetic."""
    return bool(_LIMIT.search(sentence)) and not _ARITHMETIC.search(sentence)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of the paragraphs; tables, code and the sections of every description are left out."""
    is_left_out, is_code = False, False
    for line in text.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        elif line.startswith("#"):
            is_left_out = line.strip("# ").lower() in _NOT_OF_COLUMNS
        elif not (is_left_out or is_code or line.startswith("|")):
            yield from _SENTENCE_END.split(line)
