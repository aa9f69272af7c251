"""Choose three scripts for a task: a reference, what a competent person writes first, and a first attempt."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.rungs import GradedTest, PossibleScript, ScoredScript
from sandmill.calibrate.scripts import block
from sandmill.calibrate.scripts.decisions import decision_lines, decisions_of
from sandmill.calibrate.scripts.findings import PanelFindings, find
from sandmill.calibrate.scripts.members import ScriptModel, Solver, members_of, usual_members
from sandmill.calibrate.scripts.write import (
    answer_of,
    approach_of,
    constants,
    finish,
    members_block,
    reading_block,
    submission_block,
    target_block,
    write_script,
)
from sandmill.calibrate.solvers import naive
from sandmill.calibrate.solvers.columns import settle, solve
from sandmill.calibrate.solvers.decisions import decide
from sandmill.calibrate.solvers.table import NothingFound, Table
from sandmill.kinds.script_text import listed, quoted
from sandmill.models.calibration import LADDER
from sandmill.models.kind import kind_named
from sandmill.scoring.base import Array

MOST_TOGETHER, FINALISTS = 3, 4
"""Models that a script averages at most, and how many of the best are fitted and tried together."""
READING_FINALISTS = 6
"""The same for scripts of readers, whose gold is further from what single models reach."""

MOST_LINES = 250
"""Lines of a reference script: people read it, so a shorter one that is nearly as good is taken instead."""

_UNFIT = (ValueError, ArithmeticError, np.linalg.LinAlgError)
"""Errors of a model that cannot be fitted to a task."""


def write_ladder(
    table: Table, folder: Path, test: GradedTest, reader: Table | None = None, gold: float | None = None
) -> tuple[ScoredScript, ...]:
    """Write the scripts of a task: reference, competent, naive.

    Models are ranked by what their likes in the panel score on the feedback part; those in front are fitted as scripts
    fit them, in this process, on the public files. The reference is the mixture of them that is best on the feedback
    part and not too long. Each lower rung takes the best candidate that falls short of the script above on the final
    part, if there is any.

    Args:
        table: the public files as solvers read them, with what the panel has found and fitted.
        folder: holds train.csv and test.csv.
        test: what scripts are judged on.
        reader: the table of a reader. The reference is then a reader's script; the others read the data alone.
        gold: threshold of the feedback part. A long reference is replaced by a short one only if that is gold there.
    """
    with script_surroundings(folder, folder / "submission.csv"):
        bench = _Bench(find(table), table, test)
        best = bench if reader is None else _Bench(find(reader), reader, test)
        reference = _first_short(sorted(best.mixtures(), key=lambda one: one.loss), test.loss_of(gold))
        chosen = [reference]
        for ranked in (bench.usual(), bench.first_tries()):
            chosen += filter(None, [test.first_below(chosen[-1], ranked)])
    return tuple(test.scored(rung, one) for rung, one in zip(LADDER, chosen, strict=True))


class _Bench:
    """The models of a task that lead in the panel, fitted by the source that scripts are made of."""

    def __init__(self, found: PanelFindings, table: Table, test: GradedTest) -> None:
        self._found, self._table, self._test = found, table, test
        self._members, self._usual = (
            sorted(members, key=lambda member: self._foretold(member.solver))
            for members in (members_of(found), usual_members(found))
        )
        del self._members[READING_FINALISTS if found.reading else FINALISTS :]
        every = {member.name: member for member in (*self._members, *self._usual)}
        self._names = _libraries()
        self._known = _remembered(table)
        run_source(members_block(found, list(every.values())), self._names, self._known)
        self._said: dict[str, Any] = {}

    def mixtures(self) -> Iterator[PossibleScript]:
        """Single models and averages of them, then other decisions for the best of these."""
        usual, *others = decisions_of(self._found.facts)
        able = [member for member in self._members if self._ask(member) is not None]
        mixed = [
            self._candidate(some, usual) for count in range(1, MOST_TOGETHER + 1) for some in combinations(able, count)
        ]
        yield from (one for one, _ in mixed)
        for _, members in sorted(mixed, key=lambda pair: pair[0].loss)[:FINALISTS]:
            yield from (self._candidate(members, decision)[0] for decision in others)

    def usual(self) -> Iterator[PossibleScript]:
        """What a competent person tries first, fitted when it is asked for."""
        decision = decisions_of(self._found.facts)[-1]
        for member in self._usual:
            if self._ask(member) is not None:
                yield self._candidate((member,), decision)[0]

    def first_tries(self) -> Iterator[PossibleScript]:
        """Yield naive candidates; each is run only when it is asked for."""
        found, decision = self._found, decisions_of(self._found.facts)[-1]
        for model, idea, _ in sorted(models_to_try(found), key=lambda one: self._foretold(one[-1])):
            names = _libraries()
            run_source(finish(found, "", _blocks(found, model)), names, self._known)
            answer = _decided(found, decision, names)
            write = partial(write_first_try, found, model, idea, decision)
            yield PossibleScript(idea, answer, self._test.feedback(answer), write)

    def _foretold(self, solver: Solver) -> float:
        """Loss on the feedback part of a solver of the panel."""
        try:
            return self._test.feedback(settle(solve(solver, self._table), self._table, decide))
        except (NothingFound, *_UNFIT):
            return np.inf

    def _ask(self, member: ScriptModel) -> Any:
        """What a model says of the test rows; None if it cannot be fitted to them."""
        if member.name not in self._said:
            try:
                said = np.asarray(self._names["predict"](member.name))
                self._said[member.name] = said if np.isfinite(said).all() else None
            except _UNFIT:
                self._said[member.name] = None
        return self._said[member.name]

    def _candidate(
        self, members: tuple[ScriptModel, ...], decision: str
    ) -> tuple[PossibleScript, tuple[ScriptModel, ...]]:
        names = {**self._names, "said": np.mean([self._said[member.name] for member in members], axis=0)}
        answer = _decided(self._found, decision, names)
        write = partial(write_script, self._found, members, decision)
        return PossibleScript(approach_of(members), answer, self._test.feedback(answer), write), members


def _libraries() -> dict[str, Any]:
    """Return the packages that decisions name. The lines before a decision import only what they use themselves."""
    import pandas as pd

    return {"np": np, "pd": pd}


def _remembered(table: Table) -> dict[str, Callable[..., Any]]:
    """Return the functions of a script, by name, that keep what they make of the items: the panel has called them."""
    kind = kind_named(table.facts.kind)
    found: dict[str, Callable[..., Any]] = {one.__name__: one for one in getattr(kind.load("reader"), "known", ())}
    for path in filter(None, (kind.reader, kind.measures)):
        names = vars(import_module(path.partition(":")[0]))
        found |= {name: one for name, one in names.items() if hasattr(one, "__wrapped__")}
        found |= names["remembered"](table.cues) if table.cues and "remembered" in names else {}
    return found


def _decided(found: PanelFindings, decision: str, names: dict[str, Any]) -> Array:
    run_source("\n".join(decision_lines(found.facts, found.scale, decision)), names)
    return np.asarray(names["answer"])


def _first_short(ranked: Sequence[PossibleScript], bar: float) -> PossibleScript:
    """The first of the candidates whose script is not too long, if its loss is at most the bar; else the first."""
    able = (one for one in ranked if one.loss <= bar)
    return next((one for one in able if one.write().count("\n") <= MOST_LINES), ranked[0])


_WORDS = 50
"""Commonest words that a first try counts in texts."""


def models_to_try(found: PanelFindings) -> tuple[tuple[str, str, Solver], ...]:
    """Models as source, each with what it does and a solver of the panel that does nearly the same."""
    kind = "Classifier" if found.facts.classes and not found.facts.is_wide else "Regressor"
    columns = "counts of common words" if found.table.texts else "the numbers as they are"
    return (
        (
            f"DecisionTree{kind}(max_depth=3, random_state=0)",
            f"a small decision tree on {columns}",
            naive.SOLVERS["small_tree"],
        ),
        (f"DecisionTree{kind}(random_state=0)", f"a decision tree on {columns}", naive.SOLVERS["full_tree"]),
        (f"KNeighbors{kind}(5)", f"the five nearest rows, by {columns}", naive.SOLVERS["nearest_by_numbers"]),
    )


def write_first_try(found: PanelFindings, model: str, idea: str, decision: str) -> str:
    """Write a script with one model on plain columns."""
    decided = decision_lines(found.facts, found.scale, decision)
    return finish(found, idea, [*_blocks(found, model), decided, submission_block(found)])


def _blocks(found: PanelFindings, model: str) -> list[list[str]]:
    kinds = found.table.kinds
    taken = [name for name in kinds.numeric if name not in (*kinds.dates, *kinds.measures)]
    if found.table.texts:
        tables = block("common words", words=str(_WORDS), name=quoted(next(iter(found.table.texts))))
    elif taken:
        tables = block("plain numbers", columns=listed(taken))
    else:
        tables = block("plain categories", columns=listed(found.categories))
    fit = [f"model = {model}.fit(known, y)", *answer_of(found, "asked", mixed=True)]
    fit[-1] = fit[-1].replace("return ", "said = ")
    return [[*constants(found, []), "", *reading_block(found)], [*target_block(found), *tables], fit]
