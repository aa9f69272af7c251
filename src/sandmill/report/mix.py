"""The mix of difficulty in words: bands that got fewer slots than were asked for, and the outcome of those slots."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandmill.errors import count
from sandmill.models.base import Band
from sandmill.models.calibration import band_ends
from sandmill.models.reports import SlotReport

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
    sentences = [_substitute(band, other, [end for end in ends if end.reached == other]) for other in Band]
    if empty := sum(end.reached is None for end in ends):
        sentences.append(f"{count(empty, 'slot')} stayed empty.")
    return " ".join(filter(None, sentences))


def _substitute(band: Band, other: Band, ends: Sequence[SlotEnd]) -> str:
    if not ends:
        return ""
    is_one = len(ends) == 1
    held = f"holds a {other} task" if is_one else f"hold {other} tasks"
    attempts = count(sum(end.attempts for end in ends), "attempt")
    return (
        f"{count(len(ends), 'slot')} {held} instead: after {attempts} no design came nearer. "
        f"{'Its difficulty is' if is_one else 'Their difficulties are'} {_difficulties(band, ends)}."
    )


def _difficulties(band: Band, ends: Sequence[SlotEnd]) -> str:
    """List the difficulties, with the end of the band that they lie beyond."""
    found = sorted(end.difficulty for end in ends if end.difficulty is not None)
    if not found:
        return "unknown"
    more = ", ..." if len(found) > _MOST_DIFFICULTIES else ""
    shown = ", ".join(_outside(difficulty, band) for difficulty in found[:_MOST_DIFFICULTIES]) + more
    low, high = band_ends(band)
    end = f"begins at {low:g}" if found[0] < low else f"ends at {high:g}"
    return f"{shown} ({band} {end})"


def _outside(difficulty: float, band: Band) -> str:
    """Write a difficulty with enough digits that the written number lies outside the band."""
    low, high = band_ends(band)
    written = (f"{difficulty:.{digits}f}" for digits in (2, 4, 6))
    return next((text for text in written if not low <= float(text) <= high), f"{difficulty:.6f}")
