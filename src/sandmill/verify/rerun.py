"""Repeat on a pulled task what was established when it was built."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.calibrate.board import leaderboard
from sandmill.calibrate.panel import TRIVIAL, entries_of, run_panel
from sandmill.calibrate.readers import Stated, reader_names, stated_facts
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.draw import Rendered, render
from sandmill.draw.render import task_id
from sandmill.errors import ItemRejected, boundary, shorten
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.kinds.files.tables import MAX_COLUMNS, child_excess, table_excess
from sandmill.models.base import Frozen, OnProgress, Part, Stage
from sandmill.models.calibration import LADDER, RUNG_FILES, BoardEntry, MilestoneEntry, Tier
from sandmill.models.package import TaskPackage
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Outcome, Verification
from sandmill.models.run import RunResult
from sandmill.provenance import code_version, numeric_versions
from sandmill.sandbox.agent_env import require_agent_env
from sandmill.sandbox.sandbox import BackendName, choose_backend
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.submission import read_answers
from sandmill.store.limits import MIB
from sandmill.store.release import StoredRelease
from sandmill.verify.verify import describe_ending, trusting_backend, verify_task

_LONGEST = 300  # characters of a message that a task made our code raise

MAX_SCRIPT_BYTES = 1 << 20
MAX_BOARD = 200
"""Entries of a leaderboard. The panel has 59, and there are 7 readers."""

_LAST_DIGIT = 1.5e-5
"""Scores have 5 decimals. Neighbours differ by 1e-5, and as floats by a little more."""

_WHAT = {
    "is_micro": "its rows are not those of its design, or the reference solution took too long",
    "sample_wins_nothing": "the sample submission is invalid, wins a medal or closes part of the gap",
    "noop_wins_nothing": "no submission at all earns something",
    "best_is_known": "the oracle is not above the trivial solver, a solver is far above it, or gold is out of reach",
    "thresholds_hold": "thresholds do not follow from what was measured, or are too near each other",
    "difficulty_holds": "difficulty does not follow from the board",
    "nothing_given_away": "public/ holds or names what an agent may not see",
}
"""What is wrong where a fact does not hold."""
_MOST_SUITES = 16
_SUITE = re.compile(r"reports/(expectations/([a-z_]+)\.json)")


class TaskRerun(Frozen):
    """What a rerun of one task found, as sentences."""

    task_id: str
    made_by: str = ""
    installed: str = ""
    """The code version that made the task, and the installed one. Empty if they are the same or not compared."""
    problems: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    """What the installed code renders or scores otherwise than the other code that made the task."""

    def describe_code(self) -> str:
        """Say whether a task of another code version was compared, and differs; empty for a task of this version."""
        if not self.made_by:
            return ""
        found = "not compared" if self.problems else "compared and does not differ"
        if self.differences:
            found = f"compared and differs: {'; '.join(self.differences)}"
        return f"made by code {shorten(self.made_by)}, this is {self.installed}: {found}"


def installed_code(release: StoredRelease) -> str:
    """Return the code version that this installation gives to tasks that pass the suites of a release.

    It depends on the files of the library and the versions of numeric libraries. Suites that cannot be read count as
    none.
    """
    found = islice(filter(None, (_SUITE.fullmatch(part.path) for part in release.manifest.parts)), _MOST_SUITES)
    return code_version({match[2]: release.readable_report(match[1], limit=MIB) or b"" for match in found})


def rerun_tasks(
    release: StoredRelease,
    task_ids: Sequence[str],
    secret: bytes | None = None,
    *,
    unconfined: bool = False,
    progress: OnProgress | None = None,
) -> list[TaskRerun]:
    """Establish the facts of tasks of a release again, and compare those that other code made; see `rerun_task`."""
    installed, found = installed_code(release), []
    for done, name in enumerate(task_ids, start=1):
        package, record = release.package(name), release.record(name)
        found.append(rerun_task(package, record, secret, unconfined=unconfined, installed=installed))
        if progress is not None:
            progress(done, len(task_ids))
    return found


def rerun_task(
    package: TaskPackage,
    record: TaskRecord,
    secret: bytes | None = None,
    *,
    unconfined: bool = False,
    installed: str | None = None,
) -> TaskRerun:
    """Establish the seven facts of a task again: run the scripts and the whole panel, grade, recompute, render.

    The task may be a stranger's. Its scripts run confined. Our own code reads its tables only if they are as small as
    those of a micro task, and an exception there is a problem of the task. Scores agree to 6 significant digits.

    Args:
        package: public and private files as published.
        record: the recorded facts.
        secret: of the release, to render the design and its oracle again; without it, these rest on the hashes.
        unconfined: run the scripts as a plain process where nothing can confine it; for releases of one's own.
        installed: code version of this installation, of `installed_code`. On a task that another version made, what the
            installed code renders and scores otherwise is a difference and no problem. None: never compared.

    Raises:
        SandboxUnavailable: nothing can confine the scripts here, or the agent's interpreter is missing.
    """
    backend = trusting_backend() if unconfined else choose_backend("auto")
    require_agent_env()
    made_by = record.lineage.code_version
    code = {"made_by": made_by, "installed": installed} if installed not in (None, made_by) else {}
    differences: list[str] = []
    problems = list(_task_faults(package, record))
    if not problems:
        try:
            with boundary(Stage.VERIFY):
                problems, differences = _prove_again(package, record, secret, backend, bool(code))
        except ItemRejected as error:
            problems = [f"it cannot be repeated: {shorten(error.detail, _LONGEST)}"]
    return TaskRerun(task_id=record.task_id, problems=tuple(problems), differences=tuple(differences), **code)


def _task_faults(package: TaskPackage, record: TaskRecord) -> Iterator[str]:
    """Say why a task is no micro task, so that nothing of it is run or parsed; nothing if it may be one."""
    sizes, tested, layout = package.spec.file_sizes, package.spec.test_items, layout_of(package.spec)
    form, child = form_of(package.facts), package.spec.mechanism.child
    least, most = (tested * each for each in (form.rows_each(package.facts), form.most_rows_each(package.facts)))
    answers = {
        layout.sample: layout.sample_csv(package.public),
        "answers.csv": package.private.get("answers.csv", b""),
    }
    faults = list(layout.path_faults(package.spec, package.public))
    yield from faults or layout.excess(package.public, sizes)
    rungs = {*LADDER, *(script.rung for script in record.calibration.scripts)}
    missing = {"answers.csv", *(RUNG_FILES[rung] for rung in rungs)} - package.private.keys()
    if missing:
        yield f"private/ lacks {', '.join(sorted(missing))}"
    for path, content in answers.items():
        yield from table_excess(path, content, least, most if most > least else None)
    if child and child.path in package.public:
        yield from child_excess(child, package.public[child.path], sizes.train + tested)
    for path in RUNG_FILES.values():
        if len(package.private.get(path, b"")) > MAX_SCRIPT_BYTES:
            yield f"{path} has more than {MAX_SCRIPT_BYTES} bytes"
    if not 0 < len(record.calibration.board) <= MAX_BOARD:
        yield f"the leaderboard has {len(record.calibration.board)} entries, not 1 to {MAX_BOARD}"
    columns = max(len(record.spec.mechanism.columns), len(record.facts.classes), len(record.facts.submission_columns))
    if columns > MAX_COLUMNS:
        yield f"the design has {columns} columns or classes; the most is {MAX_COLUMNS}"


def _prove_again(
    package: TaskPackage, record: TaskRecord, secret: bytes | None, backend: BackendName, is_other: bool
) -> tuple[list[str], list[str]]:
    """Return the problems, and the differences of a task of other code: what only that code can repeat."""
    scripts = {name: package.private[name].decode() for name in RUNG_FILES.values() if name in package.private}
    differences: list[str] = []
    rendered = None
    try:
        with boundary(Stage.VERIFY):
            rendered = None if secret is None else render(package.spec, secret, package.replicate)
    except ItemRejected as error:
        if not is_other:
            raise
        differences.append(f"the design is not compared, since it does not render: {shorten(error.detail, _LONGEST)}")
    proved, run = verify_task(package, record.calibration, scripts, rendered.package if rendered else package, backend)
    problems = [what for name, what in _WHAT.items() if not getattr(proved, name)]
    if secret is not None and rendered is not None:
        differences += _other_bytes(package, rendered.package)
        # The id belongs to the design before its test was sized, whose fingerprint is in the lineage.
        if (named := task_id(record.lineage.spec_fingerprint, record.replicate, secret)) != record.task_id:
            problems.append(f"its lineage and the secret give the id {named}")
    if proved.is_micro:  # else the panel would take too long as well
        problems += [*_script_problems(proved, record, run), *_record_problems(record)]
        differences += _tier_problems(record)
        differences += _board_problems(package, record, trusts_design=secret is not None)
        differences += _oracle_problems(record, rendered if proved.renders_equal_bytes else None)
    if not is_other:
        problems, differences = problems + differences, []
    return [*problems, *(_version_notes(record) if problems else ())], differences


def _other_bytes(package: TaskPackage, again: TaskPackage) -> Iterator[str]:
    """Name the rendered files that differ from the published ones."""
    published = {f"public/{path}": content for path, content in package.public.items()}
    rendered = {f"public/{path}": content for path, content in again.public.items()}
    for files, private in ((published, package.private), (rendered, again.private)):
        files["private/answers.csv"] = private["answers.csv"]
    paths = sorted(published.keys() | rendered.keys())
    if others := [path for path in paths if published.get(path) != rendered.get(path)]:
        yield f"rendering the design again gives other bytes: {', '.join(map(shorten, others))}"


def _script_problems(proved: Verification, record: TaskRecord, run: RunResult) -> Iterator[str]:
    if not proved.reference_is_gold:
        ended = f"the script ended {describe_ending(run)}" if run.outcome is not Outcome.OK else "it ran"
        yield f"the reference solution does not reach gold: scored {proved.reference_score}; {ended}"
    recorded = {script.file: script.final for script in record.calibration.scripts}
    for name, score in proved.script_scores.items():
        if (before := recorded.get(name)) is None:
            yield f"{name} has no recorded score"
        elif score is None or not _agree(score, before):
            yield f"{name} scored {score}; recorded is {before}"


def _board_problems(package: TaskPackage, record: TaskRecord, *, trusts_design: bool) -> Iterator[str]:
    """Run what is on the board, and adversaries beside it.

    Readers execute lines that are written from the design. They run only if the design is trusted, as it is where the
    release secret is given.
    """
    metric, answers = get_metric(package.facts.metric), read_answers(package.private["answers.csv"], package.facts)
    board: dict[str, BoardEntry | MilestoneEntry] = {entry.solver: entry for entry in record.calibration.board}
    if milestones := record.calibration.milestones:
        board |= {entry.solver: entry for entry in milestones.entries if not entry.on_board}
    with TemporaryDirectory(prefix="sandmill-panel-") as name:
        write_files(Path(name), package.public)
        entries = [entry.name for entry in entries_of(package.facts.kind) if entry.name in board]
        runs = list(run_panel(Path(name), package.facts, entries))
        if milestones:
            stated = stated_facts(record.spec, package.public) if trusts_design else Stated(())
            contest = SolverRuns(Path(name), package.public, package.facts, stated)
            beside = [*contest.run_readers(), *contest.run_adversaries()]
            runs += [run for run in beside if run.name in board]
    untried = board.keys() - {run.name for run in runs}
    for solver in sorted(untried if trusts_design else untried - set(reader_names(package.facts.kind))):
        yield f"solver {solver} of the board is not in the panel of this version of sandmill"
    final, feedback = answers.part(Part.FINAL), answers.part(Part.FEEDBACK)
    yield from (f"solver {run.name} of the board failed: {run.failure}" for run in runs if not run.has_run)
    for run in (run for run in runs if run.has_run):
        entry = board[run.name]
        scores = [metric.rounded(answers.truth[part], run.prediction[part]) for part in (final, feedback)]
        if not all(map(_agree, scores, (entry.final, entry.feedback))):
            seen = f"{scores[0]} final, {scores[1]} feedback"
            recorded = f"{entry.final} final, {entry.feedback} feedback"
            yield f"solver {run.name} scored {seen}; the board has {recorded}"


def _tier_problems(record: TaskRecord) -> Iterator[str]:
    """Find solvers of other tiers than in the panel. One that is left out may have failed, or be newer."""
    tiers = {entry.name: entry.tier for entry in entries_of(record.facts.kind)}
    tiers |= dict.fromkeys(reader_names(record.facts.kind), Tier.READER)
    for entry in record.calibration.board:
        if (tier := tiers.get(entry.solver, entry.tier)) != entry.tier:
            yield f"solver {shorten(entry.solver)} is of tier {tier}; the board has {entry.tier}"


def _record_problems(record: TaskRecord) -> Iterator[str]:
    """Find contradictions within the record. Thresholds count every line of the board, each at its place."""
    measured = record.calibration
    for solver, count in Counter(entry.solver for entry in measured.board).items():
        if count > 1:
            yield f"solver {shorten(solver)} is on the board {count} times"
    lower = get_metric(record.facts.metric).is_lower_better
    if measured.is_lower_better != lower:
        yield f"{record.facts.metric} is recorded in the wrong direction: {'lower' if lower else 'higher'} is better"
    if measured.board != leaderboard(measured.board, lower):
        yield "the board is not in the order of its final scores"
    constant = next((entry.final for entry in measured.board if entry.solver == TRIVIAL), None)
    if constant != measured.trivial:
        yield f"the trivial solver is recorded with {measured.trivial}; the board has {constant}"


def _oracle_problems(record: TaskRecord, rendered: Rendered | None) -> Iterator[str]:
    if rendered is not None:
        final = rendered.answers.is_final
        oracle = get_metric(record.facts.metric).rounded(rendered.answers.truth[final], rendered.oracle[final])
        if not _agree(oracle, record.calibration.oracle):
            yield f"the oracle scored {oracle}; recorded is {record.calibration.oracle}"


def _version_notes(record: TaskRecord) -> Iterator[str]:
    here = numeric_versions()
    built = {name: number for name, number in record.lineage.libraries.items() if here.get(name, number) != number}
    if built:
        named = ", ".join(f"{name} {number} (here {here[name]})" for name, number in built.items())
        yield f"note: it was built with {named}; install those versions to compare exactly"


def _agree(score: float, recorded: float) -> bool:
    return isclose(score, recorded, rel_tol=1e-6, abs_tol=_LAST_DIGIT)
