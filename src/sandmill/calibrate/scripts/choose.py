"""Choose three scripts for a task: a reference, what a competent person writes first, and a first attempt."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.scripts.decisions import decision_lines, decisions_of
from sandmill.calibrate.scripts.findings import Findings, find
from sandmill.calibrate.scripts.first_tries import first_try_block, models_to_try, write_first_try
from sandmill.calibrate.scripts.members import Member, members_of, usual_members
from sandmill.calibrate.scripts.run import run_source, script_surroundings
from sandmill.calibrate.scripts.write import approach_of, members_block, write_script
from sandmill.calibrate.solvers.table import Table
from sandmill.metrics import Metric
from sandmill.metrics.base import Array
from sandmill.models.calibration import RUNG_FILES, Rung, ScriptScore

MOST_TOGETHER, FINALISTS = 3, 4
"""Models that a script averages at most, and how many of the best are tried together."""


@dataclass(frozen=True)
class Script:
    """A script and what it scores."""

    source: str
    score: ScriptScore


@dataclass(frozen=True)
class GradedTest:
    """The test rows that scripts are judged on, in the order of test.csv."""

    truth: Array
    is_final: NDArray[np.bool_]
    """Which rows are the final part; the rest is the feedback part."""
    metric: Metric

    def feedback(self, answer: Array) -> float:
        """Loss on the feedback part: lower is better whatever the metric."""
        return self._loss(answer, ~self.is_final)

    def final(self, answer: Array) -> float:
        """Loss on the final part."""
        return self._loss(answer, self.is_final)

    def _loss(self, answer: Array, rows: NDArray[np.bool_]) -> float:
        score = self.metric.own_score(self.truth[rows], answer[rows])
        return score if self.metric.is_lower_better else -score


@dataclass(frozen=True)
class _Candidate:
    """A script that could be written, and the answer that it gives."""

    approach: str
    answer: Array
    loss: float
    """On the feedback part."""
    write: Callable[[], str]


def write_ladder(table: Table, folder: Path, test: GradedTest) -> tuple[Script, ...]:
    """Write the scripts of a task: reference, competent, naive.

    Candidates run in this process on the public files. Each rung takes the candidate that is best on the feedback
    part. The lower two rungs take it from the candidates that fall short of the script above on the final part, if
    there are any.

    Args:
        table: the public files as solvers read them, with what searches have found on the training rows.
        folder: holds train.csv and test.csv.
        test: what scripts are judged on.
    """
    with script_surroundings(folder, folder / "submission.csv"):
        found = find(table)
        bench = _Bench(found, test)
        reference = min(bench.mixtures(), key=_loss)
        competent = _below(reference, bench.usual(), test)
        naive = _below(competent, first_tries(found, test), test)
    rungs = zip(Rung, (reference, competent, naive), strict=True)
    return tuple(Script(one.write(), _score(rung, one, test)) for rung, one in rungs)


class _Bench:
    """All models of a task fitted once by the source that scripts are made of."""

    def __init__(self, found: Findings, test: GradedTest) -> None:
        self._found, self._test = found, test
        self._members, self._usual = members_of(found), usual_members(found)
        every = {member.name: member for member in (*self._members, *self._usual)}
        self._names: dict[str, Any] = {}
        run_source(members_block(found, list(every.values())), self._names)
        self._said = {name: said for name in every if (said := self._ask(name)) is not None}

    def mixtures(self) -> Iterator[_Candidate]:
        """Single models, then averages of the best, then other decisions for the best of these."""
        usual, *others = decisions_of(self._found)
        single = sorted((self._candidate((member,), usual) for member in self._able(self._members)), key=_loss_of)
        yield from (one for one, _ in single)
        best = [member for _, (member,) in single[:FINALISTS]]
        mixed = [
            self._candidate(_in_order(some, self._members), usual)
            for count in range(2, MOST_TOGETHER + 1)
            for some in combinations(best, count)
        ]
        yield from (one for one, _ in mixed)
        for _, members in sorted([*single, *mixed], key=_loss_of)[:FINALISTS]:
            yield from (self._candidate(members, decision)[0] for decision in others)

    def usual(self) -> Iterator[_Candidate]:
        """What a competent person tries first."""
        decision = decisions_of(self._found)[-1]
        yield from (self._candidate((member,), decision)[0] for member in self._able(self._usual))

    def _able(self, members: Iterable[Member]) -> list[Member]:
        return [member for member in members if member.name in self._said]

    def _ask(self, name: str) -> Array | None:
        """What a model says of the test rows; None if it cannot be fitted to them."""
        try:
            said = np.asarray(self._names["predict"](name))
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return None
        return said if np.isfinite(said).all() else None

    def _candidate(self, members: tuple[Member, ...], decision: str) -> tuple[_Candidate, tuple[Member, ...]]:
        names = {**self._names, "said": np.mean([self._said[member.name] for member in members], axis=0)}
        answer = _decided(self._found, decision, names)
        write = partial(write_script, self._found, members, decision)
        return _Candidate(approach_of(members), answer, self._test.feedback(answer), write), members


def first_tries(found: Findings, test: GradedTest) -> Iterator[_Candidate]:
    """Scripts of people in a hurry."""
    decision = decisions_of(found)[-1]
    for model, idea in models_to_try(found):
        names: dict[str, Any] = {"np": np}
        run_source(first_try_block(found, model), names)
        answer = _decided(found, decision, names)
        write = partial(write_first_try, found, model, idea, decision)
        yield _Candidate(idea, answer, test.feedback(answer), write)


def _decided(found: Findings, decision: str, names: dict[str, Any]) -> Array:
    run_source("\n".join(decision_lines(found, decision)), names)
    return np.asarray(names["answer"])


def _in_order(some: Sequence[Member], members: Sequence[Member]) -> tuple[Member, ...]:
    return tuple(member for member in members if member in some)


def _loss(candidate: _Candidate) -> float:
    return candidate.loss


def _loss_of(candidate: tuple[_Candidate, tuple[Member, ...]]) -> float:
    return candidate[0].loss


def _below(above: _Candidate, candidates: Iterable[_Candidate], test: GradedTest) -> _Candidate:
    """The best on the feedback part of those that are worse than the script above on the final part, else the worst."""
    bar, ranked = test.final(above.answer), sorted(candidates, key=_loss)
    return next((one for one in ranked if test.final(one.answer) > bar), ranked[-1])


def _score(rung: Rung, one: _Candidate, test: GradedTest) -> ScriptScore:
    final, feedback = (
        test.metric.rounded(test.truth[rows], one.answer[rows]) for rows in (test.is_final, ~test.is_final)
    )
    return ScriptScore(rung=rung, file=RUNG_FILES[rung], approach=one.approach, feedback=feedback, final=final)
