"""Open a folder of tasks: pulled ones, and tables of other people in the small layout, which are measured.

Nobody knows the best possible score of real data. The upper end of the gap scale is the final score of the panel's
entry that is best on the feedback part. Its final score is not chosen by luck on the final part, as that of the best
final entry would be, so shares above 1 occur.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from sandmill.calibrate.board import leaderboard, medal_rows, median_rows, middle_of
from sandmill.calibrate.calibrate import require_enough
from sandmill.calibrate.measure import RESAMPLES, difficulty, draw_counts
from sandmill.calibrate.panel import TRIVIAL, PanelRun, run_panel
from sandmill.calibrate.steadiness import ThresholdScores, steadiness
from sandmill.errors import InputError, ItemRejected, Problem, shorten
from sandmill.fingerprint import digest, fingerprint
from sandmill.models.base import OnProgress, Part
from sandmill.models.calibration import BoardEntry, Calibration, Sizing, Steadiness, Thresholds, Tier
from sandmill.models.package import GradedTask, TaskFacts, TaskFile
from sandmill.play.release import open_task
from sandmill.play.task import EpisodeTask
from sandmill.rng import Streams
from sandmill.scoring import Metric, get_metric
from sandmill.scoring.base import SCORE_DECIMALS, Array
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.grading.private_half import PrivateHalf, read_private
from sandmill.scoring.submission import Answers, read_answers
from sandmill_learn.line_cache import LineCache
from sandmill_learn.table_facts import FILES, TASK, TEST, TRAIN, Faults, TableTask, read_table_task, write_description

MEASURE_VERSION = 1
"""Version of the measure. Cached measures of another version are made again."""
LEAST_ERRORS = 2.0
"""Least distance of the ends of the gap scale in standard errors of a paired bootstrap. Nearer ends are noise."""


def measure_table(public: Path, facts: TaskFacts, answers: bytes) -> Calibration:
    """Run the panel on a table and measure it.

    Args:
        public: folder with the public files.
        facts: what the task states.
        answers: content of answers.csv, in the order of test.csv.

    Raises:
        Faults: too few solvers ran, or no solver learns anything, so that shares of the gap would be noise.
    """
    truth, metric = read_answers(answers, facts), get_metric(facts.metric)
    try:
        ran = require_enough(run_panel(public, facts))
    except ItemRejected as error:
        raise Faults([Problem("panel", error.detail, "a table that solvers of tables can read")]) from None
    entries = leaderboard([_entry(run, truth, metric) for run in ran], metric.is_lower_better)
    said = {run.name: run.prediction for run in ran}
    fair = _best(entries, metric)
    trivial, best = (next(entry.final for entry in entries if entry.solver == name) for name in (TRIVIAL, fair))
    streams, final = Streams(b"measure", digest(answers)), truth.part(Part.FINAL)
    counts = draw_counts(int(final.sum()), streams.generator("final"), RESAMPLES)
    gaps = metric.resample(truth.truth[final], said[fair][final], counts)
    gaps = gaps - metric.resample(truth.truth[final], said[TRIVIAL][final], counts)
    gap, spread = (trivial - best if metric.is_lower_better else best - trivial), float(gaps.std(ddof=1))
    if gap <= 0 or gap < LEAST_ERRORS * spread:
        saw = f"{fair}, best by feedback, scores {best}, and the trivial solver {trivial} (standard error {spread:.5f})"
        wanted = f"a solver that is better by {LEAST_ERRORS:g} standard errors: a larger test, or another table"
        raise Faults([Problem("signal", saw, wanted)])
    bars = _thresholds([entry.final for entry in entries], metric)
    steps = [gap_closed(bar, trivial, best) for bar in (bars.gold, bars.silver, bars.bronze, bars.median)]
    steady = _steadiness(truth, [run.prediction for run in ran], metric, streams)
    usual = [run.prediction[final] for run in ran if run.tier is Tier.COMPETENT]
    return Calibration(
        is_lower_better=metric.is_lower_better,
        trivial=trivial,
        oracle=best,
        oracle_is_exact=False,
        board=entries,
        thresholds=bars,
        feedback_thresholds=_thresholds([entry.feedback for entry in entries], metric),
        steps=tuple(round(better - worse, 6) for better, worse in pairwise(steps)),
        steadiness=steady,
        # There is no pilot: the size of the test was chosen by others.
        sizing=Sizing(pilot_rows=0, final_rows=int(final.sum()), order_foretold=steady.order_held),
        difficulty=difficulty(truth.truth[final], usual, said[TRIVIAL][final], said[fair][final], metric, counts),
        reference=fair,
    )


def _entry(run: PanelRun, truth: Answers, metric: Metric) -> BoardEntry:
    final, feedback = (
        metric.rounded(truth.truth[rows], run.prediction[rows])
        for rows in (truth.part(Part.FINAL), truth.part(Part.FEEDBACK))
    )
    return BoardEntry(solver=run.name, tier=run.tier, final=final, feedback=feedback)


def _best(entries: Sequence[BoardEntry], metric: Metric) -> str:
    """Return the entry that is best on the feedback part, of equal ones the first by name."""
    sign = 1 if metric.is_lower_better else -1
    return min(entries, key=lambda entry: (sign * entry.feedback, entry.solver)).solver


def _thresholds(scores: Sequence[float], metric: Metric) -> Thresholds:
    """Return the thresholds of mle-bench's rank rule. Those of real tables may be equal."""
    ranked = sorted(scores, reverse=not metric.is_lower_better)
    gold, silver, bronze = (round(ranked[row - 1], SCORE_DECIMALS) for row in medal_rows(len(ranked)))
    return Thresholds(gold=gold, silver=silver, bronze=bronze, median=middle_of(scores))


