"""The informed solver knows the form of every feature and learns their weights."""

from typing import get_args

import numpy as np
import pytest

from sandmill.calibrate.informed import informed_run, motif_features
from sandmill.models import motifs
from sandmill.models.columns import Categorical
from sandmill.models.faults import Duplicates
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import columns_of
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.gap import gap_closed
from tests.designs import TASKS, make_spec
from tests.mechanisms import LINKS, doubtful, gapped
from tests.unit.calibrate.tasks import FIRST, made_task, plain_spec, with_rule

FAULTS = (PathologyKind.MISSING, PathologyKind.DUPLICATES, PathologyKind.DRIFT, PathologyKind.TIMESTAMPS)


def wave():
    """A design whose rule is one wave over a column that is spread widely."""
    return with_rule(plain_spec(), motifs.Periodic(column=FIRST, period=21, phase=0.8))


def closed(made, *names: str) -> dict[str, float]:
    """Gap closed by the informed solver and by entries."""
    metric, truth = get_metric(made.spec.metric), made.rendered.answers.truth
    informed = informed_run(made.panel, made.spec.mechanism, made.train.observed, made.test.observed)
    assert informed.failure is None
    runs = {run.name: run.prediction for run in [informed, *made.panel.run(["prior", *names])]}
    scores = {name: metric.score(truth, prediction) for name, prediction in runs.items()}
    oracle = metric.score(truth, made.rendered.oracle)
    return {name: gap_closed(score, scores["prior"], oracle) for name, score in scores.items()}


def test_it_beats_linear_models_where_the_rule_is_a_wave():
    with made_task(wave()) as made:
        gaps = closed(made, "linear", "heavy_penalty")
    assert gaps["informed"] > 0.9
    assert gaps["informed"] > max(gaps["linear"], gaps["heavy_penalty"]) + 0.5
    assert gaps["informed"] < 1.01


def test_copies_that_the_panel_drops_leave_rows_and_cells_together():
    spec = wave()
    copied = spec.mechanism.model_copy(update={"pathologies": (Duplicates(rate=0.3),)})
    with made_task(spec.model_copy(update={"mechanism": copied})) as made:
        assert len(made.panel.table.kept) < 0.9 * len(made.train.target)
        assert closed(made)["informed"] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("target", "metric"), TASKS[3:])
def test_every_kind_of_target_is_served(target: TargetKind, metric: MetricName):
    spec = make_spec(target, metric, 1, split=SplitKind.TEMPORAL, pathologies=FAULTS)
    sizes = spec.sizes.model_copy(update={"feedback": 200, "final": 800})
    with made_task(spec.model_copy(update={"sizes": sizes})) as made:
        closed(made)
        kept = made.panel.table.kept
        assert len(kept) == len(made.panel.table.train) < len(made.train.target), "copies are in the files"
        if target is TargetKind.COUNT:
            np.testing.assert_allclose(made.train.target[kept], made.panel.table.target)


