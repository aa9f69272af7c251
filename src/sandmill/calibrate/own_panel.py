"""The panel of a kind whose answers cannot be predicted from one table of features, such as pixels of pages.

The module holds

- `read(folder, facts)`: the public files as its solvers need them, with a field `shape`: items and places of an answer,
- `ENTRIES`: a tuple of `kinds.panel.Entry`, the trivial one named `prior`. `Entry.solve` makes a prediction of that
  shape from what `read` returns,
- `ladder(facts, data, cues)`: the `OwnScript` scripts, in the order of preference.

Where the description states facts that solvers can use, and medals are milestones, it also holds

- `READERS`: entries of the tier of readers,
- `reading(data, cues)`: what `read` returned, as someone sees it who knows the stated cues,
- `ADVERSARIES`: blind entries that are not on the leaderboard.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sandmill.calibrate.conditions import run_source, script_surroundings, solver_conditions
from sandmill.calibrate.panel import Panel, PanelRun, fault_of
from sandmill.calibrate.rungs import GradedTest, PossibleScript, ScoredScript
from sandmill.errors import ItemRejected
from sandmill.kinds.panel import Entry, OwnScript
from sandmill.models.base import Stage
from sandmill.models.calibration import LADDER, Rung
from sandmill.models.channel import Cue
from sandmill.models.kind import kind_named
from sandmill.models.layout import SUBMISSION
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array
from sandmill.scoring.submission import Answers, parse_submission


class OwnPanel(Panel):
    """The solvers of a kind's own module on one task.

    Raises:
        OSError: if the folder cannot be read.
    """

    def __init__(self, folder: Path, facts: TaskFacts) -> None:
        self.facts = facts
        self._module: ModuleType = kind_named(facts.kind).load("panel")
        self._data: Any = self._module.read(folder, facts)
        self.table = self._data

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of the module."""
        found: tuple[Entry, ...] = self._module.ENTRIES
        return found

    def reading(self, cues: Sequence[Cue]) -> Any:
        """Return the data as someone sees it who knows some cues. None without cues, or if the kind has no readers."""
        return self._module.reading(self._data, cues) if cues and hasattr(self._module, "READERS") else None

    def run_readers(self, reading: Any) -> list[PanelRun]:
        """Run the readers on what `reading` returned."""
        with solver_conditions():
            return [self._run_on(entry, reading) for entry in self._module.READERS]

    def run_adversaries(self) -> list[PanelRun]:
        """Run the blind solvers that are not on the leaderboard."""
        with solver_conditions():
            return [self._run(entry) for entry in getattr(self._module, "ADVERSARIES", ())]

    def _run(self, entry: Entry) -> PanelRun:
        return self._run_on(entry, self._data)

    def _run_on(self, entry: Entry, data: Any) -> PanelRun:
        answer: Array | None = None
        try:
            solve: Any = entry.solve
            answer = np.asarray(solve(data))
            failure = fault_of(answer, tuple(self._data.shape), self.facts)
        except Exception as error:  # noqa: BLE001
            failure = f"{type(error).__name__}: {error}"
        return PanelRun(entry.name, entry.tier, None if failure else answer, failure)


def write_own_ladder(
    panel: Panel, folder: Path, facts: TaskFacts, answers: Answers, test: GradedTest, cues: Sequence[Cue] = ()
) -> tuple[ScoredScript, ...]:
    """Write the scripts of a task: reference, competent, naive.

    The reference is the candidate that is best on the feedback part. Each lower rung takes its first candidate that
    falls short of the script above on the final part, else its last.

    Raises:
        ItemRejected: `script_failed`, if no candidate of a rung gives a valid submission.
    """
    found: list[OwnScript] = list(kind_named(facts.kind).load("panel").ladder(facts, panel.table, cues))
    chosen: list[PossibleScript] = []
    for rung in LADDER:
        able = (
            PossibleScript(one.approach, answer, test.feedback(answer), partial(str, one.source))
            for one in found
            if one.rung is rung and (answer := _run_script(one.source, folder, facts, answers)) is not None
        )
        if rung is Rung.REFERENCE:
            best = min(able, key=lambda one: one.loss, default=None)
        else:
            best = test.first_below(chosen[-1], able)
        if best is None:
            raise ItemRejected(Stage.CALIBRATE, "script_failed", f"no {rung} script gives a valid submission")
        chosen.append(best)
    return tuple(test.scored(rung, one) for rung, one in zip(LADDER, chosen, strict=True))


def _run_script(source: str, folder: Path, facts: TaskFacts, answers: Answers) -> Array | None:
    """Return the prediction of a script; None if it fails."""
    out = folder / SUBMISSION
    out.unlink(missing_ok=True)
    try:
        with script_surroundings(folder, out):
            run_source(source, {"__name__": "__main__"})
        return parse_submission(out.read_bytes(), facts, answers.ids, answers.lengths)
    except Exception:  # noqa: BLE001
        return None
