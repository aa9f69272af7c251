"""What reading is worth: medals and gap of blind scripts, readers and the informed solver on fresh tables.

No script, threshold or design was tuned on the tables: their seed is given here.
Run from the repository root: python -m benchmarks.reading --tasks 100 --lines /tmp/reading.jsonl

Each table is written to the file of lines when it is measured, and a run goes on where another one was stopped.

Of a published release, the levels alone: python -m benchmarks.reading --release releases/micro
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import get_args

from pydantic import Field, ValidationError

from benchmarks.adversaries import ADVERSARIES, INDUCED, SOURCES
from benchmarks.adversaries.induced import Pattern, save
from benchmarks.adversaries.judging import adversary_named, learn, report_adversaries, score_of
from benchmarks.first_tries import SECRET
from sandmill.draw import render
from sandmill.fingerprint import fingerprint
from sandmill.models.base import Band, Frozen
from sandmill.models.calibration import Calibration, Tier
from sandmill.models.hints import Form, ReadingLevel, SameUnits
from sandmill.models.plan import Attempt, Slot
from sandmill.models.reports import Medal
from sandmill.models.request import BuildRequest
from sandmill.models.rollout import Ending, Rollout
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.attempt import AttemptJob, Failed, run_attempt
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.workers import WorkerPool, WorkerTimeout
from sandmill.rewards import PRESETS, Reward
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.grading.grade import grade_scores
from sandmill.scoring.medals import medal_of
from sandmill.seeds import ingest
from sandmill.store.release import load

PLAIN: Mapping[str, str] = {
    "linear": "linear",
    "forest": "random_forest",
    "boosting": "hist_boosting",
    "stack": "stack",
    "search": "auto_search",
    "blend": "blend_usual",
}
"""Blind scripts by the name of their entry on the board."""
CHOICE, READER, INFORMED = "choice of six", "reader", "informed"
NO_HINT = "no hint"
UNIT_REWARDS = ("ladder", "gap", "sandmle-paper", "sparse")
"""Presets whose rewards of tasks with different metrics compare."""


@dataclass(frozen=True)
class Score:
    """Final score of a script, and the score that it is chosen by."""

    final: float
    feedback: float


@dataclass(frozen=True)
class Sheet:
    """Scores of all scripts on one task."""

    traits: tuple[str, ...]
    """Kinds of facts that the task states and its rule uses; `NO_HINT` if there are none."""
    calibration: Calibration
    finals: Mapping[str, float]
    level: str = "none"
    """Its reading level."""

    @property
    def is_hinted(self) -> bool:
        """Whether the texts state facts that matter."""
        return NO_HINT not in self.traits

    def medal(self, script: str) -> Medal | None:
        """Return the medal of a script."""
        return medal_of(self.finals[script], self.calibration.thresholds, self.calibration.is_lower_better)

    def gap(self, script: str) -> float:
        """Return the share of the gap that a script closes."""
        return self.closed(self.finals[script])

    def closed(self, score: float) -> float:
        """Return the share of the gap that a score closes."""
        return gap_closed(score, self.calibration.trivial, self.calibration.oracle)


class Line(Frozen):
    """What became of the first try of a slot."""

    slot: str
    """Digest of the slot."""
    reason: str = ""
    """Why there is no task; empty if there is one."""
    spec: TaskSpec | None = None
    """Also of a design that was refused, if there was one."""
    calibration: Calibration | None = None
    finals: dict[str, float | None] = Field(default_factory=dict)
    """Final scores of adversaries. None: it failed."""

    def sheet(self) -> Sheet | None:
        """Return the scores of all scripts, if there is a task."""
        if self.spec is None or self.calibration is None:
            return None
        # A script that failed scores as the trivial solver.
        ran = {name: self.calibration.trivial if one is None else one for name, one in self.finals.items()}
        return Sheet(traits_of(self.spec), self.calibration, finals_of(self.calibration) | ran, self.spec.reading_level)


@dataclass(frozen=True)
class Piece:
    """A first try of any band, and the adversaries that run on its task."""

    slot: Slot
    adversaries: tuple[str, ...] = ()
    patterns: Path | None = None
    """File of the patterns of the induced parser."""
    known: Line | None = None
    """What an earlier run measured."""

    @property
    def key(self) -> str:
        """Digest of the slot."""
        return fingerprint(self.slot)[:16]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to measure."""
        return bool(self.known and (self.known.reason or set(self.adversaries) <= self.known.finals.keys()))


