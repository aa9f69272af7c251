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
        f"{band}: asked {asked[band]}, got {got[band]}. " + _what_became(band, [r for r in missed if r.wanted == band])
        for band in Band
        if got[band] < asked[band]
    ]


def _what_became(band: Band, reports: Sequence[SlotReport]) -> str:
    sentences = [_became(band, other, [r for r in reports if r.reached == other]) for other in Band]
    if empty := sum(report.reached is None for report in reports):
        sentences.append(f"{empty} stayed empty.")
    return " ".join(filter(None, sentences))


def _became(band: Band, other: Band, reports: Sequence[SlotReport]) -> str:
    if not reports:
        return ""
    found = sorted(difficulty for report in reports if (difficulty := _verified_difficulty(report)) is not None)
    more = ", ..." if len(found) > _MOST_DIFFICULTIES else ""
    shown = ", ".join(f"{difficulty:.2f}" for difficulty in found[:_MOST_DIFFICULTIES]) + more
    low, high = band_ends(band)
    nearest = f" Their difficulty is {shown or 'unknown'}; {band} is {low:g} to {high:g}."
    attempts = sum(report.attempts for report in reports)
    return f"{len(reports)} became {other}: {attempts} attempts found no nearer design to publish.{nearest}"


def _verified_difficulty(report: SlotReport) -> float | None:
    return next((step.difficulty for step in report.path if step.outcome == "verified"), None)
