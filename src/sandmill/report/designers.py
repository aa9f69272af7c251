"""Designers side by side: what they cost, how much of it was verified, how hard, how varied, how far from the seeds."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean, pstdev

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Rejection, SlotReport
from sandmill.models.spec import TaskSpec
from sandmill.report.text_tables import TextTable

_WORD = re.compile(r"[a-z]{3,}")
MOST_COMPARED = 400
"""Designs whose nearest neighbours are looked for; a sample stands for more."""


class DesignerRow(Frozen):
    """One designer in one release."""

    designer: str
    models: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Who wrote the replies: `model`, or `fixture` where we did."""
    attempts: int = Field(ge=0)
    designs: int = Field(ge=0)
    """Verified, without replicates."""
    yield_share: float = Field(ge=0)
    """Verified designs in attempts."""
    difficulty: float
    """Mean."""
    difficulty_spread: float
    """Standard deviation."""
    domains: int
    variety: float
    """Mean distance of a design's words to those of its nearest neighbour: 0 the same, 1 no word in common."""
    requests: int = Field(ge=0)
    tokens: int = Field(ge=0)
    """Of verified designs, as the requests before it."""
    usd: float = Field(ge=0)
    """Of verified designs and of those that no task came of, as it was paid when the replies were given."""
    usd_a_design: float | None
    """Verified."""
    seed_distance: float | None = None
    """Mean distance of a design's words to those of its seed; None if the seeds' words are not at hand."""


def compare_designers(
    records: Iterable[TaskRecord],
    slots: Iterable[SlotReport],
    rejections: Iterable[Rejection],
    seeds: Mapping[str, str] | None = None,
) -> list[DesignerRow]:
    """Sum a release up by designer.

    Args:
        records: of all tasks.
        slots: reports of all slots.
        rejections: of all attempts.
        seeds: title and summary of each seed by its id.
    """
    by_designer: dict[str, dict[str, TaskRecord]] = defaultdict(dict)
    for record in records:
        if record.replicate == 0:
            by_designer[record.lineage.designer][record.lineage.spec_fingerprint] = record
    attempts = sum(slot.attempts for slot in slots)
    lost = sum(rejection.usd for rejection in rejections)
    # A build has one designer, so what was lost is booked on it.
    return [
        _row(name, list(found.values()), attempts, lost if name == "llm" else 0.0, seeds or {})
        for name, found in sorted(by_designer.items())
    ]


def designers_table(rows: Iterable[tuple[str, DesignerRow]]) -> TextTable:
    """Show rows side by side, each with what it is called."""
    header = (
        "release",
        "designer",
        "designs",
        "yield",
        "difficulty",
        "spread",
        "domains",
        "variety",
        "from seed",
        "tokens a design",
        "USD a design",
    )
    cells = tuple(
        (
            name,
            row.designer,
            str(row.designs),
            f"{row.yield_share:.0%}",
            f"{row.difficulty:.2f}",
            f"{row.difficulty_spread:.2f}",
            str(row.domains),
            f"{row.variety:.2f}",
            "-" if row.seed_distance is None else f"{row.seed_distance:.2f}",
            f"{row.tokens / row.designs:.0f}" if row.requests else "-",
            "-" if row.usd_a_design is None else f"{row.usd_a_design:.4f}",
        )
        for name, row in rows
    )
    return TextTable("Designers", header, cells, frozenset(range(2, 11)))


def _row(name: str, records: list[TaskRecord], attempts: int, lost: float, seeds: Mapping[str, str]) -> DesignerRow:
    authors = [record.lineage.authorship for record in records if record.lineage.authorship]
    difficulties = [record.calibration.difficulty.value for record in records]
    words = [_words_of(record.spec) for record in records]
    known = [
        1 - _overlap(own, _words(seeds[record.lineage.seed_id]))
        for own, record in zip(words, records, strict=True)
        if record.lineage.seed_id in seeds
    ]
    usd = round(sum(author.usage.usd for author in authors) + lost, 6)
    return DesignerRow(
        designer=name,
        models=tuple(sorted({model for author in authors for model in author.models})),
        sources=tuple(sorted({author.source for author in authors})),
        attempts=attempts,
        designs=len(records),
        yield_share=round(len(records) / max(1, attempts), 4),
        difficulty=round(fmean(difficulties), 4),
        difficulty_spread=round(pstdev(difficulties), 4),
        domains=len({record.spec.domain for record in records}),
        variety=_variety(words[:MOST_COMPARED]),
        requests=sum(author.usage.requests for author in authors),
        tokens=sum(author.usage.prompt_tokens + author.usage.answer_tokens for author in authors),
        usd=usd,
        usd_a_design=round(usd / len(records), 6) if authors else None,
        seed_distance=round(fmean(known), 4) if known else None,
    )


def _variety(words: list[frozenset[str]]) -> float:
    nearest = [
        1 - max((_overlap(one, other) for j, other in enumerate(words) if j != i), default=0.0)
        for i, one in enumerate(words)
    ]
    return round(fmean(nearest), 4) if nearest else 0.0


def _words_of(spec: TaskSpec) -> frozenset[str]:
    story = spec.story
    return _words(" ".join([story.title, story.row, story.overview, *story.column_meanings]))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / max(1, len(left | right))
