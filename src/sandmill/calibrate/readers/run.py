"""Run readers: usual models on a table to which the stated facts were added."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.panel import Panel, PanelRun
from sandmill.calibrate.readers.stated import Stated
from sandmill.models.calibration import Tier
from sandmill.models.kind import kind_named

READERS = (
    "reader_linear",
    "reader_search",
    "reader_sparse",
    "reader_process",
    "reader_trees",
    "reader_mixture",
    "reader_blend",
    "reader_ensemble",
)
"""Readers by the model that each uses."""


def reader_names(kind: str) -> tuple[str, ...]:
    """Return the names of the readers of a kind: its own, or those of tables."""
    found = kind_named(kind)
    if not found.panel:
        return READERS
    return tuple(entry.name for entry in getattr(found.load("panel"), "READERS", ()))


def read_table(panel: Panel, folder: Path, stated: Stated, earlier: Any = None) -> Any:
    """Make the table of a reader: decoded cells, and the stated quantities as columns.

    Args:
        panel: of the same folder.
        folder: holds the public files.
        stated: facts found in them.
        earlier: a reader's table with the same training rows, whose fits are taken over.
    """
    from sandmill.calibrate.readers.rewrite import rewritten

    return rewritten(panel.table, folder, stated, earlier)


def run_readers(panel: Panel, table: Any, names: tuple[str, ...] = READERS) -> list[PanelRun]:
    """Solve a task with readers.

    Args:
        panel: of the task; failures are recorded as in its own runs.
        table: from `read_table`.
        names: which of `READERS`.
    """
    beside = panel.beside(table)
    with solver_conditions():
        return [
            beside.run_solver(name, Tier.READER, _loader(name), _DECISIONS.get(name, _load_decision)) for name in names
        ]


def _loader(name: str) -> Callable[[], Callable[[Any], Any]]:
    def load() -> Callable[[Any], Any]:
        from sandmill.calibrate.readers import solvers

        found: Callable[[Any], Any] = getattr(solvers, name)
        return found

    return load


def _load_decision() -> Callable[[Any, Any], Any]:
    from sandmill.calibrate.solvers.decisions import decide

    return decide


def _load_cuts() -> Callable[[Any, Any], Any]:
    from sandmill.calibrate.solvers.cutoffs import cut_best

    return cut_best


_DECISIONS: Mapping[str, Callable[[], Callable[[Any, Any], Any]]] = {"reader_ensemble": _load_cuts}
"""What turns scores into answers, where it is not `decide`: the adversary's decision for the same ensemble."""
