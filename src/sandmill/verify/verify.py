"""Verify a task: establish the seven facts that every published task has, by running it and reading its files.

Scripts run as an agent's code does, in its interpreter, with nothing but the public files. A script of our own build
may run as a plain process where nothing can confine it. A script of a release may be anybody's: it is confined, or it
does not run.
"""

import atexit
from collections.abc import Mapping
from functools import cache, partial
from io import BytesIO
from math import isclose
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sandmill.calibrate.board import gap_steps, thresholds
from sandmill.calibrate.measure import band_of
from sandmill.calibrate.milestones import milestone_faults, milestone_thresholds
from sandmill.calibrate.panel import TRIVIAL, entries_of
from sandmill.calibrate.rungs import ScoredScript
from sandmill.calibrate.steadiness import LEAST_HELD
from sandmill.errors import DegenerateTask, ItemRejected
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.kinds.files.tables import child_excess
from sandmill.models.base import Part
from sandmill.models.calibration import RUNG_FILES, Calibration, Rung, ScriptScore, Thresholds, Tier
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.package import TaskPackage
from sandmill.models.reports import GradeReport, Medal, Outcome, Verification
from sandmill.models.run import RunResult
from sandmill.models.texts import DESCRIPTION
from sandmill.sandbox import Sandbox
from sandmill.sandbox.sandbox import BackendName, missing_for
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.medals import reaches
from sandmill.scoring.submission import read_answers

STEP_LIMIT_S = 30.0
"""A reference script that takes longer makes no micro task."""
LUCK = 0.05
"""Share of the gap that a solver may be above the oracle on a finite test."""
ROUNDING = 0.01
"""Difficulty worked out from rounded scores may differ by so much from the measured one."""


def verify_task(
    package: TaskPackage, calibration: Calibration, scripts: Mapping[str, str], again: TaskPackage, backend: BackendName
) -> tuple[Verification, RunResult]:
    """Run the scripts, given by file name, grade the sample and nothing at all, and compare a second rendering.

    Returns:
        The facts, and how the reference script ran.
    """
    answers = read_answers(package.private["answers.csv"], package.facts)
    grade = partial(grade_submission, answers=answers, facts=package.facts, calibration=calibration)
    runs = {name: run_reference(source, package.public, backend) for name, source in scripts.items()}
    graded = {name: grade(run.submission) for name, run in runs.items()}
    main = RUNG_FILES[Rung.REFERENCE]
    run, reference = runs[main], graded[main]
    sample, nothing = grade(layout_of(package.spec).sample_csv(package.public)), grade(None)
    scores = {name: report.score for name, report in graded.items()}
    verification = Verification(
        reference_score=reference.score,
        is_micro=is_micro(package, run.duration_s),
        reference_is_gold=reference.medal is Medal.GOLD,
        script_scores=scores,
        scripts_repeat=scores == {script.file: script.final for script in calibration.scripts},
        sample_wins_nothing=_wins_nothing(sample) and sample.outcome is Outcome.OK,
        noop_wins_nothing=_wins_nothing(nothing) and nothing.outcome is Outcome.NO_SUBMISSION,
        best_is_known=best_is_known(calibration),
        thresholds_hold=thresholds_hold(calibration),
        difficulty_holds=difficulty_holds(calibration),
        nothing_given_away=nothing_given_away(package, calibration),
        renders_equal_bytes=(package.public, package.private["answers.csv"])
        == (again.public, again.private["answers.csv"]),
    )
    return verification, run


def prove_reader(package: TaskPackage, measured: Calibration, backend: BackendName) -> ScoredScript | None:
    """Write the reader's script of a table and run it. Its medal decides nothing.

    Returns:
        None for other kinds, and if the script leaves no valid submission.
    """
    import pandas as pd

    from sandmill.calibrate.readers import stated_facts
    from sandmill.calibrate.scripts.demonstrations import READER_STYLE, demonstration

    if package.facts.kind != "table":
        return None
    stated = stated_facts(package.spec, package.public)
    train = pd.read_csv(BytesIO(package.public["train.csv"]))
    source = demonstration(package.facts, train, stated, READER_STYLE)
    answers = read_answers(package.private["answers.csv"], package.facts)
    run = run_reference(source, package.public, backend)
    report = grade_submission(run.submission, answers=answers, facts=package.facts, calibration=measured)
    if report.score is None or report.feedback_score is None:
        return None
    score = ScriptScore(
        rung=Rung.READER,
        file=RUNG_FILES[Rung.READER],
        approach="what the texts state, and models that cross-validation chooses",
        feedback=report.feedback_score,
        final=report.score,
    )
    return ScoredScript(source, score)


def is_micro(package: TaskPackage, seconds: float) -> bool:
    """Whether a task is as small as it must be: rows as designed, and a reference that ran in seconds."""
    sizes, layout = package.spec.file_sizes, layout_of(package.spec)
    fits = not any(layout.excess(package.public, sizes))
    if child := package.spec.mechanism.child:
        items = sizes.train + sizes.feedback + sizes.final
        fits = fits and not any(child_excess(child, package.public[child.path], items))
    return fits and 50 <= sizes.train <= 200 and seconds <= STEP_LIMIT_S


