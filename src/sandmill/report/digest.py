"""Facts of a release that are safe to publish, its overview, and the private figures of a task, from their records."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, Literal, get_args

from sandmill.errors import count
from sandmill.models.base import Band
from sandmill.models.calibration import Calibration, Ceiling, Tier
from sandmill.models.fidelity import TRAIT_BY_NAME, Fidelity, shown_trait
from sandmill.models.hints import ReadingLevel
from sandmill.models.release import ReleaseOverview, TaskRecord
from sandmill.report.text_tables import TextTable, share


@dataclass
class ReleaseDigest:
    """Counts over all records. Nothing in it names a task's answers, rule or thresholds."""

    tasks: int = 0
    mix: Counter[tuple[Band, Band]] = field(default_factory=Counter)
    """Tasks by the band asked for and the band reached."""
    domains: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    seeds: set[str] = field(default_factory=set)
    """Seeds that tasks were made from."""
    designs: int = 0
    golds: Counter[str] = field(default_factory=Counter)
    """Tasks on which each solver that reads the data alone reached gold."""
    hinted: int = 0
    """Tasks whose gold follows from readers."""
    reader_golds: int = 0
    """Of these, tasks on which at least one reader reached gold."""
    adversary_golds: int = 0
    """Tasks on which a run beside the leaderboard reached gold."""
    adversary_tasks: int = 0
    """Tasks that were measured with such a run."""
    levels: dict[str, Counter[Band]] = field(default_factory=lambda: defaultdict(Counter))
    """Tasks by reading level and band."""
    gains: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Reading gains by level."""
    best_scores: Counter[str] = field(default_factory=Counter)
    """Tasks by what is known of their best possible score: kinds of `Ceiling`."""
    bracket_widths: list[float] = field(default_factory=list)
    """Where it lies between two bounds, their distances as shares of the gap."""
    verified: int = 0

    def add(self, record: TaskRecord) -> None:
        """Count one task."""
        spec, measured = record.spec, record.calibration
        gold, sign = measured.thresholds.gold, -1 if measured.is_lower_better else 1
        self.tasks += 1
        self.mix[record.wanted, record.reached] += 1
        self.domains.add(spec.domain)
        self.kinds.add(spec.kind.name)
        self.seeds.add(record.lineage.seed_id)
        self.designs += record.replicate == 0
        self.levels[spec.reading_level][record.reached] += 1
        if (gain := measured.reading_gain) is not None:
            self.gains[spec.reading_level].append(gain)
        ceiling = ceiling_of(measured)
        self.best_scores[ceiling.kind] += 1
        if ceiling.kind == "bracket":
            self.bracket_widths.append(ceiling.width(measured.trivial))
        self.verified += record.verification.holds
        reads_data = (one for one in measured.board if one.tier not in (Tier.TRIVIAL, Tier.READER))
        self.golds.update({one.solver for one in reads_data if sign * (one.final - gold) >= 0})
        if found := measured.milestones:
            winners = [entry for entry in found.entries if sign * (entry.final - gold) >= 0]
            self.hinted += found.gold == "readers"
            self.reader_golds += any(entry.tier is Tier.READER for entry in winners)
            self.adversary_tasks += any(not entry.on_board for entry in found.entries)
            self.adversary_golds += any(not entry.on_board for entry in winners)

    @property
    def best_gold_rate(self) -> float:
        """Share of tasks on which the one solver that wins most reaches gold: how far one memorised script gets."""
        return max(self.golds.values(), default=0) / self.tasks if self.tasks else 0.0

    def shares(self) -> dict[str, float]:
        """Return what `headline` says, as shares of tasks. What was not measured is left out."""
        met = sum(number for (wanted, reached), number in self.mix.items() if wanted is reached)
        parts = {
            "in_band": (met, self.tasks),
            "verified": (self.verified, self.tasks),
            "data_gold": (max(self.golds.values(), default=0), self.tasks),
            "adversary_gold": (self.adversary_golds, self.adversary_tasks),
            "reader_gold": (self.reader_golds, self.hinted),
        }
        return {name: round(part / whole, 6) for name, (part, whole) in parts.items() if whole}


def headline(tasks: int, kinds: int, seeds: int, shares: Mapping[str, float]) -> list[str]:
    """Say in sentences what a release holds and how far scripts get, from counts and `ReleaseDigest.shares`."""
    # Releases without shares name the seeds of the build, used or not.
    made_of = f", made from {count(seeds, 'seed')}" if shares else ""
    said = [f"{count(tasks, 'task')} of {count(kinds, 'kind')}{made_of}."]
    if "verified" in shares:
        in_band, verified = (round(shares[name] * tasks) for name in ("in_band", "verified"))
        said.append(
            f"{in_band} of {tasks} lie in the difficulty band that was asked for. Verified: on {verified} of {tasks} a "
            "reference solution that reads only the public files reached gold on rows it was not chosen on, and the "
            "sample submission won nothing."
        )
        golds = f"on {shares['data_gold']:.0%} of the tasks by the solver that wins most from the data alone"
        if "adversary_gold" in shares:
            golds += f", on {shares['adversary_gold']:.0%} by a stronger ensemble beside the leaderboard"
        if "reader_gold" in shares:
            golds += f", and on {shares['reader_gold']:.0%} of those whose texts state facts by solvers that use them"
        said.append(f"Gold is reached {golds}.")
    return said


def ceiling_of(measured: Calibration) -> Ceiling:
    """Return what is known of the best possible score. In records of older releases it follows from the oracle."""
    kind: Literal["exact", "plug_in"] = "exact" if measured.oracle_is_exact else "plug_in"
    return measured.ceiling or Ceiling(low=measured.oracle, high=measured.oracle, kind=kind)


def best_score_in_words(measured: Calibration) -> str:
    """Say what is known of the best possible score of a task."""
    ceiling = ceiling_of(measured)
    if ceiling.kind == "bracket":
        width = f"{ceiling.width(measured.trivial):.0%} of the gap apart"
        return f"an upper bound; {ceiling.low:.5f} has been reached, {width}"
    return "exact" if ceiling.kind == "exact" else "plug-in estimate, nearly the best decision"


def best_scores_in_words(digest: ReleaseDigest) -> str:
    """Say on how many tasks the best possible score is exact, bounded or estimated."""
    known, widths = digest.best_scores, digest.bracket_widths
    said = [f"exact on {known['exact']} of {count(digest.tasks, 'task')}"]
    if widths:
        spread = f"median {median(widths):.0%} of the gap apart, at most {max(widths):.0%}"
        said.append(f"between two bounds on {known['bracket']} ({spread})")
    if known["plug_in"]:
        said.append(f"a plug-in estimate on {known['plug_in']}")
    return ", ".join(said)


def mix_table(digest: ReleaseDigest) -> TextTable:
    """Show the mix: asked for, reached, and reached where it was asked for."""
    rows = []
    for band in Band:
        asked, reached = (sum(n for ends, n in digest.mix.items() if ends[place] is band) for place in (0, 1))
        rows.append((str(band), str(asked), str(reached), share(digest.mix[band, band], asked)))
    header = ("band", "asked for", "reached", "met where asked")
    return TextTable("Difficulty", header, tuple(rows), frozenset({1, 2, 3}))


def reading_table(digest: ReleaseDigest) -> TextTable:
    """Show how many tasks of each band state facts at each level, and what the best reader gains by them."""
    rows = []
    for level in ("none", *get_args(ReadingLevel)):
        gains = digest.gains.get(level)
        counts = digest.levels.get(level, Counter())
        rows.append((level, *(str(counts[band]) for band in Band), f"{fmean(gains):.2f}" if gains else ""))
    header = ("reading level", *map(str, Band), "mean gain")
    return TextTable("Reading", header, tuple(rows), frozenset(range(1, len(header))))


@dataclass
class OverviewCounts:
    """Counts over the records added so far."""

    counts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Tasks by value, for each field of the overview that counts tasks."""
    libraries: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    figures: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, record: TaskRecord) -> None:
        """Count one task."""
        measured = record.calibration
        self.counts["codes"][record.lineage.code_version] += 1
        self.counts["bands"][measured.difficulty.band.value] += 1
        self.counts["wanted"][record.wanted.value] += 1
        self.counts["kinds"][record.spec.kind.name] += 1
        self.counts["splits"][record.split] += 1
        for name, version in record.lineage.libraries.items():
            self.libraries[name].add(version)
        self.figures["difficulty"].append(measured.difficulty.value)
        kept = record.lineage.fidelity.agreement if record.lineage.fidelity else {}
        for tier in ("hard", "soft"):
            if of_tier := [holds for name, holds in kept.items() if TRAIT_BY_NAME[name].tier == tier]:
                self.figures[f"{tier}_traits_kept"].append(sum(of_tier) / len(of_tier))

    def overview(self, request: Mapping[str, Any] | None = None, kept_from: str = "", kept: int = 0) -> ReleaseOverview:
        """Return the counts, with the request of the build."""
        counts = {name: dict(sorted(found.items())) for name, found in self.counts.items()}
        return ReleaseOverview(
            request=dict(request or {}),
            kept_from=kept_from,
            kept=kept,
            libraries={name: tuple(sorted(self.libraries[name])) for name in sorted(self.libraries)},
            figures={name: round(sum(found) / len(found), 6) for name, found in sorted(self.figures.items())},
            **counts,
        )


