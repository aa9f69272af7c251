"""Count the records of a release, and show the counts and the private figures of a task."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, Literal, get_args

from sandmill.errors import count
from sandmill.models.base import Band
from sandmill.models.calibration import Calibration, Ceiling, Tier
from sandmill.models.fidelity import TRAIT_BY_NAME, Fidelity, of_tier, shown_trait
from sandmill.models.hints import ReadingLevel
from sandmill.models.release import Counts, ReleaseOverview, TaskRecord
from sandmill.report.text_tables import TextTable, share
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.medals import reaches


@dataclass
class GroupCounts:
    """Counts over tasks. Nothing in it names a task's answers, rule or thresholds."""

    tasks: int = 0
    designs: int = 0
    """Tasks less further renderings of a design."""
    ids: list[str] = field(default_factory=list)
    names: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Tasks by value, for each property whose values are names, such as `seeds` and `bands`."""
    known: Counter[str] = field(default_factory=Counter)
    """Tasks of which it is known whether a fact holds."""
    held: Counter[str] = field(default_factory=Counter)
    """Of these, tasks of which it holds."""
    values: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """What was measured on each task on which it could be."""

    def add(self, record: TaskRecord) -> None:
        """Count one task."""
        spec, lineage, measured = record.spec, record.lineage, record.calibration
        self.tasks += 1
        self.designs += record.replicate == 0
        self.ids.append(record.task_id)
        ceiling, difficulty = ceiling_of(measured), measured.difficulty
        found: dict[str, str] = {
            "codes": lineage.code_version,
            "bands": difficulty.band,
            "wanted": record.wanted,
            "reached": record.reached,
            "kinds": spec.kind.name,
            "splits": record.split,
            "seeds": lineage.seed_id,
            "domains": spec.domain,
            "ceilings": "wide_bracket" if ceiling.loose_above and ceiling.is_loose(measured.trivial) else ceiling.kind,
            f"reading {spec.reading_level}": record.reached,
        }
        if record.reached is record.wanted:
            found["met"] = record.wanted
        for name, value in found.items():
            self.names[name][str(value)] += 1
        facts = _facts_of(record)
        self.known.update(name for name, holds in facts.items() if holds is not None)
        self.held.update(name for name, holds in facts.items() if holds)
        self._measure("difficulty", difficulty.value)
        self._measure("difficulty_width", difficulty.high - difficulty.low)
        self._measure("bracket_width", ceiling.width(measured.trivial) if ceiling.kind == "bracket" else None)
        self._measure(f"reading {spec.reading_level}", measured.reading_gain)
        kept = lineage.fidelity.agreement if lineage.fidelity else {}
        for tier in ("hard", "soft"):
            some = of_tier(kept, tier)
            self._measure(f"{tier}_traits_kept", fmean(some) if some else None)
        if milestones := measured.milestones:
            self.names["training_draws"][str(len(milestones.entries[0].shares))] += 1
            self._measure("search_gap", milestones.searched)
            self._measure("single_column_gap", milestones.column)
        reads_data = (one for one in measured.board if one.tier not in (Tier.TRIVIAL, Tier.READER))
        self.names["golds"].update({one.solver for one in reads_data if _is_gold(measured, one.final)})

    def _measure(self, name: str, value: float | None) -> None:
        if value is not None:
            self.values[name].append(value)

    def rate(self, name: str) -> tuple[int, int]:
        """Return how many tasks have a fact, of how many of which it is known.

        `best_solver_gold` is gold of the one solver without reading that wins most: how far one memorised script gets.
        """
        if name == "best_solver_gold":
            return max(self.names["golds"].values(), default=0), self.tasks
        return self.held[name], self.known[name]

    def shares(self) -> dict[str, float]:
        """Return what `headline` says, as shares of tasks. What was not measured is left out."""
        rates = {name.replace("best_solver", "data"): self.rate(name) for name in _SHARES}
        return {name: round(part / whole, 6) for name, (part, whole) in rates.items() if whole}

    def headline(self) -> list[str]:
        """Say in sentences what the tasks are and how far scripts get."""
        return headline(self.tasks, len(self.names["kinds"]), len(self.names["seeds"]), self.shares())


_SHARES = ("in_band", "verified", "best_solver_gold", "adversary_gold", "reader_gold")
_PROVED = ("sample_wins_nothing", "noop_wins_nothing", "scripts_repeat", "renders_equal_bytes")


def _is_gold(measured: Calibration, final: float) -> bool:
    return reaches(final, measured.thresholds.gold, measured.is_lower_better)


def _facts_of(record: TaskRecord) -> dict[str, bool | None]:
    """Return whether each fact of the certificate holds of a task; None if it was not measured."""
    measured, found, proved = record.calibration, record.calibration.milestones, record.verification
    entries = found.entries if found else ()
    beside = [_is_gold(measured, one.final) for one in entries if not one.on_board]
    readers = [_is_gold(measured, one.final) for one in entries if one.tier is Tier.READER]
    searched = found.searched if found else None
    gold = measured.thresholds.gold
    return {
        "in_band": record.reached is record.wanted,
        "verified": proved.holds,
        "reference_gold": proved.reference_is_gold,
        **{name: getattr(proved, name) for name in _PROVED},
        "adversary_gold": any(beside) if beside else None,
        "reader_gold": any(readers) if found and found.gold == "readers" else None,
        "search_gold": None if searched is None else searched >= gap_closed(gold, measured.trivial, measured.oracle),
    }


@dataclass
class ReleaseCounts(GroupCounts):
    """Counts over all tasks of a release, from which certificate, overview, card and headline take their numbers."""

    by_kind: defaultdict[str, GroupCounts] = field(default_factory=lambda: defaultdict(GroupCounts))
    libraries: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Versions of the numeric libraries that made the tasks."""
    _fingerprints: set[str] = field(default_factory=set)
    _digests: set[str] = field(default_factory=set)

    def add(self, record: TaskRecord) -> None:
        """Count one task."""
        super().add(record)
        self.by_kind[record.spec.kind.name].add(record)
        for name, version in record.lineage.libraries.items():
            self.libraries[name].add(version)
        self._digests.add(record.digest)
        if record.replicate == 0:
            self._fingerprints.add(record.lineage.spec_fingerprint)

    @property
    def duplicates(self) -> Counts:
        """Tasks whose design, and tasks whose files, an earlier task has. Further renderings have their design's."""
        return {
            "equal_designs": self.designs - len(self._fingerprints),
            "equal_files": self.tasks - len(self._digests),
        }

    def overview(self, request: Mapping[str, Any] | None = None, kept_from: str = "", kept: int = 0) -> ReleaseOverview:
        """Return the counts, with the request of the build."""
        counted = ("codes", "bands", "wanted", "kinds", "splits")
        averaged = (name for name in ("difficulty", "hard_traits_kept", "soft_traits_kept") if self.values[name])
        return ReleaseOverview(
            request=dict(request or {}),
            kept_from=kept_from,
            kept=kept,
            libraries={name: tuple(sorted(self.libraries[name])) for name in sorted(self.libraries)},
            figures={name: round(fmean(self.values[name]), 6) for name in averaged} | self.shares(),
            **{name: dict(sorted(self.names[name].items())) for name in counted},
        )


