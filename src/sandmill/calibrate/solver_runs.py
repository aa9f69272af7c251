"""All runs on one set of files: the panel, readers of the stated facts, and adversaries beside the leaderboard."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sandmill.calibrate.adversary import forget_children, run_adversary, run_search, take_weights
from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.own_panel import OwnPanel
from sandmill.calibrate.panel import Panel, PanelRun, loader, open_panel
from sandmill.calibrate.readers import READERS, Stated, read_table, run_readers
from sandmill.kinds.files.base import Layout, write_files
from sandmill.kinds.panel import Entry
from sandmill.models.calibration import Tier
from sandmill.models.kind import kind_named
from sandmill.models.mechanism import Mechanism
from sandmill.models.package import TaskFacts


class SolverRuns:
    """Runs over one set of public files, which are written into an existing folder.

    Fits are taken over from `earlier` runs with the same training rows, and the weights of ensembles from runs `like`
    these after another training draw.
    """

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, bytes],
        facts: TaskFacts,
        stated: Stated,
        earlier: "SolverRuns | None" = None,
        like: "SolverRuns | None" = None,
    ) -> None:
        write_files(folder, files)
        self._folder, self._facts = folder, facts
        self._informed: PanelRun | None = None
        self._child_tables = child_tables(files, facts)
        self.panel: Panel = open_panel(folder, facts, earlier.panel if earlier else None)
        self.stated = stated
        self.reader: Any = None
        """The table of a reader, or what a panel of its own makes for readers; None if nothing is stated."""
        if isinstance(self.panel, OwnPanel):
            self.reader = self.panel.reading(stated.cues)
            return
        if stated:
            self.reader = read_table(self.panel, folder, stated, earlier.reader if earlier else None)
        if earlier and self._child_tables:
            forget_children(self.panel.table)
        if like:
            take_weights(self.panel.table, like.panel.table)
            if self.reader is not None:
                take_weights(self.reader, like.reader)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Entries of the panel."""
        return self.panel.entries

    def run(self, names: Sequence[str] | None = None) -> list[PanelRun]:
        """Run entries of the panel, or all of them."""
        return self.panel.run(names)

    def run_readers(self, names: tuple[str, ...] = READERS) -> list[PanelRun]:
        """Run the readers, or those named if the panel is that of tables; nothing if nothing is stated."""
        if isinstance(self.panel, OwnPanel):
            return [] if self.reader is None else self.panel.run_readers(self.reader)
        return [] if self.reader is None else run_readers(self.panel, self.reader, names)

    def run_adversaries(self) -> list[PanelRun]:
        """Run the solvers that are on no board."""
        if isinstance(self.panel, OwnPanel):
            return self.panel.run_adversaries()
        return [run_adversary(self.panel, self._child_tables)]

    def run_search(self) -> PanelRun | None:
        """Run the search for forms; None where files show no columns, or nothing is stated."""
        if self.reader is None or not kind_named(self._facts.kind).shows_columns:
            return None
        return run_search(self.panel, self._folder, self._child_tables)

    def run_informed(self, mechanism: Mechanism) -> PanelRun | None:
        """Run a linear model on the features of the rule: how much is lost by not knowing their weights alone.

        No honest agent knows the forms of all features, so it is on no board.

        Returns:
            None if the files do not hold the columns that it would use.
        """
        if self._informed is None and kind_named(self._facts.kind).shows_columns:
            from sandmill.calibrate.stated_lines import insight_table

            features = self.panel.with_table(insight_table(self._folder, self._facts, mechanism, self.stated))
            with solver_conditions():
                self._informed = features.run_solver("informed", Tier.SEARCH, loader("readers", "informed"))
        return self._informed


def child_tables(files: Mapping[str, bytes], facts: TaskFacts) -> dict[str, pl.DataFrame]:
    """Return the tables of a public folder beside training rows, test rows and the sample submission.

    Kinds whose items are rendered have no child tables.
    """
    kind = kind_named(facts.kind)
    layout: Layout = kind.load("layout")
    others = sorted(path for path in files.keys() - layout.files if path.endswith(".csv") and kind.shows_columns)
    return {path: pl.read_csv(files[path]) for path in others}
