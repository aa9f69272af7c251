"""Readers: solvers that use what the texts of a task state, beside its data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.panel import PANEL, Panel, PanelRun, loader
from sandmill.kinds.library import load_texts
from sandmill.models.calibration import Tier
from sandmill.models.channel import Cue
from sandmill.models.columns import Categorical, ChildTable
from sandmill.models.hints import Fact
from sandmill.models.kind import kind_named
from sandmill.models.mechanism import Mechanism
from sandmill.models.spec import TaskSpec
from sandmill.models.texts import DESCRIPTION

TWINS: Mapping[str, str] = load_texts("panels.yaml")["readers of tables"]
"""Entry of the panel, or adversary, with the same model as a reader."""
READERS = tuple(TWINS)
_OWN = ("reader_linear", "reader_blend", "reader_ensemble")
"""Readers with a function of their own; the others run that of their twin on their table."""
_DECISIONS = {"reader_ensemble": "cut_best"}
"""Function that turns scores into answers, for readers that do not use `decide`: the ensemble uses the adversary's."""


@dataclass(frozen=True)
class Stated:
    """Facts stated by a task, with the names that they refer to by code."""

    facts: tuple[Fact, ...]
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the levels of categorical columns, in the order of their codes."""
    child: ChildTable | None = None
    cues: tuple[Cue, ...] = ()
    """How the items show latent columns."""

    def __bool__(self) -> bool:
        """Whether anything is stated."""
        return bool(self.facts or self.cues)


def stated_facts(spec: TaskSpec, public: Mapping[str, bytes]) -> Stated:
    """Return the facts whose texts stand word for word in the public files that should hold them.

    Whether a fact matters for the target is not part of what a reader knows.
    """
    files = {passage.file for hint in spec.hints for passage in hint.passages}
    texts = {path: public[path].decode() for path in files & public.keys()}
    facts = tuple(hint.fact for hint in spec.hints if all(one.text in texts.get(one.file, "") for one in hint.passages))
    description = texts[DESCRIPTION] if DESCRIPTION in texts else public[DESCRIPTION].decode()
    can_read = spec.channel and (spec.kind.measures or spec.kind.panel)
    cues = tuple(cue for cue in (spec.channel.cues if spec.channel and can_read else ()) if cue.text in description)
    return Stated(facts, levels_of(spec.mechanism), spec.mechanism.child, cues)


def levels_of(mechanism: Mechanism) -> dict[str, tuple[str, ...]]:
    """Return the names of the levels of categorical columns."""
    laws = {column.name: column.distribution for column in mechanism.columns}
    return {name: law.levels for name, law in laws.items() if isinstance(law, Categorical)}


def reader_names(kind: str) -> tuple[str, ...]:
    """Return the names of the readers of a kind: its own, or those of tables."""
    found = kind_named(kind)
    if not found.panel:
        return READERS
    return tuple(entry.name for entry in getattr(found.load("panel"), "READERS", ()))


def read_table(panel: Panel, folder: Path, stated: Stated, earlier: Any = None) -> Any:
    """Make the table of a reader: decoded cells, and the stated quantities as columns."""
    from sandmill.calibrate.stated_lines import reader_table

    return reader_table(panel.facts, folder, stated, earlier)


def run_readers(panel: Panel, table: Any, names: tuple[str, ...] = READERS) -> list[PanelRun]:
    """Solve a task with readers."""
    reading = panel.with_table(table)
    with solver_conditions():
        return [reading.run_solver(name, Tier.READER, _load(name), _DECISIONS.get(name, "decide")) for name in names]


def _load(name: str) -> Callable[[], Callable[[Any], Any]]:
    if name in _OWN:
        return loader("readers", name)
    return loader(next(entry.tier for entry in PANEL if entry.name == TWINS[name]), TWINS[name])