def _steadiness(truth: Answers, predictions: Sequence[Array], metric: Metric, streams: Streams) -> Steadiness:
    rows = truth.part(Part.FINAL)
    counts = draw_counts(int(rows.sum()), streams.generator(f"steadiness {Part.FINAL}"), RESAMPLES // 2)
    sign, known = (-1 if metric.is_lower_better else 1), truth.truth[rows]
    scores = np.array([sign * metric.score(known, said[rows]) for said in predictions])
    best_first = np.argsort(-scores, kind="stable")
    places = [(row,) for row in medal_rows(len(scores))] + [median_rows(len(scores))]
    entries = [[best_first[row - 1] for row in some] for some in places]
    drawn = {one: sign * metric.resample(known, predictions[one][rows], counts) for some in entries for one in some}
    point = np.array([scores[some].mean() for some in entries])
    resampled = np.array([np.mean([drawn[one] for one in some], axis=0) for some in entries])
    return steadiness(ThresholdScores(point, resampled), metric)


DESCRIPTION = "public/description.md"
_PULLED = "private/task.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_DRAW = re.compile(r"\.d[0-9]+$")
_CACHE_FILE = "measures.jsonl"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenedTask:
    """A task of a folder."""

    task: EpisodeTask
    facts: TaskFacts
    family: str
    digest: str


@dataclass(frozen=True)
class TableSource:
    """The files of a table in the small layout, measured."""

    folder: Path
    facts: TaskFacts
    calibration: Calibration
    answers: bytes
    ref: str = ""

    @property
    def task_id(self) -> str:
        """Name of the folder."""
        return self.folder.name

    def description(self) -> str:
        """Return description.md, or a description that is written from the facts."""
        path = self.folder / DESCRIPTION
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
        train, test = ((self.folder / name).read_text(encoding="utf-8-sig").splitlines() for name in (TRAIN, TEST))
        return write_description(self.task_id, self.facts, train[0].split(","), (len(train) - 1, len(test) - 1))

    def public(self) -> Path:
        """Return the folder of the public files."""
        return self.folder / "public"

    @cached_property
    def _half(self) -> PrivateHalf:
        file = GradedTask(task_id=self.task_id, facts=self.facts, calibration=self.calibration)
        return PrivateHalf(file, read_answers(self.answers, self.facts))

    def private(self) -> PrivateHalf:
        """Return facts, calibration and answers."""
        return self._half


def open_folder(
    folder: Path, cache: Path, workers: int = 1, on_progress: OnProgress | None = None, *, leave_out: bool = False
) -> Iterator[OpenedTask]:
    """Yield the tasks of a folder in the order of their names; see `task_sets.from_folder`.

    Raises:
        InputError: with all problems of all tasks.
    """
    names = _task_folders(folder)
    problems: list[Problem] = []
    small = [name for name in names if not (folder / name / _PULLED).is_file()]
    measured = _measure_all(folder, small, cache, workers, on_progress)
    for name, found in measured.items():
        if isinstance(found, Faults) and leave_out and _is_unfit(found):
            _LOG.warning("%s is left out: %s", folder / name, found)
        elif isinstance(found, Faults):
            problems += [Problem(f"{name}/{one.where}", one.saw, one.expected, one.hint) for one in found.problems]
    if problems:
        raise InputError(str(folder), problems, "")
    for name in names:
        if name not in measured:
            yield _open_pulled(folder / name)
        elif isinstance(found := measured[name], OpenedTask):
            yield found


def _is_unfit(faults: Faults) -> bool:
    """Whether the files are right, and the measure found that the task ranks nothing."""
    return all(problem.where in ("panel", "signal") for problem in faults.problems)


def _task_folders(folder: Path) -> list[str]:
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        saw = (error.strerror or "an error").lower()
        raise InputError(str(folder), [Problem("folder", saw, "a folder with one folder a task")], "") from None
    problems = [
        Problem(shorten(name), "the name of a task", "letters, digits, dots, - and _, at most 100")
        for name in names
        if not _NAME.fullmatch(name)
    ]
    if not names:
        problems = [Problem("folder", "no task", f"<task id>/{TASK}, <task id>/public/ and <task id>/private/")]
    if problems:
        raise InputError(str(folder), problems, "")
    return names


def _open_pulled(folder: Path) -> OpenedTask:
    file = read_private(folder).task
    family = file.spec.rows_key if isinstance(file, TaskFile) else file.task_id
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return OpenedTask(open_task(folder), file.facts, family, _digest(folder, paths))


def _digest(folder: Path, paths: Sequence[Path]) -> str:
    hashes = sorted([str(path.relative_to(folder)), digest(path.read_bytes())] for path in paths)
    return fingerprint([*hashes])


def _measure_all(
    folder: Path, names: Sequence[str], cache: Path, workers: int, on_progress: OnProgress | None
) -> Mapping[str, "OpenedTask | Faults"]:
    """Read all tables, then measure those that the cache lacks."""
    kept, found = LineCache(cache / _CACHE_FILE), dict[str, OpenedTask | Faults]()
    read = {name: _read(folder / name) for name in names}
    keys = {name: f"{MEASURE_VERSION}/{one[1]}" for name, one in read.items() if not isinstance(one, Faults)}
    waiting = {name: folder / name for name, key in keys.items() if kept.get(key) is None}
    for done, (name, measure) in enumerate(_measures(waiting, workers), start=1 + len(names) - len(waiting)):
        kept.put(keys[name], measure)
        if on_progress is not None:
            on_progress(done, len(names))
    for name, one in read.items():
        found[name] = one if isinstance(one, Faults) else _opened(folder / name, *one, kept.get(keys[name]))
    kept.close()
    return found


def _read(folder: Path) -> "tuple[TableTask, str, TaskFacts, bytes] | Faults":
    try:
        table = read_table_task(folder)
    except Faults as faults:
        return faults
    paths = [folder / name for name in FILES]
    return (
        table.asked,
        _digest(folder, [*paths, *filter(Path.is_file, [folder / DESCRIPTION])]),
        table.facts,
        table.answers,
    )


def _opened(
    folder: Path, asked: TableTask, key: str, facts: TaskFacts, answers: bytes, measure: Mapping[str, Any]
) -> "OpenedTask | Faults":
    if "faults" in measure:
        return Faults([Problem(**problem) for problem in measure["faults"]])
    source = TableSource(folder, facts, Calibration.model_validate(measure["calibration"]), answers)
    return OpenedTask(EpisodeTask(source), facts, asked.family or _DRAW.sub("", folder.name), key)


def _measures(waiting: Mapping[str, Path], workers: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure tables as they come, here or in processes of their own."""
    if workers <= 1 or len(waiting) < 2:
        yield from ((name, _measure(folder)) for name, folder in waiting.items())
        return
    with ProcessPoolExecutor(min(workers, len(waiting)), mp_context=get_context("spawn")) as pool:
        futures: dict[Future[dict[str, Any]], str] = {
            pool.submit(_measure, folder): name for name, folder in waiting.items()
        }
        for future in as_completed(futures):
            yield futures[future], future.result()


def _measure(folder: Path) -> dict[str, Any]:
    """Measure one table. What makes it unfit is a result too, so that it is not measured again."""
    try:
        table = read_table_task(folder)
        return {"calibration": measure_table(folder / "public", table.facts, table.answers).model_dump(mode="json")}
    except Faults as faults:
        return {"faults": [vars(problem) for problem in faults.problems]}
