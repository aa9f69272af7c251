"""The mix of bands that a build was asked for and reached, added one shard at a time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandmill.errors import count
from sandmill.models.base import Band
from sandmill.models.calibration import band_ends
from sandmill.models.reports import SlotReport
from sandmill.report.text_tables import TextTable

_MOST_DIFFICULTIES = 5


@dataclass(frozen=True)
class SlotEnd:
    """Outcome of one slot."""

    wanted: str
    reached: str | None
    attempts: int
    difficulty: float | None


@dataclass
class MixCounts:
    """Outcomes of the slots added so far."""

    ends: dict[int, SlotEnd] = field(default_factory=dict)
    """By slot number. Of several rounds, the one that filled the slot counts."""

    def add(self, report: SlotReport) -> None:
        """Count one report. Reports may come in any order."""
        if report.reached or report.slot not in self.ends:
            verified = (step.difficulty for step in report.path if step.outcome == "verified")
            self.ends[report.slot] = SlotEnd(report.wanted, report.reached, report.attempts, next(verified, None))

    def explain(self) -> list[str]:
        """Write one line for each band that got fewer slots than were asked for; no line if the mix was met."""
        asked = Counter(end.wanted for end in self.ends.values())
        got = Counter(end.reached for end in self.ends.values() if end.reached)
        missed = [end for end in self.ends.values() if end.reached != end.wanted]
        return [
            f"Asked for {count(asked[band], f'{band} task')}, got {got[band]}. "
            + _outcome(band, [end for end in missed if end.wanted == band])
            for band in Band
            if got[band] < asked[band]
        ]


def _outcome(band: Band, ends: Sequence[SlotEnd]) -> str:
    """Say what became of the slots that hold no task of a band."""
    sentences = []
    for other in Band:
        if held := [end for end in ends if end.reached == other]:
            is_one = len(held) == 1
            sentences.append(
                f"{count(len(held), 'slot')} {f'holds a {other} task' if is_one else f'hold {other} tasks'} instead: "
                f"after {count(sum(end.attempts for end in held), 'attempt')} no design came nearer. "
                f"{'Its difficulty is' if is_one else 'Their difficulties are'} {_difficulties(band, held)}."
            )
    if empty := sum(end.reached is None for end in ends):
        sentences.append(f"{count(empty, 'slot')} stayed empty.")
    return " ".join(sentences)


def _difficulties(band: Band, ends: Sequence[SlotEnd]) -> str:
    """List the difficulties, with enough digits to lie outside the band, and the end that they lie beyond."""
    found = sorted(end.difficulty for end in ends if end.difficulty is not None)
    if not found:
        return "unknown"
    low, high = band_ends(band)

    def write(difficulty: float) -> str:
        written = (f"{difficulty:.{digits}f}" for digits in (2, 4, 6))
        return next((text for text in written if not low <= float(text) <= high), f"{difficulty:.6f}")

    shown = ", ".join(map(write, found[:_MOST_DIFFICULTIES])) + (", ..." if len(found) > _MOST_DIFFICULTIES else "")
    return f"{shown} ({band} {f'begins at {low:g}' if found[0] < low else f'ends at {high:g}'})"


def mix_table(mix: MixCounts) -> TextTable:
    """Show the slots that each band was asked for and got, and what became of the slots that were asked for it."""
    ends = list(mix.ends.values())
    rows = []
    for band in Band:
        asked = [end for end in ends if end.wanted == band]
        reached = sum(end.reached == band for end in ends)
        if asked or reached:
            met = sum(end.reached == band for end in asked)
            empty = sum(end.reached is None for end in asked)
            rows.append((str(band), *map(str, (len(asked), reached, met, len(asked) - met - empty, empty))))
    header = ("band", "asked", "reached", "as asked", "in another band", "empty")
    return TextTable("Mix asked for and reached", header, tuple(rows), frozenset({1, 2, 3, 4, 5}))
