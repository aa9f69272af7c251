"""Work and money of a build: by stage and by structure, added one shard at a time."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sandmill.errors import count
from sandmill.models.base import Band, Stage
from sandmill.models.calibration import band_ends
from sandmill.models.reports import SlotReport
from sandmill.report.designers import DesignerRow
from sandmill.report.text_tables import TextTable, share

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


@dataclass
class Yield:
    """What became of the slots of one structure."""

    slots: set[int] = field(default_factory=set)
    filled: int = 0
    attempts: int = 0
    seconds: float = 0.0


@dataclass
class WorkCounts:
    """Counts over the shards added so far."""

    structures: Mapping[int, str]
    seconds: Counter[Stage] = field(default_factory=Counter)
    yields: dict[str, Yield] = field(default_factory=dict)
    """Slots, tasks and work of each structure, by its name."""

    def add(self, reports: Iterable[SlotReport]) -> None:
        """Count the slots of one shard. A slot that is tried in several rounds counts once, with all of its work."""
        for report in reports:
            spent = sum(report.seconds.values())
            for stage, seconds in report.seconds.items():
                # Counter is typed for int; sums of floats work the same.
                self.seconds[stage] += seconds  # type: ignore[assignment]
            of_structure = self.yields.setdefault(self.structures.get(report.slot, "unknown"), Yield())
            of_structure.slots.add(report.slot)
            of_structure.filled += report.reached is not None
            of_structure.attempts += report.attempts
            of_structure.seconds += spent


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


def yield_table(work: WorkCounts, designer: str) -> TextTable:
    """Show how many attempts became tasks, by structure; the structures that cost most stand first."""
    ordered = sorted(work.yields.items(), key=lambda item: (-item[1].seconds, item[0]))
    rows = []
    for name, one in ordered:
        counts = (str(len(one.slots)), str(one.filled), str(one.attempts), share(one.filled, one.attempts))
        a_task = f"{one.seconds / one.filled:.1f}" if one.filled else "-"
        rows.append((name, designer, *counts, f"{one.seconds:.1f}", a_task))
    header = ("structure", "designer", "slots", "filled", "attempts", "yield", "seconds", "seconds a task")
    return TextTable("Yield by structure and designer", header, tuple(rows), frozenset(range(2, 8)))


def costs_table(work: WorkCounts, designers: Sequence[DesignerRow], rejected_usd: float, paid_usd: float) -> TextTable:
    """Show seconds of work by stage, and the money of language models. Slots work side by side, so seconds add up.

    The price of verified designs includes that of rejected drafts. `paid_usd` is the sum of the receipts of all runs of
    this build: designs from recorded replies have a price and no receipt.
    """
    total = sum(work.seconds.values())
    rows = [
        (f"stage {stage}", f"{seconds:.1f}", f"{seconds / total:.0%}" if total else "-", "-")
        for stage in Stage
        if (seconds := work.seconds.get(stage, 0.0))
    ]
    rows.append(("all stages", f"{total:.1f}", "100%" if total else "-", "-"))
    usd, designs = sum(row.usd for row in designers), sum(row.designs for row in designers)
    rows.append(("language models, verified designs", "-", "-", f"{usd - rejected_usd:.4f}"))
    rows.append(("language models, rejected drafts", "-", "-", f"{rejected_usd:.4f}"))
    rows.append(("language models, a verified design", "-", "-", f"{usd / designs:.4f}" if designs else "-"))
    rows.append(("language models, paid by this build", "-", "-", f"{paid_usd:.4f}"))
    return TextTable("Costs", ("what", "seconds", "share", "USD"), tuple(rows), frozenset({1, 2, 3}))
