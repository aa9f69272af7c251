"""Stated facts as columns of numbers, in the form in which the rule uses them."""

from collections.abc import Mapping, Sequence

import numpy as np

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.columns import Categorical
from sandmill.models.hints import Form, Hint, SameUnits
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Aggregate, Linear, Lookup, Motif, columns_of


def fact_components(
    mechanism: Mechanism, cells: Mapping[str, Floats], hints: Sequence[Hint]
) -> tuple[tuple[str, ...], Floats]:
    """Return the stated facts that the rule uses, as columns.

    The column of a form is its value. That of a fact about cells, such as a unit, is the true value of its column on
    the scale of the rule, or the effect of the level if the column is a category. It is left out if only stated forms
    read its column: it is then part of theirs. Names of units that rows share are left out, too: their effects are
    learned, not stated.

    Args:
        mechanism: of the task.
        cells: visible cells by column, with the value of each aggregate under its key, as `Draw.observed` has them.
        hints: of the task.

    Returns:
        Names such as `formula:body_mass_index` and `units:weight`, and the columns, shape (rows, facts). NaN where a
        cell that the fact reads is missing.
    """
    facts = [hint.fact for hint in hints if hint.matters and not isinstance(hint.fact, SameUnits)]
    forms = [fact.motif for fact in facts if isinstance(fact, Form)]
    found: dict[str, Floats] = {}
    for fact in facts:
        if isinstance(fact, Form):
            found[f"{fact.motif.motif}:{fact.name}"] = _values(fact.motif, mechanism, cells)
        elif motif := _reading(mechanism, fact.column, forms):
            found[f"{fact.fact}:{fact.column}"] = _values(motif, mechanism, cells)
    columns = np.column_stack([*found.values()]) if found else np.empty((len(next(iter(cells.values()))), 0))
    return tuple(found), columns


def _reading(mechanism: Mechanism, name: str, forms: Sequence[Motif]) -> Motif | None:
    """Return the motif of a column that the rule reads outside of stated forms: its value, or the effects of levels."""
    reading = [term.motif for term in mechanism.terms if name in columns_of(term.motif) and term.motif not in forms]
    if reading and isinstance(mechanism.column_by_name[name].distribution, Categorical):
        return next((motif for motif in reading if isinstance(motif, Lookup)), None)
    return Linear(column=name) if reading else None


def _values(motif: Motif, mechanism: Mechanism, cells: Mapping[str, Floats]) -> Floats:
    columns = mechanism.column_by_name
    if isinstance(motif, Aggregate):
        return cells[motif.key]
    read = columns_of(motif)
    gap = np.any([np.isnan(cells[name]) for name in read], axis=0)
    # Rows with a gap become NaN; until then their cells hold a code that exists, or a positive number.
    held = {name: 0.0 if isinstance(columns[name].distribution, Categorical) else 1.0 for name in read}
    filled = {name: np.where(np.isnan(cells[name]), held[name], cells[name]) for name in read}
    return np.where(gap, np.nan, evaluate_motif(motif, columns, filled))
