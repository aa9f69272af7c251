"""The informed solver knows the form of every feature and learns their weights."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.calibrate.readers import Stated, stated_facts
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.models import motifs
from sandmill.models.faults import Duplicates
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.gap import gap_closed
from tests.hinted_designs import small_rendered
from tests.unit.calibrate.tasks import FIRST, made_task, plain_spec, with_rule


def wave():
    """A design whose rule is one wave over a column that is spread widely."""
    return with_rule(plain_spec(), motifs.Periodic(column=FIRST, period=21, phase=0.8))


def closed(made, *names: str) -> dict[str, float]:
    """Gap closed by the informed solver and by entries."""
    metric, truth = get_metric(made.spec.metric), made.rendered.answers.truth
    package = made.rendered.package
    with TemporaryDirectory() as folder:
        contest = SolverRuns(Path(folder), package.public, package.facts, Stated(()))
        informed = contest.run_informed(made.spec.mechanism)
        assert contest.run_informed(made.spec.mechanism) is informed
    assert informed.failure is None
    runs = {run.name: run.prediction for run in [informed, *made.panel.run(["prior", *names])]}
    scores = {name: metric.score(truth, prediction) for name, prediction in runs.items()}
    oracle = metric.score(truth, made.rendered.oracle)
    return {name: gap_closed(score, scores["prior"], oracle) for name, score in scores.items()}


def test_it_beats_linear_models_where_the_rule_is_a_wave():
    with made_task(wave()) as made:
        gaps = closed(made, "linear", "linear_tuned")
    assert gaps["informed"] > 0.9
    assert gaps["informed"] > max(gaps["linear"], gaps["linear_tuned"]) + 0.5
    assert gaps["informed"] < 1.01


def test_copies_that_the_panel_drops_leave_rows_and_cells_together():
    spec = wave()
    copied = spec.mechanism.model_copy(update={"pathologies": (Duplicates(rate=0.3),)})
    with made_task(spec.model_copy(update={"mechanism": copied})) as made:
        assert len(made.panel.table.kept) < 0.9 * len(made.train.target)
        assert closed(made)["informed"] > 0.9


def test_it_reads_cells_as_the_texts_explain_them():
    rendered = small_rendered(0, (TargetKind.REGRESSION, MetricName.RMSE))
    package, metric = rendered.package, get_metric(MetricName.RMSE)
    assert {"form", "sentinel", "units"} & {hint.fact.fact for hint in package.spec.hints}
    with TemporaryDirectory() as folder:
        contest = SolverRuns(Path(folder), package.public, package.facts, stated_facts(package.spec, package.public))
        informed = contest.run_informed(package.spec.mechanism)
        blind = contest.run(["linear_tuned"])[0]
    assert informed.failure is None
    truth = rendered.answers.truth
    assert metric.score(truth, informed.prediction) < 0.9 * metric.score(truth, blind.prediction)
