"""Put the facts of a plan into a design: units, notes, the numbers of forms, and the hints that state all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sandmill.design.decodings import convert_columns, mark_gaps, move_to_notes, state_sentinels, state_units
from sandmill.design.hints import HintPlan
from sandmill.design.rule import Rule
from sandmill.design.statements import state_forms
from sandmill.models.columns import Column
from sandmill.models.domain import Domain
from sandmill.models.faults import Pathology
from sandmill.models.hints import Hint, Notes
from sandmill.models.knowledge import ConversionWord
from sandmill.rng import Streams


@dataclass(frozen=True)
class Telling:
    """Columns and rule of a design with the facts that its texts state."""

    columns: tuple[Column, ...]
    rule: Rule
    """With the told motifs."""
    notes: Notes | None
    hints: tuple[Hint, ...]
    conversions: dict[str, ConversionWord]
    """By column."""

    def mark(self, faults: tuple[Pathology, ...], streams: Streams) -> tuple[tuple[Pathology, ...], tuple[Hint, ...]]:
        """Return faults in which numbers may stand for missing cells, and all hints of the design."""
        by_name = {column.name: column for column in self.columns}
        if self.rule.told:
            faults = mark_gaps(faults, by_name, streams)
        units = state_units(by_name, self.conversions, self.rule.read, streams)
        return faults, (*self.hints, *units, *state_sentinels(faults, self.rule.read, streams))


def tell(plan: HintPlan, rule: Rule, columns: Sequence[Column], domain: Domain, streams: Streams) -> Telling:
    """Draw the numbers of a plan over the columns of a design. An empty plan changes nothing."""
    converted, conversions = convert_columns(columns, plan, streams)
    notes, in_notes = None, tuple[Hint, ...]()
    if plan.told:
        converted, notes, in_notes = move_to_notes(converted, rule, domain, streams)
    forms, told = state_forms(plan, {column.name: column for column in converted}, streams)
    return Telling(converted, replace(rule, told=told), notes, (*forms, *in_notes), conversions)
