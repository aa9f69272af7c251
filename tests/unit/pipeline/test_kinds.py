"""A structure is one registration: a kind that is known only here goes all the way to a proved task."""

import pytest

from sandmill.calibrate.stage import Calibrated
from sandmill.check.gates import check_package
from sandmill.design.difficulty_curves import difficulty_curve
from sandmill.models import kind as registry
from sandmill.models.base import Band
from sandmill.models.kind import kind_named, register
from sandmill.models.plan import Attempt, Slot
from sandmill.models.seed import SeedTask
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind
from sandmill.pipeline.attempt import AttemptJob, prove, run_attempt
from sandmill.seeds.graders import missing_support
from tests.designs import SECRET
from tests.toy_kind import JOINED

JOINED_STRUCTURE = Structure(
    modality=Modality.TIME_SERIES, target=TargetKind.REGRESSION, metric=MetricName.RMSE, rows_train=1000
)


@pytest.fixture
def joined(monkeypatch):
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))
    register(JOINED)
    return JOINED


def attempt_at(structure, number=0):
    seed = SeedTask(
        id="seed", title="A seed", summary="A seed of a kind.", structure=structure, source="s", licence="l"
    )
    slot = Slot(number=number, seed=seed, band=Band.EASY)
    attempt = Attempt(slot=slot, round=0, number=0, variant=0, hardness=0.2, any_band=True)
    return run_attempt(AttemptJob(attempt, "plan", SECRET))


def task_of(structure):
    """The first of five tries that becomes a task. Single ones are refused."""
    tries = (attempt_at(structure, number).result for number in range(5))
    return next(made for made in tries if isinstance(made, Calibrated))


@pytest.mark.slow
def test_a_registered_kind_is_designed_calibrated_checked_and_proved(joined):
    assert missing_support(JOINED_STRUCTURE) == ()
    assert difficulty_curve(JOINED_STRUCTURE, Band.HARD) == (0.2, 0.3, 0.4, 0.5, 0.6)
    made = task_of(JOINED_STRUCTURE)
    header, first, *_ = made.package.public["train.csv"].decode().splitlines()
    assert header.split(",")[:2] == ["id", "record"]
    assert first.count("|") == len(made.package.spec.mechanism.columns) - 1
    assert TaskSpec.model_validate_json(made.package.spec.model_dump_json()) == made.package.spec
    assert prove(made, SECRET).result.holds
    ceiling, measured = made.calibration.ceiling, made.calibration
    assert ceiling.kind == "bracket"
    assert measured.oracle == ceiling.high < ceiling.low <= measured.board[0].final


@pytest.mark.slow
def test_melted_pairs_with_items_that_are_not_scored_go_all_the_way(joined):
    task = (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS)
    changed = {"tasks": {task: (0.2, 0.3, 0.4, 0.5, 0.6)}, "form": "pairs", "unscored": 0.25}
    register(joined.model_copy(update=changed))
    structure = Structure(modality=Modality.TIME_SERIES, target=task[0], metric=task[1], n_classes=5, rows_train=1000)
    made = task_of(structure)
    facts, sizes = made.package.facts, made.package.spec.sizes
    items = round(1.25 * (sizes.feedback + sizes.final))
    assert made.package.public["sample_submission.csv"].count(b"\n") == 1 + items * len(facts.classes)
    assert made.package.public["test.csv"].count(b"\n") == 1 + items
    assert check_package(made.package) == []
    assert prove(made, SECRET).result.holds


def test_a_kind_that_is_not_registered_is_not_supported():
    assert missing_support(JOINED_STRUCTURE) == ("modality time_series with this target and metric",)
    with pytest.raises(ValueError, match=r"unknown kind of task .joined.; known are .*table"):
        kind_named("joined")
