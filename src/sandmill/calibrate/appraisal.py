"""Measurements that are not on the leaderboard: informed solver, best answer without data, ceiling."""

import re
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from sandmill.calibrate.measure import draw_counts
from sandmill.calibrate.panel import PanelRun
from sandmill.calibrate.readers import Stated, read_table, run_readers
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.draw import Pilot, Rendered
from sandmill.draw.pilot import with_fresh_training
from sandmill.draw.render import side_by_side
from sandmill.errors import ItemRejected
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.models.base import Part, Stage
from sandmill.models.calibration import LOOSE, Calibration, Ceiling
from sandmill.models.package import TaskFacts
from sandmill.models.texts import DESCRIPTION
from sandmill.rng import Streams
from sandmill.scoring import Metric, get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from sandmill.scoring.gap import gap_closed


def appraise(calibration: Calibration, trivial: PanelRun, rendered: Rendered, streams: Streams) -> Calibration:
    """Add the best score without data. The trivial run is 0 on the gap scale.

    Raises:
        ItemRejected: `no_data`.
    """
    package, final = rendered.package, rendered.answers.is_final
    metric, truth = get_metric(package.facts.metric), rendered.answers.truth[final]
    no_data = best_without_data(
        package.public[DESCRIPTION].decode(),
        package.facts,
        truth,
        trivial.prediction[final],
        metric.score(truth, rendered.oracle[final]),
        metric,
        streams.generator("no data"),
    )
    return calibration.model_copy(update={"no_data": no_data})


def informed_score(contest: SolverRuns, rendered: Rendered) -> float | None:
    """Score of a solver that knows the form of the features; None where these are not in the files."""
    spec, final = rendered.package.spec, rendered.answers.is_final
    run = contest.run_informed(spec.mechanism)
    truth = rendered.answers.truth[final]
    return get_metric(spec.metric).rounded(truth, run.prediction[final]) if run and run.has_run else None


MOST_NUMBERS = 40
"""Numbers of a description that are tried as constants."""
SLACK = 0.02
"""Share of the gap that a constant may close: training rows tell the level of a target no more exactly."""
STANDARD_ERRORS = 3.0
"""Beyond the slack, luck of the test rows is allowed for by so many standard errors."""

_NUMBER = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?!\w|\.\w)")


def answers_without_data(description: str, facts: TaskFacts, rows: int) -> Iterator[Array]:
    """Guess from the description and the shapes of files: constants, numbers named in the text, the order of rows."""
    return form_of(facts).guesses(facts, rows, _numbers(description))


def best_without_data(
    description: str,
    facts: TaskFacts,
    truth: Array,
    trivial: Array,
    ceiling: float,
    metric: Metric,
    rng: np.random.Generator,
) -> float:
    """Share of the gap that the best guess without data closes; below 0 counts as 0.

    Raises:
        ItemRejected: `no_data`, if a guess closes more of the gap than slack and luck allow.
    """
    floor = metric.score(truth, trivial)
    best, guess = 0.0, trivial
    for answer in answers_without_data(description, facts, len(truth)):
        if metric.is_nonnegative and (answer < 0).any():
            continue
        score = metric.score(truth, answer)
        share = gap_closed(score, floor, ceiling) if np.isfinite(score) else 0.0
        if share > best:
            best, guess = share, answer
    if best <= SLACK:  # no luck to allow for
        return round(best, 6)
    counts = draw_counts(len(truth), rng)
    gains = metric.resample(truth, guess, counts) - metric.resample(truth, trivial, counts)
    error = float(np.nanstd(gains, ddof=1)) / abs(ceiling - floor)
    if best > SLACK + STANDARD_ERRORS * error:
        detail = (
            f"a guess from description and file shapes alone closes {best:.1%} of the gap "
            f"(standard error {error:.1%}); at most {SLACK:.0%} and luck are allowed"
        )
        raise ItemRejected(Stage.CALIBRATE, "no_data", detail)
    return round(best, 6)


def _numbers(text: str) -> list[float]:
    """Numbers that stand by themselves in a text, each once, in order."""
    found = dict.fromkeys(float(match) for match in _NUMBER.findall(text))
    return list(found)[:MOST_NUMBERS]


_MORE = 10
"""Training items that the solvers of a ceiling get, in those of the task."""
_WITH_MORE_ITEMS = ("reader_linear", "reader_search", "reader_sparse", "reader_trees")
"""Readers that get them. The others reach at most .002 of the gap more, and take tens of seconds."""


def measure_ceiling(
    measured: Calibration, pilot: Pilot, rendered: Rendered, contest: SolverRuns, streams: Streams
) -> Ceiling:
    """Say between which scores the best possible one lies.

    Where the files hold the mechanism's columns, and where the oracle of rendered targets knows the items alone, the
    oracle is the best possible. Elsewhere it knows more than the files show; the lower end is then what scripts, board,
    and readers with ten times the training items reach. These are items of the pilot and of further training draws.
    """
    spec, facts = pilot.spec, pilot.facts
    if rendered.targets and rendered.targets.knows == "items":
        return Ceiling(low=measured.oracle, high=measured.oracle, kind="exact")
    if spec.kind.shows_columns and not spec.kind.panel:
        kind = "exact" if measured.oracle_is_exact else "plug_in"
        return Ceiling(low=measured.oracle, high=measured.oracle, kind=kind)
    metric, final = get_metric(facts.metric), rendered.answers.part(Part.FINAL)
    layout, public, runs = layout_of(spec), rendered.package.public, list[PanelRun]()
    own: tuple[str, ...] = getattr(spec.kind.load("panel"), "WITH_MORE_ITEMS", ()) if spec.kind.panel else ()
    if own or (contest.stated and not spec.kind.panel):
        tested = layout.read(public, facts, spec.feature_columns, spec.only_in_training).test
        train = side_by_side(pilot.test, pilot.only_in_training, pilot.target)
        # Pilots of kinds with a panel of their own are small; their items are rendered slowly
        missing = 0 if own else ceil(_MORE - 1 - train.height / spec.sizes.train)
        further = [pilot, *(with_fresh_training(pilot, streams, number + 1) for number in range(missing))]
        train = pl.concat([train, *(one.drawn.train.frame.select(train.columns) for one in further)])
        train = train.unique(facts.id_column, keep="first", maintain_order=True)
        # Layouts read all cells as text; JSON files would then hold texts in place of numbers
        tested = tested.cast({column: train.schema[column] for column in tested.columns})
        with TemporaryDirectory(prefix="sandmill-ceiling-") as name:
            files = {**layout.write(train, tested, facts), layout.sample: public[layout.sample]}
            if own:
                runs = SolverRuns(Path(name), files, facts, Stated(())).run(own)
            else:
                # Readers need no generic features of so many items
                write_files(Path(name), files)
                table = read_table(contest.panel, Path(name), contest.stated)
                runs = run_readers(contest.panel, table, _WITH_MORE_ITEMS)
    reached = [measured.board[0].final, *(script.final for script in measured.scripts)]
    truth = rendered.answers.truth[final]
    reached += [metric.rounded(truth, run.prediction[final]) for run in runs if run.has_run]
    best = min(reached) if metric.is_lower_better else max(reached)
    return Ceiling(low=best, high=measured.oracle, kind="bracket", loose_above=LOOSE)
