"""The mix of bands that a build was asked for and reached, added one shard at a time."""

from dataclasses import dataclass, field

from sandmill.errors import count
from sandmill.models.base import Band
from sandmill.models.reports import SlotReport


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
        lines = []
        for band in Band:
            ends = [reached for wanted, reached in self.ends.values() if wanted == band]
            got = sum(reached == band for _, reached in self.ends.values())
            if got < len(ends):
                empty = ends.count(None)
                other = len(ends) - ends.count(band) - empty
                lines.append(
                    f"Asked for {count(len(ends), f'{band} task')}, got {got}: of these slots {other} hold tasks of "
                    f"another band, since no design came nearer, and {empty} stayed empty."
                )
        return lines