_BOARD = 40  # entries of a leaderboard that are shown
_THRESHOLDS = ("gold", "silver", "bronze", "median")


def private_detail(record: TaskRecord) -> dict[str, Any]:
    """Return the private figures of a task, as the page of a release shows them."""
    measured = record.calibration
    difficulty, fidelity = measured.difficulty, record.lineage.fidelity
    return {
        "metric": record.spec.metric.value,
        "is_lower_better": measured.is_lower_better,
        "marks": ladder(measured),
        "difficulty": (difficulty.value, difficulty.low, difficulty.high),
        "best_score": best_score_in_words(measured),
        "band": difficulty.band.value,
        "wanted": record.wanted.value,
        "motifs": record.spec.mechanism.motif_names,
        "truths": record.verification.truths,
        "board": board_rows(measured),
        "reference": measured.reference,
        "traits": _traits(fidelity) if fidelity else (),
    }


def board_rows(measured: Calibration) -> list[tuple[str, str, float, float, float]]:
    """Return the leaderboard with thresholds, published scripts and runs beside it, best final score first.

    Each row has a name, what it is, both scores, and the share of the gap that the final score closes, which compares
    tasks of all metrics. A row above a threshold reaches it.
    """
    whole, sign = measured.oracle - measured.trivial, -1 if measured.is_lower_better else 1
    beside = [one for one in (measured.milestones.entries if measured.milestones else ()) if not one.on_board]
    rows = [(one.solver, one.tier.value, one.final, one.feedback) for one in measured.board[:_BOARD]]
    rows += [(one.solver, f"{one.tier}, beside the board", one.final, one.feedback) for one in beside]
    rows += [(one.file, f"script: {one.approach}", one.final, one.feedback) for one in measured.scripts]
    # The sort is stable, and an entry that equals a threshold reaches it.
    ends = measured.thresholds, measured.feedback_thresholds
    rows += [(name, "threshold", *(getattr(one, name) for one in ends)) for name in _THRESHOLDS]
    rows.sort(key=lambda row: -sign * row[2])
    return [(*row, round((row[2] - measured.trivial) / whole, 4) if whole else 0.0) for row in rows]


