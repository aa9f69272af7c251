"""What an attack is: a script, how it has to end, and the most that it may be paid."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from sandmill.models.run import RunResult

SCRIPTS = Path(__file__).parent / "scripts"
Pay = Literal["nothing", "luck", "prediction"]
"""nothing: none of the gap; luck: a guess without information, paid what luck pays; prediction: it predicts."""

OK, NOTHING, TAMPER, INVALID = ("ok",), ("no_submission",), ("tamper",), ("invalid_submission",)
FAILED = ("runtime_error", "oom", "no_submission")
"""Outcomes that attacks may have."""

_OF_TABLES = ("train.csv", "test.csv", "sample_submission.csv", "for i, v in SAMPLE", "dict(SAMPLE)")
"""What scripts for tables alone contain."""

LUCK = 0.06
"""Most of the gap that a guess closes by luck on some thousands of rows."""
MANY_ROWS, LUCK_OF_FEW = 5000, 0.15
"""The same with fewer rows than that: three standard deviations of the area under the curve of 900 final items."""

BREACH = "BREACH"
"""A script prints it when something worked that must not."""


@dataclass(frozen=True)
class Attack:
    """One attack; its scripts find the names of `PRELUDE`."""

    code: str | tuple[str, ...]
    """One script, or several that run one after another over the same scratch folder; the last one is graded."""
    ends: tuple[str, ...]
    """Outcomes of the last script, of which it has one; the one before counts never as a fault of ours."""
    known: tuple[int, ...] = ()
    """Numbers in `KNOWN`; none: an attack of our own."""
    pays: Pay = "nothing"
    timeout: float = 20.0
    is_dear: bool = False
    """Tried on one package only."""
    check: Callable[[list[RunResult]], None] | None = None
    """What else must be so."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The scripts."""
        return (self.code,) if isinstance(self.code, str) else self.code

    @property
    def fits_any_files(self) -> bool:
        """Whether the scripts open no file that only some layouts have, and write no row of two cells themselves."""
        return not any(name in step for step in self.steps for name in _OF_TABLES)


PRELUDE = (SCRIPTS / "prelude.txt").read_text("utf-8")
"""What every script starts with, after `TOLD`: more than an agent would know of where things are."""


def script(code: str, told: dict[str, object]) -> str:
    """Give the source that is run."""
    return f"TOLD = {told!r}\n{PRELUDE}\n{code}\n"


KNOWN: dict[int, str] = yaml.safe_load((SCRIPTS / "known.yaml").read_text())
"""Attacks that were seen in other environments."""


def load_attacks(family: str, *checks: Callable[[list[RunResult]], None]) -> dict[str, Attack]:
    """Read the attacks of a family, of which some name one of the checks."""
    by_name, found = {check.__name__: check for check in checks}, {}
    for name, facts in yaml.safe_load((SCRIPTS / f"{family}.yaml").read_text("utf-8")).items():
        lists = {key: tuple(value) for key, value in facts.items() if isinstance(value, list)}
        found[name] = Attack(**{**facts, **lists, "check": by_name[facts["check"]] if "check" in facts else None})
    return found