def headline(tasks: int, kinds: int, seeds: int, shares: Mapping[str, float]) -> list[str]:
    """Say in sentences what a release holds and how far scripts get, from counts and `GroupCounts.shares`."""
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


def best_scores_in_words(counts: GroupCounts) -> str:
    """Say on how many tasks the best possible score is exact, bounded or estimated."""
    known, widths = counts.names["ceilings"], counts.values["bracket_width"]
    said = [f"exact on {known['exact']} of {count(counts.tasks, 'task')}"]
    if widths:
        spread = f"median {median(widths):.0%} of the gap apart, at most {max(widths):.0%}"
        wide = f"; rewards of {known['wide_bracket']} end at the lower one" if known["wide_bracket"] else ""
        said.append(f"between two bounds on {len(widths)} ({spread}{wide})")
    if known["plug_in"]:
        said.append(f"a plug-in estimate on {known['plug_in']}")
    return ", ".join(said)


def mix_table(counts: GroupCounts) -> TextTable:
    """Show the mix: asked for, reached, and reached where it was asked for."""
    asked, reached, met = (counts.names[name] for name in ("wanted", "reached", "met"))
    rows = tuple((band, str(asked[band]), str(reached[band]), share(met[band], asked[band])) for band in map(str, Band))
    header = ("band", "asked for", "reached", "met where asked")
    return TextTable("Difficulty", header, rows, frozenset({1, 2, 3}))


def reading_table(counts: GroupCounts) -> TextTable:
    """Show how many tasks of each band state facts at each level, and what the best reader gains by them."""
    rows = []
    for level in ("none", *get_args(ReadingLevel)):
        bands, gains = counts.names[f"reading {level}"], counts.values[f"reading {level}"]
        rows.append((level, *(str(bands[band]) for band in map(str, Band)), f"{fmean(gains):.2f}" if gains else ""))
    header = ("reading level", *map(str, Band), "mean gain")
    return TextTable("Reading", header, tuple(rows), frozenset(range(1, len(header))))


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
