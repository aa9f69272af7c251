"""Designers compared: cost, yield, difficulty, variety, distance from the seeds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, pstdev

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.release import TaskRecord

_WORD = re.compile(r"[a-z]{3,}")
MOST_COMPARED = 400
"""Designs compared with each other for `variety`. Of more designs the first ones are a sample."""


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
    difficulty: float
    difficulty_spread: float
    domains: int
    variety: float
    """How much the texts of a design differ from those of the most similar other design, on average.

    0 means the same words, 1 no common word.
    """
    requests: int = Field(ge=0)
    tokens: int = Field(ge=0)
    """Of verified designs, as the requests before it."""
    usd: float = Field(ge=0)
    """Price of verified designs and of rejected drafts, as paid when the replies were given."""
    usd_a_design: float | None
    seed_distance: float | None = None
    """Mean distance between the words of a design and of its seed; None if the texts of the seeds are unknown."""


@dataclass
class DesignerCounts:
    """The verified designs of one designer, added one record at a time."""

    name: str
    seeds: Mapping[str, str]
    """Title and summary of each seed by its id."""
    designs: set[str] = field(default_factory=set)
    difficulties: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    words: list[frozenset[str]] = field(default_factory=list)
    domains: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    requests: int = 0
    tokens: int = 0
    usd: float | None = None
    """None without a language model."""

    def add(self, record: TaskRecord) -> None:
        """Count one task. Replicates and repeated designs count once."""
        if record.replicate or record.lineage.spec_fingerprint in self.designs:
            return
        story = record.spec.story
        words = _words(" ".join([story.title, story.row, story.overview, *story.column_meanings]))
        self.designs.add(record.lineage.spec_fingerprint)
        self.difficulties.append(record.calibration.difficulty.value)
        self.domains.add(record.spec.domain)
        if len(self.words) < MOST_COMPARED:
            self.words.append(words)
        if (seed := self.seeds.get(record.lineage.seed_id)) is not None:
            self.distances.append(1 - _overlap(words, _words(seed)))
        if author := record.lineage.authorship:
            self.models.update(author.models)
            self.sources.add(author.source)
            self.requests += author.usage.requests
            self.tokens += author.usage.prompt_tokens + author.usage.answer_tokens
            self.usd = (self.usd or 0.0) + author.usage.usd

    def row(self, attempts: int, lost_usd: float) -> DesignerRow:
        """Sum up. A build has one designer, so all its attempts and the price of rejected drafts are booked on it."""
        designs = len(self.designs)
        usd = round((self.usd or 0.0) + lost_usd, 6) if self.name == "llm" else 0.0
        nearest = [
            1 - max((_overlap(one, other) for j, other in enumerate(self.words) if j != i), default=0.0)
            for i, one in enumerate(self.words)
        ]
        return DesignerRow(
            designer=self.name,
            models=tuple(sorted(self.models)),
            sources=tuple(sorted(self.sources)),
            attempts=attempts,
            designs=designs,
            yield_share=round(designs / max(1, attempts), 4),
            difficulty=round(fmean(self.difficulties), 4),
            difficulty_spread=round(pstdev(self.difficulties), 4),
            domains=len(self.domains),
            variety=round(fmean(nearest), 4) if nearest else 0.0,
            requests=self.requests,
            tokens=self.tokens,
            usd=usd,
            usd_a_design=None if self.usd is None else round(usd / designs, 6),
            seed_distance=round(fmean(self.distances), 4) if self.distances else None,
        )


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / max(1, len(left | right))
