"""All runs on one set of files: the panel, readers of the stated facts, and adversaries beside the leaderboard."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sandmill.calibrate.adversary import run_adversary
from sandmill.calibrate.panel import PANEL, Panel, PanelRun
from sandmill.calibrate.readers import READERS, Stated, read_table, run_readers
from sandmill.layouts.base import SAMPLE
from sandmill.layouts.tables import TABLES
from sandmill.models.base import MedalRule
from sandmill.models.calibration import Tier
from sandmill.models.kinds import kind_named
from sandmill.models.package import TaskFacts

_ITEMS = frozenset({SAMPLE, TABLES.train, TABLES.test})
"""Tables that are no child tables."""
TWINS: Mapping[str, str] = {
    "reader_linear": "linear_tuned",
    "reader_search": "auto_search",
    "reader_sparse": "sparse_search",
    "reader_process": "sparse_process",
    "reader_trees": "auto_trees",
    "reader_blend": "blend_searched",
}
"""Entry of the panel with the same model as a reader."""


def board_entries(rule: MedalRule) -> tuple[str, ...]:
    """Return the entries of the panel that are on the board. By ranks, averages of searches would take most golds."""
    return tuple(entry.name for entry in PANEL if rule == "milestones" or entry.tier is not Tier.ENSEMBLE)


class Contest:
    """Runs over one set of public files.

    Args:
        folder: an existing folder, into which the files are written.
        files: content by path.
        facts: what the description says.
        stated: facts that readers know; nothing if there are none.
        earlier: runs with the same training rows, whose fits are taken over.
    """

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, bytes],
        facts: TaskFacts,
        stated: Stated,
        earlier: "Contest | None" = None,
    ) -> None:
        for path, content in files.items():
            (folder / path).write_bytes(content)
        self._rule = kind_named(facts.kind).medals
        self._child_tables = {
            path: pl.read_csv(content, schema_overrides={facts.id_column: pl.String})
            for path, content in files.items()
            if path.endswith(".csv") and path not in _ITEMS
        }
        self.panel: Panel = Panel(folder, facts, earlier.panel if earlier else None)
        self.reader: Any = None
        """The table of a reader; None if nothing is stated."""
        if stated:
            self.reader = read_table(self.panel, folder, stated, earlier.reader if earlier else None)

    def run(self, names: Sequence[str]) -> list[PanelRun]:
        """Run entries of the panel."""
        return self.panel.run(names)

    def run_readers(self) -> list[PanelRun]:
        """Run the readers; nothing if nothing is stated."""
        return [] if self.reader is None else run_readers(self.panel, self.reader, READERS)

    def run_adversaries(self) -> list[PanelRun]:
        """Run the frozen solver that is on no board, where milestones decide medals."""
        if self._rule != "milestones":
            return []
        return [run_adversary(self.panel, self._child_tables)]
