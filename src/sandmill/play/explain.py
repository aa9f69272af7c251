"""Which facts that a task states a submission uses. For the trainer alone: the design of the task is needed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sandmill.calibrate.fact_arrays import FactArrays, fact_arrays
from sandmill.check.package_tables import as_numbers, note_values, type_features
from sandmill.errors import InputError, InvalidSubmission, Problem
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.files.tables import read_child
from sandmill.mechanism import posterior
from sandmill.mechanism.child import Events, aggregate
from sandmill.mechanism.columns import Floats
from sandmill.models.base import Part
from sandmill.models.motifs import Aggregate
from sandmill.models.package import TaskFacts, TaskFile
from sandmill.models.rollout import FactCredit
from sandmill.models.spec import TaskSpec
from sandmill.rewards.facts import Caught
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission

if TYPE_CHECKING:
    from sandmill.scoring.grading.private_half import PrivateHalf


class SubmissionExplainer:
    """Measures submissions of one task. What they share is computed once, in a few seconds for tables with facts."""

    def __init__(self, private: "PrivateHalf", public: Path) -> None:
        """Read the design and the public tables of a task.

        Raises:
            InputError: if the private half holds no design, or the public tables cannot be read.
        """
        task = private.task
        if not isinstance(task, TaskFile):
            problem = Problem("private half", "no design of the task", "task.json of a pulled task or a release")
            raise InputError(f"task {task.task_id}", [problem], "Facts are measured with the design.")
        self._facts, self._answers = task.facts, private.answers
        self._final = private.answers.part(Part.FINAL)
        arrays = _arrays(task, public)
        self._names = arrays.names if arrays else ()
        self._meter = arrays.meter(self._final) if arrays else None

    def explain(self, submission: bytes | None) -> tuple[FactCredit, ...]:
        """Return one entry for each stated fact that the rule uses. An invalid submission catches none."""
        if self._meter is None:
            return ()
        found: list[Caught | None]
        try:
            said = parse_submission(submission or b"", self._facts, self._answers.ids, self._answers.lengths)
        except InvalidSubmission:
            found = [one and Caught(0.0, 0.0) for one in self._meter.measure(self._meter.oracle)]
        else:
            found = self._meter.measure(np.asarray(said, dtype=np.float64)[self._final])
        return tuple(
            FactCredit(fact=name, value=one and round(one.value, 6), error=one and round(one.error, 6))
            for name, one in zip(self._names, found, strict=True)
        )


def _arrays(task: TaskFile, public: Path) -> FactArrays | None:
    spec, facts = task.spec, task.facts
    if spec.channel is not None or facts.kind != "table" or not any(hint.matters for hint in spec.hints):
        return None
    files = {path.name: path.read_bytes() for path in public.iterdir() if path.suffix == ".csv"}
    metric = get_metric(facts.metric)
    if metric.decision == "tuned":
        return None
    cells = visible_cells(spec, facts, files)
    oracle = metric.decide(posterior(spec.mechanism, cells), None)
    return fact_arrays(public, facts, spec, cells, oracle)


def visible_cells(spec: TaskSpec, facts: TaskFacts, files: Mapping[str, bytes]) -> dict[str, Floats]:
    """Return the cells of test.csv as the mechanism draws them, with the value of each aggregate of the rule.

    Raises:
        InputError: if the files are not those of the design.
    """
    layout, faults = layout_of(spec), list[str]()
    items = layout.read(files, facts, spec.feature_columns, spec.only_in_training)
    faults += items.faults
    frame = type_features(layout.test, items.test, spec, faults)
    noted, child = note_values(spec, frame), spec.mechanism.child
    events = read_child(files, child, facts.id_column, faults) if child else None
    if faults:
        problems = [Problem("file", fault, "the files as pulled") for fault in faults]
        raise InputError("public files", problems, "No facts were measured.")
    cells = {
        column.name: as_numbers((frame if column.name in frame.columns else noted)[column.name], column)
        for column in spec.mechanism.columns
    }
    if child is None or events is None:
        return cells
    places = {name: place for place, name in enumerate(frame[facts.id_column])}
    own = events.filter(events[facts.id_column].is_in(list(places)))
    rows = Events.from_list(
        np.array([places[name] for name in own[facts.id_column]], dtype=np.intp),
        np.array([child.kinds.index(kind) for kind in own[child.kind]], dtype=np.float64),
        own[child.amount].to_numpy(),
        own[child.age].to_numpy().astype(np.float64),
        len(places),
        child.horizon,
    )
    motifs = [term.motif for term in spec.mechanism.terms if isinstance(term.motif, Aggregate)]
    return cells | {motif.key: aggregate(motif, rows) for motif in motifs}
