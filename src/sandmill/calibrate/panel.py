"""Run the ladder of reference solvers on the public files of a task."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.conditions import solver_conditions
from sandmill.kinds.panel import Entry, entries
from sandmill.models.calibration import Tier
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts
from sandmill.scoring.forms import form_of

TRIVIAL = "prior"
"""The entry that is 0 on the gap scale."""
NOTHING_FOUND = "nothing found that other entries do not do"
"""Why an entry stays off the board of a task that has no use for its skill: it did not fail."""


def loader(module: str, name: str) -> Callable[[], Callable[..., Any]]:
    """Return what imports a function of `calibrate.solvers` when it runs: scikit-learn is slow to load.

    A module may hold its solvers in a table `SOLVERS`.
    """
    return partial(_load, module, name)


def _load(module: str, name: str) -> Callable[..., Any]:
    from importlib import import_module

    found = import_module(f"sandmill.calibrate.solvers.{module}")
    function: Callable[..., Any] = getattr(found, "SOLVERS", {}).get(name) or getattr(found, name)
    return function


PANEL = entries("table")
"""The ladder. One entry set for all tasks: an entry never knows how a task was made."""


def entries_of(kind: str) -> tuple[Entry, ...]:
    """Return the panel of a kind: its own, or that of tables."""
    found = kind_named(kind)
    own: tuple[Entry, ...] = found.load("panel").ENTRIES if found.panel else PANEL
    return own


@dataclass(frozen=True)
class PanelRun:
    """What one solver did on one task."""

    name: str
    tier: Tier
    answer: NDArray[Any] | None
    """The prediction; None if the solver failed."""
    failure: str | None
    cpu_s: float | None = None
    """Processor seconds; None for runs beside the panel. Work that solvers share counts for the first of them."""

    @property
    def has_run(self) -> bool:
        """Whether there is a prediction."""
        return self.failure is None

    @property
    def prediction(self) -> NDArray[Any]:
        """In the order of test.csv, as the encoding asks.

        Raises:
            ValueError: if the solver failed.
        """
        if self.answer is None:
            raise ValueError(f"{self.name} failed: {self.failure}")
        return self.answer


class Panel:
    """The ladder on one task: files are read once, when a solver needs them, and what entries share is made once."""

    def __init__(self, folder: Path, facts: TaskFacts, earlier: "Panel | None" = None) -> None:
        self.facts, self._folder, self._earlier = facts, folder, earlier

    @cached_property
    def table(self) -> Any:
        """The files as solvers read them, a `solvers.table.Table`.

        Raises:
            OSError: if the folder cannot be read.
        """
        from sandmill.calibrate.solvers.table import Table

        table = Table.read(self._folder, self.facts)
        if self._earlier is not None and _train_alike(table, self._earlier.table):
            table.learned = self._earlier.table.learned
        return table

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The ladder."""
        return PANEL

    def run(self, names: Sequence[str] | None = None) -> list[PanelRun]:
        """Solve the task with every entry, or with those named, in the panel's order.

        One thread of linear algebra, whatever the machine: the sums are then the same everywhere. A solver that raises
        or answers in the wrong shape is a failed run, not an error of this method.

        Raises:
            KeyError: if a name is not in the panel.
        """
        known = {entry.name: entry for entry in self.entries}
        wanted = self.entries if names is None else [known[name] for name in names]
        with solver_conditions():
            return [self._timed(entry) for entry in wanted]

    def _timed(self, entry: Entry) -> PanelRun:
        _, started = self.table, time.process_time()  # reading the files is not part of the seconds
        return replace(self._run(entry), cpu_s=time.process_time() - started)

    def _run(self, entry: Entry) -> PanelRun:
        return self.run_solver(entry.name, entry.tier, loader(entry.tier, entry.name))

    def with_table(self, table: Any) -> "Panel":
        """A panel on another table of the same task, such as a reader's."""
        other = Panel(self._folder, self.facts)
        other.table = table
        return other

    def run_solver(
        self,
        name: str,
        tier: Tier,
        load: Callable[[], Callable[[Any], Any]],
        decision: str = "decide",
    ) -> PanelRun:
        """Run one solver; whatever it raises is recorded, since solvers are code like an agent's.

        `decision` is a function of `solvers.decisions`, which turns scores into an answer.
        """
        from sandmill.calibrate.solvers.columns import settle, solve
        from sandmill.calibrate.solvers.table import NothingFound

        table = self.table
        try:
            answer = np.asarray(settle(solve(load(), table), table, loader("decisions", decision)()))
            form, facts = form_of(table.facts), table.facts
            width = form.width(facts)
            failure = fault_of(answer, (len(table.ids), *((width,) if width else ())), facts)
        except NothingFound:
            failure = NOTHING_FOUND
        except Exception as error:  # noqa: BLE001
            failure = f"{type(error).__name__}: {error}"
        return PanelRun(name, tier, None if failure else answer, failure)


def open_panel(folder: Path, facts: TaskFacts, earlier: "Panel | None" = None) -> Panel:
    """Return the panel of a task: that of its kind if it has one of its own, else the ladder of tables."""
    if kind_named(facts.kind).panel:
        from sandmill.calibrate.own_panel import OwnPanel

        return OwnPanel(folder, facts)
    return Panel(folder, facts, earlier)


def run_panel(folder: Path, facts: TaskFacts, names: Sequence[str] | None = None) -> list[PanelRun]:
    """Solve a task with every entry, or with those named: `Panel.run` on a folder."""
    return open_panel(folder, facts).run(names)


def _train_alike(table: Any, other: Any) -> bool:
    """Whether what one table has learned holds for the other: the same rows, read in the same way."""
    return table.facts == other.facts and table.kinds == other.kinds and bool(table.train.equals(other.train))


def fault_of(prediction: NDArray[Any], shape: tuple[int, ...], facts: TaskFacts) -> str | None:
    """Say what is wrong with a prediction, if anything."""
    if prediction.shape != shape:
        return f"prediction of shape {prediction.shape}; expected {shape}"
    if prediction.dtype == object:
        strange = sum(not isinstance(cell, str | None) for cell in prediction.ravel())
        return f"{strange} answers are no texts" if strange else None
    low, high = form_of(facts).limits(facts)
    bad = int((~(np.isfinite(prediction) & (prediction >= low) & (prediction <= high))).sum())
    return f"{bad} predicted values are not finite, or not from {low:g} to {high:g}" if bad else None