def measure(piece: Piece) -> Line:
    """Calibrate a first try unless it is known, and run the adversaries that have no score."""
    line = piece.known
    if line is None:
        slot = piece.slot
        attempt = Attempt(slot, 0, 1, 0, first_hardness(slot.seed.structure, slot.band), any_band=True)
        made = run_attempt(AttemptJob(attempt, "reading", SECRET)).result
        if isinstance(made, Failed):
            return Line(slot=piece.key, reason=made.error.reason, spec=made.spec)
        line = Line(slot=piece.key, spec=made.package.spec, calibration=made.calibration)
    if line.spec is None or line.reason:
        return line
    package = render(line.spec, SECRET).package
    missing = [name for name in piece.adversaries if name not in line.finals]
    found = {name: score_of(adversary_named(name, piece.patterns), package) for name in missing}
    return line.model_copy(update={"finals": line.finals | found})


def measure_all(pieces: Sequence[Piece], lines: Path | None, workers: int) -> list[Line]:
    """Measure what the file of lines lacks, and return all."""
    known = {line.slot: line for line in read_lines(lines)} if lines else {}
    pieces = [replace(piece, known=known.get(piece.key)) for piece in pieces]
    missing = [piece for piece in pieces if not piece.is_done]
    with WorkerPool(workers) as pool:
        for place, made in pool.map(measure, missing, 600):
            if isinstance(made, WorkerTimeout):
                made = Line(slot=missing[place].key, reason="timeout")
            if isinstance(made, Exception):
                raise made
            known[made.slot] = made
            if lines:
                with lines.open("a") as file:
                    file.write(f"{made.model_dump_json()}\n")
    return [known[piece.key] for piece in pieces]


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file, a later one of a slot in place of an earlier one; an incomplete one is left out."""
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            yield Line.model_validate_json(line)
        except ValidationError:
            continue


def patterns_of(slot: Slot) -> list[Pattern]:
    """Return the patterns that the training task of a slot gives."""
    return learn(slot, "learn", SECRET)


def published(ref: str) -> list[Sheet]:
    """Return the sheets of the tables of a release."""
    release = load(ref)
    records = (release.record(task_id) for task_id in release.task_ids)
    return [
        Sheet(traits_of(one.spec), one.calibration, finals_of(one.calibration), one.spec.reading_level)
        for one in records
        if one.spec.channel is None and not one.spec.kind.designer
    ]


def traits_of(spec: TaskSpec) -> tuple[str, ...]:
    """Name the kinds of facts that a design states and uses."""
    facts = [hint.fact for hint in spec.hints if hint.matters]
    found = {fact.motif.motif if isinstance(fact, Form) else fact.fact for fact in facts}
    return tuple(sorted(found)) if any(isinstance(fact, Form | SameUnits) for fact in facts) else (NO_HINT,)


def finals_of(measured: Calibration) -> dict[str, float]:
    """Return the final score of every script; a script that failed scores as the trivial solver."""
    board = {entry.solver: Score(entry.final, entry.feedback) for entry in measured.board}
    found = {name: board[entry] for name, entry in PLAIN.items() if entry in board}
    readers = [board[entry.solver] for entry in measured.board if entry.tier is Tier.READER]
    finals = {name: found[name].final if name in found else measured.trivial for name in PLAIN}
    finals[CHOICE] = _chosen(list(found.values()), measured).final
    for entry in measured.milestones.entries if measured.milestones else ():
        if not entry.on_board:
            finals[entry.solver] = entry.final
    if readers:
        finals[READER] = _chosen(readers, measured).final
    if measured.informed is not None:
        finals[INFORMED] = measured.informed
    return finals


def _chosen(scores: Sequence[Score], measured: Calibration) -> Score:
    sign = 1 if measured.is_lower_better else -1
    return min(scores, key=lambda score: sign * score.feedback)


def report(sheets: Sequence[Sheet], title: str) -> Iterator[str]:
    """Write medals and gap of every script."""
    names = list(dict.fromkeys(name for sheet in sheets for name in sheet.finals))
    yield f"| {title} | tasks | gold | silver or better | bronze or better | mean gap |"
    yield "|---|---:|---:|---:|---:|---:|"
    order = [*PLAIN, CHOICE, *(name for name in names if name not in (*PLAIN, CHOICE, READER, INFORMED))]
    for name in (*order, READER, INFORMED):
        some = [sheet for sheet in sheets if name in sheet.finals]
        if some:
            won = Counter(sheet.medal(name) for sheet in some)
            counts = [won[Medal.GOLD], won[Medal.SILVER], won[Medal.BRONZE]]
            shares = [f"{sum(counts[: place + 1]) / len(some):.0%}" for place in range(3)]
            gap = mean(max(sheet.gap(name), -1.0) for sheet in some)
            yield f"| {name} | {len(some)} | {' | '.join(shares)} | {gap:.2f} |"


def report_rewards(boards: Sequence[Calibration], title: str) -> Iterator[str]:
    """Write what each reward of the range 0 to 1 pays the best blind entry, and the better half of the readers.

    The blind entry is the best of the board by its final score, in hindsight, so its share is an upper bound.
    """
    yield f"| {title}: reward | tasks | best blind | better readers | blind as a share |"
    yield "|---|---:|---:|---:|---:|"
    read = [board for board in boards if any(entry.tier is Tier.READER for entry in board.board)]
    for name in UNIT_REWARDS:
        paid = [_pay(board, PRESETS[name]) for board in read]
        if paid:
            blind, readers = mean(pair[0] for pair in paid), mean(pair[1] for pair in paid)
            yield f"| {name} | {len(paid)} | {blind:.2f} | {readers:.2f} | {blind / readers:.0%} |"


def _pay(board: Calibration, reward: Reward) -> tuple[float, float]:
    """Return the rewards of the best blind entry and, as a mean, of the better half of the readers."""
    blind: list[float] = []
    readers: list[float] = []
    for entry in board.board:  # best first
        grade = grade_scores(entry.final, entry.feedback, board)
        rollout = Rollout(task_id="board", ending=Ending.FINISHED, grade=grade)
        (readers if entry.tier is Tier.READER else blind).append(reward(rollout).total)
    return blind[0], mean(readers[: (len(readers) + 1) // 2])


def report_groups(sheets: Sequence[Sheet]) -> Iterator[str]:
    """Write golds of the adversary and of the reader by trait and by band."""
    groups: dict[str, list[Sheet]] = {}
    for sheet in sheets:
        for name in (*sheet.traits, f"band {sheet.calibration.difficulty.band}"):
            groups.setdefault(name, []).append(sheet)
    yield "| fact or band | tasks | adversary gold | best plain gold | reader gold | margin |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, some in sorted(groups.items()):
        plain = max(sum(sheet.medal(script) is Medal.GOLD for sheet in some) for script in (*PLAIN, CHOICE))
        margins = [m.margin for sheet in some if (m := sheet.calibration.milestones) and m.margin is not None]
        cells = [_golds(some, "blind_v1"), f"{plain / len(some):.0%}", _golds(some, READER)]
        yield f"| {name} | {len(some)} | {' | '.join(cells)} | {f'{mean(margins):.2f}' if margins else ''} |"


def report_levels(sheets: Sequence[Sheet]) -> Iterator[str]:
    """Write by band and level which share states nothing, what reading gains, and what blind and reading runs close."""
    yield "| band | level | tasks | state nothing | mean gain | best blind | best reader |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    levels = ("none", *get_args(ReadingLevel))
    for band in (None, *Band):
        in_band = [sheet for sheet in sheets if band in (None, sheet.calibration.difficulty.band)]
        for level in (None, *levels) if in_band else ():
            some = [sheet for sheet in in_band if level in (None, sheet.level)]
            if some:
                gains = [gain for sheet in some if (gain := sheet.calibration.reading_gain) is not None]
                bests = [_best(some, is_reader=is_reader) for is_reader in (False, True)]
                nothing = f"{sum(sheet.level == 'none' for sheet in some) / len(some):.0%}"
                cells = [str(len(some)), nothing, f"{mean(gains):.2f}" if gains else "", *bests]
                yield f"| {band or 'all'} | {level or 'all'} | {' | '.join(cells)} |"


def _best(sheets: Sequence[Sheet], *, is_reader: bool) -> str:
    """Return the mean gap of the best entry of each board, of those that read or of the others."""
    gaps = []
    for sheet in sheets:
        measured = sheet.calibration
        finals = [entry.final for entry in measured.board if (entry.tier is Tier.READER) == is_reader]
        gaps += [gap_closed(finals[0], measured.trivial, measured.oracle)] if finals else []
    return f"{mean(gaps):.2f}" if gaps else ""


def _golds(sheets: Sequence[Sheet], script: str) -> str:
    some = [sheet for sheet in sheets if script in sheet.finals]
    return f"{sum(sheet.medal(script) is Medal.GOLD for sheet in some) / len(some):.0%}" if some else ""


def learn_patterns(slots: Sequence[Slot], path: Path, workers: int) -> None:
    """Write the patterns that training tasks give, unless the file is there."""
    if not path.exists():
        with WorkerPool(workers) as pool:
            made = [result for _, result in pool.map(patterns_of, list(slots), 300)]
        save([one for result in made if isinstance(result, list) for one in result], path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100, help="first tries of tables, of any band")
    parser.add_argument("--seed", type=int, default=1801)
    levels = get_args(ReadingLevel)
    parser.add_argument("--levels", nargs="*", default=levels, choices=levels, help="only tries asked for at these")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--learn", type=int, default=160, help="designs of training tasks for the induced parser")
    parser.add_argument("--adversaries", nargs="*", default=[*ADVERSARIES, INDUCED], help="that run on the tasks")
    parser.add_argument("--lines", type=Path, help="file with a line for each try; what it has is not measured again")
    parser.add_argument("--release", help="print the levels of a published release; nothing is built")
    given = parser.parse_args(arguments)
    if given.release:
        print("\n".join(report_levels(published(given.release))))
        return
    first, other = (
        plan_slots(plan_build(BuildRequest(name="bench", tasks=tasks, seed=seed, kinds={"table": 1.0}), ingest(())))
        for tasks, seed in ((given.tasks, given.seed), (max(given.learn, 1), given.seed + 1))
    )
    with TemporaryDirectory() as folder:
        path = given.lines.with_suffix(".patterns.json") if given.lines else Path(folder) / "patterns.json"
        if INDUCED in given.adversaries:
            learn_patterns(other, path, given.workers)
        pieces = [Piece(one, tuple(given.adversaries), path) for one in first if one.reading in given.levels]
        found = measure_all(pieces, given.lines, given.workers)
    sheets = [sheet for line in found if (sheet := line.sheet())]
    refused = Counter(line.reason for line in found if line.reason)
    lost = refused["no_margin"]
    print(f"{len(sheets)} tasks of {len(found)} first tries ({len(sheets) / len(found):.0%}); ", end="")
    print(f"{len(sheets) / max(1, len(found) - lost):.0%} of those that the margin did not refuse.")
    print("Refused: " + (", ".join(f"{name} ({count})" for name, count in refused.most_common()) or "none") + ".\n")
    hinted = [sheet for sheet in sheets if sheet.is_hinted]
    for title, some in (("all tasks", sheets), ("tasks with hints", hinted)):
        print("\n".join(report(some, title)) + "\n")
    print("\n".join(report_rewards([sheet.calibration for sheet in hinted], "tasks with hints")) + "\n")
    print("\n".join(report_adversaries(sheets, ("blind_v1", "blind_v2", *SOURCES, READER))) + "\n")
    print("\n".join(report_groups(sheets)) + "\n")
    print("\n".join(report_levels(sheets)))


if __name__ == "__main__":
    from benchmarks import reading  # worker processes cannot import __main__

    reading.main()
