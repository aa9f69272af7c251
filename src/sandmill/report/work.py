"""The mix of bands that a build was asked for and reached, added one shard at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sandmill.errors import count
from sandmill.models.base import Band
from sandmill.models.reports import SlotReport
from sandmill.report.text_tables import TextTable


@dataclass
class MixCounts:
    """Outcomes of the slots added so far."""

    ends: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    """Band asked for and band reached, by slot number. Of several rounds, the one that filled the slot counts."""

    def add(self, report: SlotReport) -> None:
        """Count one report. Reports may come in any order."""
        if report.reached or report.slot not in self.ends:
            self.ends[report.slot] = (report.wanted, report.reached)

    def explain(self) -> list[str]:
        """Write one line for each band that got fewer slots than were asked for; no line if the mix was met."""
        return [
            f"Asked for {count(asked, f'{band} task')}, got {reached}: of these slots {other} hold tasks of another "
            f"band, since no design came nearer, and {empty} stayed empty."
            for band, asked, reached, _, other, empty in self.rows()
            if reached < asked
        ]

    def rows(self) -> Iterator[tuple[Band, int, int, int, int, int]]:
        """Yield each band with the slots that it was asked for and got, and what became of those asked for it."""
        for band in Band:
            asked = [reached for wanted, reached in self.ends.values() if wanted == band]
            reached = sum(other == band for _, other in self.ends.values())
            if asked or reached:
                met, empty = asked.count(band), asked.count(None)
                yield band, len(asked), reached, met, len(asked) - met - empty, empty


def mix_table(mix: MixCounts) -> TextTable:
    """Show the slots that each band was asked for and got, and what became of the slots that were asked for it."""
    header = ("band", "asked", "reached", "as asked", "in another band", "empty")
    rows = tuple(tuple(map(str, row)) for row in mix.rows())
    return TextTable("Mix asked for and reached", header, rows, frozenset({1, 2, 3, 4, 5}))
