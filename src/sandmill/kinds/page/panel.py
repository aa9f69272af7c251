"""The panel of pages that are to be cleaned: filters, and regressions of a pixel on what is around it."""

from pathlib import Path

from sandmill.kinds.page import filters, regressions
from sandmill.kinds.page.filters import TaskPages, read_folder
from sandmill.kinds.page.regressions import page_features, reading
from sandmill.kinds.page.scripts import ladder
from sandmill.kinds.panel import Entry, entries
from sandmill.models.calibration import Tier
from sandmill.models.package import TaskFacts

__all__ = ["ADVERSARIES", "ENTRIES", "READERS", "TWINS", "WITH_MORE_ITEMS", "ladder", "read", "reading"]

ENTRIES = entries("page", {**filters.SOLVERS, **regressions.SOLVERS})
WITH_MORE_ITEMS = ("boosted_features", "second_look")
"""Entries that are given more pages to learn from, which bounds the best possible score from below."""
TWINS = {"reader_boosted": "boosted_features", "reader_second": "second_look", "reader_average": "average_of_two"}
"""Reader to the entry that does the same without moving lines."""
READERS = tuple(Entry(reader, Tier.READER, solve=regressions.SOLVERS[twin]) for reader, twin in TWINS.items())
"""Solvers that undo the slips of lines which the description states. The pages that they get are without slips."""
ADVERSARIES = (Entry("aligned_lines", Tier.SEARCH, solve=regressions.SOLVERS["aligned_lines"]),)
"""Blind solvers that are not on the leaderboard."""


def read(folder: Path, facts: TaskFacts) -> TaskPages:
    """Read all pages of the public files."""
    dirty, clean, test = (read_folder(folder / part) for part in ("train", "train_cleaned", "test"))
    return TaskPages(dirty, clean, test, page_features)