def _traits(fidelity: Fidelity) -> tuple[tuple[str, str, str, str, str], ...]:
    """Return trait, tier, value of the seed, of the task, and whether it is kept; of traits that are known of both."""
    return tuple(
        (
            TRAIT_BY_NAME[name].words,
            TRAIT_BY_NAME[name].tier,
            shown_trait(fidelity.seed, name),
            shown_trait(fidelity.task, name),
            "yes" if holds else "no",
        )
        for name, holds in fidelity.agreement.items()
    )


def ladder(measured: Calibration) -> list[dict[str, Any]]:
    """Return the scores from trivial to ceiling, in this order.

    Each has the ends of its interval (90 % for thresholds, the bracket of a ceiling), and its share of the way from the
    trivial solver to the oracle.
    """
    whole, thresholds, steady = measured.oracle - measured.trivial, measured.thresholds, measured.steadiness

    def mark(name: str, value: float, ends: tuple[float, float] | None = None) -> dict[str, Any]:
        gap = (value - measured.trivial) / whole if whole else 0.0
        low, high = sorted(ends) if ends else (None, None)
        return {"name": name, "value": value, "low": low, "high": high, "gap": round(gap, 6)}

    ceiling = measured.ceiling
    return [
        mark("trivial", measured.trivial),
        mark("bronze", thresholds.bronze, steady.bronze),
        mark("silver", thresholds.silver, steady.silver),
        mark("gold", thresholds.gold, steady.gold),
        *(mark("best", entry.final) for entry in measured.board[:1]),
        *([mark("informed", measured.informed)] if measured.informed is not None else []),
        mark("ceiling", measured.oracle, (ceiling.low, ceiling.high) if ceiling else None),
    ]