AGGREGATE = motifs.Aggregate(how="sum", kinds=(1,), days=30)
MOTIFS: dict[type, tuple[motifs.Motif, int]] = {
    motifs.Linear: (motifs.Linear(column="w"), 1),
    motifs.Curve: (motifs.Curve(column="m"), 1),
    motifs.Saturation: (motifs.Saturation(column="m", steepness=2), 1),
    motifs.Threshold: (motifs.Threshold(column="m", cut=5), 1),
    motifs.BetweenCuts: (motifs.BetweenCuts(column="m", low=2, high=5), 1),
    motifs.Periodic: (motifs.Periodic(column="m", period=3, phase=1), 2),
    motifs.Ratio: (motifs.Ratio(numerator="u", denominator="m"), 1),
    motifs.Difference: (motifs.Difference(left="m", right="w"), 1),
    motifs.Interaction: (motifs.Interaction(left="w", right="m"), 1),
    motifs.Bottleneck: (motifs.Bottleneck(left="m", right="w"), 1),
    motifs.Lookup: (motifs.Lookup(column="g", effects=(1, 2, 4)), 3),
    motifs.CrossedLookup: (motifs.CrossedLookup(left="g", right="k", effects=((1, 2), (3, 4), (5, 7))), 6),
    motifs.VaryingSlope: (motifs.VaryingSlope(column="m", by="g", slopes=(1, 2, 4)), 3),
    motifs.LocalRule: (motifs.LocalRule(column="w"), 3),
    motifs.Drift: (motifs.Drift(column="day", starts=(100.5, 200.5), levels=(1, 2, 4)), 3),
    motifs.UnitEffect: (motifs.UnitEffect(column="ward"), 0),
    motifs.Formula: (motifs.Formula(top=(("u", "m"),), bottom=(("u",), ("w",)), above=0.2), 1),
    motifs.Conditional: (
        motifs.Conditional(
            column="w", when=(motifs.Condition(column="g", levels=(1, 2)), motifs.Condition(column="m", above=2))
        ),
        1,
    ),
    motifs.NormDistance: (motifs.NormDistance(column="m", by="g", norms=(1, 2, 4)), 1),
    motifs.CodeValue: (motifs.CodeValue(column="g", attribute="height", values=(1, 2, 4)), 1),
    motifs.Aggregate: (AGGREGATE, 1),
    motifs.KnownUnit: (motifs.KnownUnit(left="g", right="k", effects=((1, 2), (3, 4), (5, 7))), 6),
    motifs.Distance: (motifs.Distance(start=("m", "w"), end=("u", "day"), norm=900.0), 1),
}
CELLS = {
    "g": np.array([0.0, 1, 2, 1, np.nan]),
    "k": np.array([0.0, 1, 0, 1, 1]),
    "w": np.array([4.0, 5, 6, 7, 8]),
    "u": np.array([30.0, 40, 50, 60, 70]),
    "m": np.array([1.0, 3, np.nan, 5.5, 7]),
    "day": np.array([3.0, 150, 150, 399, 99]),
    "ward": np.arange(5.0),
    AGGREGATE.key: np.array([0.0, 2, 1, 3, 5]),
}


def mechanism_of_all() -> Mechanism:
    """Columns of every kind that a motif reads."""
    base, units = doubtful(LINKS["gaussian"]), gapped(LINKS["gaussian"])
    two = Categorical(levels=("p", "q"), shares=(0.5, 0.5))
    more = (
        units.column_by_name["ward"],
        units.column_by_name["g"].model_copy(update={"name": "k", "distribution": two}),
    )
    return base.model_copy(update={"columns": (*base.columns, *more)})


@pytest.mark.parametrize("kind", get_args(get_args(motifs.Motif)[0]), ids=lambda kind: kind.__name__)
def test_every_motif_has_features(kind: type):
    motif, width = MOTIFS[kind]
    made = motif_features(motif, mechanism_of_all(), CELLS)
    assert made.shape == (5, width)
    if width:
        gap = np.any([np.isnan(CELLS[name]) for name in columns_of(motif)] or [np.zeros(5)], axis=0)
        assert np.isnan(made).all(axis=1).tolist() == gap.tolist()
        assert np.ptp(made[~gap], axis=0).any(), "features tell rows apart"


@pytest.mark.parametrize(
    "other",
    [
        motifs.Lookup(column="g", effects=(-5, 0, 1)),
        motifs.CrossedLookup(left="g", right="k", effects=((0, 0), (9, 4), (5, 7))),
        motifs.VaryingSlope(column="m", by="g", slopes=(0, 2, -4)),
        motifs.Drift(column="day", starts=(100.5, 200.5), levels=(-1, 0, 4)),
        motifs.Periodic(column="m", period=3, phase=2.5),
    ],
    ids=lambda motif: motif.motif,
)
def test_features_say_nothing_of_effects(other: motifs.Motif):
    mine = motif_features(MOTIFS[type(other)][0], mechanism_of_all(), CELLS)
    np.testing.assert_array_equal(mine, motif_features(other, mechanism_of_all(), CELLS))
