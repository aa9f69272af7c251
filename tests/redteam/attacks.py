"""What an attack is: a script, how it has to end, and the most that it may be paid."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from sandmill.models.reports import Outcome
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
MANY_ROWS, LUCK_OF_FEW = 5000, 0.2
"""The same with fewer rows than that: four standard deviations of the area under the curve of 900 final items. Of some
two hundred guesses, the luckiest had three (.167, by the checksums of pictures)."""

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


def all_were_run(results: list[RunResult]) -> None:
    assert {result.outcome for result in results} <= {Outcome.OK, Outcome.NO_SUBMISSION}, results


def the_first_was_run(results: list[RunResult]) -> None:
    all_were_run(results[:1])


def ended_soon(results: list[RunResult]) -> None:
    assert results[-1].duration_s < 15


CELLS = {
    "nan": "nan",
    "NaN": "NaN",
    "infinity": "inf",
    "overflow": "1e999",
    "complex": "1+0j",
    "hexadecimal": "0x1p3",
    "underscores": "1_000",
    "full-width digits": "０.５",
    "arabic digits": "٠.٥",
    "decimal comma": "0,5",
    "none": "None",
    "not available": "NA",
    "nothing": "",
    "a sentence": "the right answer",
    "money": "$1",
    "a list": "[0.5]",
    "zero byte": "0.5\\0",
    "a minus of typography": "−1",
    "an exponent without digits": "1e",
    "a date": "2020-01-01",
    "quotes in quotes": '"0.5"',
    "a line break": "0.5\\n0.5",
    "true": "True",
    "control characters": "\\x1b[2J1",
    "a file separator before": "\\x1c0.5",
    "a next line sign behind": "0.5\\x85",
    "a line separator behind": "0.5\\u2028",
}
"""What is a number to somebody and to us is none, or too large: every cell of a submission holds it."""

CELL_ATTACKS = {
    f"cells: {name}": Attack(f'submit("{cell}")' if '"' not in cell else f"submit('{cell}')", INVALID, (19,))
    for name, cell in CELLS.items()
}

ACCESS, WAYS_OUT, TAMPERING = map(load_attacks, ("access", "ways_out", "tampering"))
LATER_STEPS = load_attacks("later_steps", all_were_run, the_first_was_run)
RESOURCES = load_attacks("resources", ended_soon)
SEMANTICS = CELL_ATTACKS | load_attacks("semantics")
MEDDLING = {"access": ACCESS, "ways_out": WAYS_OUT, "tampering": TAMPERING, "later_steps": LATER_STEPS}
FAMILIES = {**MEDDLING, "semantics": SEMANTICS, "resources": RESOURCES}
"""All attacks that are scripts and no more, by family."""
