"""Which cells in doubt have to be summed, and which of them depend on each other."""

from collections.abc import Sequence

from sandmill.mechanism.limits import columns_of_limit
from sandmill.models.faults import CellFault
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import columns_of


def summed_faults(mechanism: Mechanism) -> list[CellFault]:
    """Return the faults of cells that the rule reads, and of those that bear on such cells through limits."""
    read = {name for term in mechanism.terms for name in columns_of(term.motif)}
    return [fault for fault in mechanism.cell_faults() if fault.column in read | _bearing(mechanism, read)]


def split_coupled(
    mechanism: Mechanism, faults: Sequence[CellFault]
) -> tuple[tuple[CellFault, ...], tuple[CellFault, ...]]:
    """Divide the faults of some rows into those of cells that depend on other cells, and the others.

    A cell that the rule does not read counts only if one that the rule reads depends on other cells.
    """
    read = {name for term in mechanism.terms for name in columns_of(term.motif)}
    limited = {name for limit in mechanism.limits for name in columns_of_limit(limit)}
    depends = [
        fault for fault in faults if any(mechanism.column_by_name[fault.column].loadings) or fault.column in limited
    ]
    alone = tuple(fault for fault in faults if fault not in depends)
    return (tuple(depends) if any(fault.column in read for fault in depends) else ()), alone


def _bearing(mechanism: Mechanism, read: set[str]) -> set[str]:
    """Return the faulty columns that limits connect to faulty columns of the rule, directly or through factors."""
    faulty = {fault.column for fault in mechanism.cell_faults()}
    loaded = {column.name for column in mechanism.columns if any(column.loadings)}
    pairs = [set(columns_of_limit(limit)) for limit in mechanism.limits]
    found = faulty & read
    while True:
        more = {name for pair in pairs if pair & found for name in pair & faulty}
        if found & loaded:
            # The truncation of one column says something of the factors, and so of the others.
            more |= {name for pair in pairs for name in pair & faulty & loaded}
        if more <= found:
            return found
        found |= more
