"""Measure adversaries on tasks, and compare them with readers."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.adversaries import ADVERSARIES, INDUCED, with_patterns
from benchmarks.adversaries.induced import Pattern, induce
from benchmarks.adversaries.parser import in_notes
from benchmarks.adversaries.texts import Doc
from sandmill.calibrate.readers import stated_facts
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.errors import ItemRejected
from sandmill.kinds.files.base import write_files
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.plan import Slot
from sandmill.models.reports import Medal
from sandmill.models.spec import Sizes
from sandmill.pipeline.band_search import first_hardness
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.scoring.submission import read_answers
from sandmill.verify.records import split_of

if TYPE_CHECKING:
    from benchmarks.reading import Sheet

FEW_ROWS = 100
"""Rows of each test part of a training task, whose texts alone are read."""
RUNGS = (0.0, 0.2, 0.4, 0.8, 1.0)
"""Pay of the trivial solver, bronze, silver, gold and the oracle."""
TITLE = "gold / mean gap / mean ladder"


def score_of(adversary: Callable[[Path, TaskFacts], Any], package: TaskPackage) -> float | None:
    """Return the final score of an adversary, which reads the public files of a package; None if it failed."""
    answers = read_answers(package.private["answers.csv"], package.facts)
    with TemporaryDirectory(prefix="sandmill-adversary-") as name:
        write_files(Path(name), package.public)
        try:
            predicted = adversary(Path(name), package.facts)
        except Exception as error:  # noqa: BLE001
            warnings.warn(f"an adversary failed: {error!r}", stacklevel=2)
            return None
    is_final = answers.part(Part.FINAL)
    return get_metric(package.facts.metric).rounded(answers.truth[is_final], predicted[is_final])


def adversary_named(name: str, patterns: Path | None) -> Callable[[Path, TaskFacts], Any]:
    """Return an adversary; the induced one reads its patterns from a file."""
    return with_patterns(_load(patterns)) if name == INDUCED and patterns else ADVERSARIES[name]


@cache
def _load(patterns: Path) -> list[Pattern]:
    from benchmarks.adversaries.induced import load

    return load(patterns)


def learn(slot: Slot, fingerprint: str, secret: bytes) -> list[Pattern]:
    """Design the task of a slot and induce patterns from its texts, if it is of the training split."""
    streams = Streams(secret, fingerprint).child(f"learn {slot.number}")
    try:
        spec = design_task(slot, streams, first_hardness(slot.seed.structure, slot.band))
    except ItemRejected:
        return []
    if split_of(spec, slot.number, fingerprint, secret) != "train" or not spec.hints:
        return []
    sizes = Sizes(train=spec.sizes.train, feedback=FEW_ROWS, final=FEW_ROWS)
    package = render(spec.model_copy(update={"sizes": sizes}), secret).package
    with TemporaryDirectory(prefix="sandmill-adversary-") as name:
        write_files(Path(name), package.public)
        doc = Doc.read(Path(name), package.facts)
        list(in_notes(doc))
        return induce([(doc, spec.hints, stated_facts(spec, package.public))])


def ladder(calibration: Calibration, gap: Callable[[float], float], score: float) -> float:
    """Return the pay of a score: piecewise linear through the trivial solver, the medals and the oracle."""
    bars = calibration.thresholds
    rungs = [0.0, *(gap(bar) for bar in (bars.bronze, bars.silver, bars.gold)), 1.0]
    return float(np.interp(gap(score), rungs, RUNGS))


def report_adversaries(sheets: Sequence["Sheet"], names: Sequence[str]) -> Iterator[str]:
    """Write for each name which share is gold, and the mean gap and ladder, over all tasks and by reading level."""
    groups: dict[str, Callable[[Sheet], bool]] = {
        "all": lambda sheet: True,
        "hinted": lambda sheet: sheet.is_hinted,
        "plain": lambda sheet: sheet.level == "plain",
        "prose and above": lambda sheet: sheet.level not in ("none", "plain"),
    }
    yield "| adversary | " + " | ".join(f"{group}: {TITLE}" for group in groups) + " |"
    yield "|---" * (len(groups) + 1) + "|"
    for name in names:
        cells = []
        for is_in in groups.values():
            some = [sheet for sheet in sheets if name in sheet.finals and is_in(sheet)]
            if some:
                golds = mean(sheet.medal(name) is Medal.GOLD for sheet in some)
                gaps = mean(max(sheet.gap(name), -1.0) for sheet in some)
                paid = mean(ladder(sheet.calibration, sheet.closed, sheet.finals[name]) for sheet in some)
                cells.append(f"{golds:.0%} / {gaps:.2f} / {paid:.2f} ({len(some)})")
            else:
                cells.append("")
        yield f"| {name} | {' | '.join(cells)} |"
