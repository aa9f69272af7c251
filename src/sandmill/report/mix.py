"""The mix of difficulty in words: which bands got fewer slots than were asked for, and what became of those slots."""

from collections import Counter
from collections.abc import Iterable, Sequence

from sandmill.models.base import Band
from sandmill.models.calibration import band_ends
from sandmill.models.reports import SlotReport

_MOST_DIFFICULTIES = 5


def explain_missed_mix(slots: Iterable[SlotReport]) -> list[str]:
    """Write one line for each band that got fewer slots than were asked for; no line if the mix was met.

    Args:
        slots: reports of all shards and rounds, any order, read once. The report that filled a slot counts.
    """
    final: dict[int, SlotReport] = {}
    for report in slots:
        if report.reached or report.slot not in final:
            final[report.slot] = report
    asked = Counter(report.wanted for report in final.values())
    got = Counter(report.reached for report in final.values() if report.reached)
    missed = [report for report in final.values() if report.reached != report.wanted]
    return [
        f"Asked for {_count(asked[band], f'{band} task')}, got {got[band]}. "
        + _what_became(band, [r for r in missed if r.wanted == band])
        for band in Band
        if got[band] < asked[band]
    ]


def _what_became(band: Band, reports: Sequence[SlotReport]) -> str:
    sentences = [_became(band, other, [r for r in reports if r.reached == other]) for other in Band]
    if empty := sum(report.reached is None for report in reports):
        sentences.append(f"{_count(empty, 'slot')} stayed empty.")
    return " ".join(filter(None, sentences))


def _became(band: Band, other: Band, reports: Sequence[SlotReport]) -> str:
    if not reports:
        return ""
    is_one = len(reports) == 1
    held = f"holds a {other} task" if is_one else f"hold {other} tasks"
    attempts = _count(sum(report.attempts for report in reports), "attempt")
    return (
        f"{_count(len(reports), 'slot')} {held} instead: after {attempts} no design came nearer. "
        f"{'Its difficulty is' if is_one else 'Their difficulties are'} {_difficulties(band, reports)}."
    )


def _difficulties(band: Band, reports: Sequence[SlotReport]) -> str:
    """List them, with the end of the band that they lie beyond."""
    found = sorted(difficulty for report in reports if (difficulty := _verified_difficulty(report)) is not None)
    if not found:
        return "unknown"
    more = ", ..." if len(found) > _MOST_DIFFICULTIES else ""
    shown = ", ".join(_outside(difficulty, band) for difficulty in found[:_MOST_DIFFICULTIES]) + more
    low, high = band_ends(band)
    end = f"begins at {low:g}" if found[0] < low else f"ends at {high:g}"
    return f"{shown} ({band} {end})"


def _outside(difficulty: float, band: Band) -> str:
    """Write a difficulty with as many digits as it takes to lie outside of the band when read."""
    low, high = band_ends(band)
    written = (f"{difficulty:.{digits}f}" for digits in (2, 4, 6))
    return next((text for text in written if not low <= float(text) <= high), f"{difficulty:.6f}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _verified_difficulty(report: SlotReport) -> float | None:
    return next((step.difficulty for step in report.path if step.outcome == "verified"), None)