def best_is_known(measured: Calibration) -> bool:
    """Whether the oracle is what it should be: above trivial, and beaten by luck at most."""
    best, trivial = measured.oracle, measured.trivial
    if best == trivial or (best < trivial) != measured.is_lower_better:
        return False
    tops = [*(entry.final for entry in measured.board[:1]), measured.informed]
    is_highest = all(gap_closed(top, trivial, best) <= 1 + LUCK for top in tops if top is not None)
    return is_highest and gold_is_in_reach(measured)


def gold_is_in_reach(measured: Calibration) -> bool:
    """Whether the informed solver or a reader reaches gold. The rule `ranks` does not ask for it."""
    if measured.rule == "ranks" or measured.informed is None:
        return True
    scores = (measured.informed, *(entry.final for entry in measured.board if entry.tier is Tier.READER))
    return any(reaches(score, measured.thresholds.gold, measured.is_lower_better) for score in scores)


def thresholds_hold(measured: Calibration) -> bool:
    """Whether thresholds follow from what was measured, far enough apart and in an order that holds."""
    try:
        final, feedback = (_thresholds_of(measured, part) for part in (Part.FINAL, Part.FEEDBACK))
        gap_steps(measured.thresholds, measured.trivial, measured.oracle)
    except (ItemRejected, DegenerateTask, ValueError):
        return False
    follows = (final, feedback) == (measured.thresholds, measured.feedback_thresholds)
    return follows and measured.steadiness.order_held >= LEAST_HELD


def _thresholds_of(measured: Calibration, part: Part) -> Thresholds:
    """Work out the thresholds of a part again.

    Raises:
        ValueError: if the record lacks what its rule needs, or a deciding run contradicts the board.
    """
    board, found = measured.board, measured.milestones
    if measured.rule == "ranks":
        scores = [entry.final if part is Part.FINAL else entry.feedback for entry in board]
        return thresholds(scores, measured.is_lower_better)
    trivial = next((entry for entry in board if entry.solver == TRIVIAL), None)
    if found is None or trivial is None or milestone_faults(found, board):
        raise ValueError("the runs that decide thresholds are missing, or are not those of the board")
    if part is Part.FINAL:
        return milestone_thresholds(found, board, part, measured.trivial, measured.oracle)
    return milestone_thresholds(found, board, part, trivial.feedback, found.feedback_oracle)


def difficulty_holds(measured: Calibration) -> bool:
    """Whether difficulty follows from the competent tier, with its interval and its band."""
    found = measured.difficulty
    competent = [entry.final for entry in measured.board if entry.tier is Tier.COMPETENT]
    if not competent or measured.trivial == measured.oracle:
        return False
    share = gap_closed(median(competent), measured.trivial, measured.oracle)
    follows = isclose(found.value, 1 - min(max(share, 0.0), 1.0), abs_tol=ROUNDING)
    return follows and found.low <= found.value <= found.high and band_of(found.value) is found.band


def nothing_given_away(package: TaskPackage, measured: Calibration) -> bool:
    """Whether public/ is what an agent may see and no more.

    Gates judge what data give away; this looks for what a page must never name.
    """
    layout = layout_of(package.spec)
    if any(layout.path_faults(package.spec, package.public)):
        return False
    page = package.public[DESCRIPTION].decode() + package.public.get(DATA_DICTIONARY, b"").decode()
    named = [
        *(f"{bar:.5f}" for _, bar in measured.thresholds),
        *(entry.name for entry in entries_of(package.facts.kind) if "_" in entry.name),
        package.spec.fingerprint[:12],
        package.task_id,
        "sandmill",
    ]
    return not layout.shows_target(package.public, package.facts) and not any(word in page for word in named)


def _wins_nothing(report: GradeReport) -> bool:
    return report.medal is None and (report.gap_closed is None or report.gap_closed <= 0)


TIMEOUT_S = 60.0
_LONGEST_LINE = 500  # characters kept of the last line of the errors


def trusting_backend() -> BackendName:
    """Choose the backend for scripts that we wrote ourselves: one that isolates, else a plain subprocess."""
    return "subprocess" if missing_for("warm") else "warm"


def run_reference(script: str, public: Mapping[str, bytes], backend: BackendName) -> RunResult:
    """Run the source of a reference solution with the public files, given by relative path.

    Raises:
        SandboxUnavailable: if the agent's interpreter is missing; says how to make it.
    """
    with TemporaryDirectory(prefix="sandmill-reference-") as name:
        (Path(name) / "public").mkdir()
        write_files(Path(name) / "public", public)
        return _box(backend).run(script, public=Path(name) / "public", timeout=TIMEOUT_S)


def describe_ending(run: RunResult) -> str:
    """Describe how a reference solution ended: outcome, message of the sandbox, and last line of its errors.

    Earlier lines of a traceback are left out: they name paths of this machine, and rejections are published. So are the
    warnings of a script that ran to its end.
    """
    lines = [] if run.outcome is Outcome.OK else run.stderr.strip().splitlines()
    last = "".join(lines[-1:])[:_LONGEST_LINE]
    return ": ".join(part for part in (str(run.outcome), run.detail, last) if part)


@cache
def _box(backend: BackendName) -> Sandbox:
    """One for this process, so that the interpreter is warmed up once."""
    box = Sandbox(backend)
    atexit.register(box.close)
    return box
