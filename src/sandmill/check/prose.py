"""Gate on the prose of a task: what an editor would mark in its description and its data dictionary."""

import re
from collections.abc import Iterator

from sandmill.check.package_tables import PackageTables
from sandmill.kinds.files.base import DESCRIPTION
from sandmill.models.english import shown_faults, text_faults
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.scoring.catalogue import METRICS

_TITLES = sorted((metric.title.partition(" (")[0] for metric in METRICS.values() if metric.has_article), key=len)[::-1]
_ANY = f"(?:{'|'.join(map(re.escape, _TITLES))})"
_BARE_METRIC = re.compile(
    rf"(?<!the )(?<![\w-] )(?<![\w-]){_ANY}\b|\b(?:by|is|take|use|compute|on|are) {_ANY}\b", re.IGNORECASE
)
"""A metric that has an article and stands without it: at a beginning, or behind a verb or a preposition."""


def prose_faults(text: str) -> list[str]:
    """List the faults of a description or of a part of it, each with the words around it."""
    return [*_title(text), *shown_faults("a metric without its article", _BARE_METRIC, text), *text_faults(text)]


def check_prose(tables: PackageTables) -> Iterator[str]:
    """Check the prose of the description and of the data dictionary."""
    for name, text in (
        (DESCRIPTION, tables.description),
        (DATA_DICTIONARY, tables.package.public.get(DATA_DICTIONARY, b"").decode(errors="replace")),
    ):
        yield from (f"{name}: {fault}" for fault in prose_faults(text))


def _title(text: str) -> Iterator[str]:
    """A title may name only columns that the text names too."""
    named = re.search(r"^# .*: predict (\w+(?:, \w+)*(?: and \w+)??)(?: and \d+ other labels)?$", text, re.MULTILINE)
    for name in re.split(r", | and ", named[1]) if named else ():
        if f"`{name}`" not in text:
            yield f"the title names a column that the text does not: {name}"
