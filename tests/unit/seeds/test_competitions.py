"""MLE-bench competition folders, with and without their data."""

import polars as pl
import pytest

from sandmill.errors import SeedError
from sandmill.models.structure import MetricName, TargetKind
from sandmill.seeds import ingest
from sandmill.seeds.graders import GRADERS, LOWER_IS_BETTER, metric_of


def _with_data(written, folder, train, sample, test=None, **kwargs):
    written.competition(folder, **kwargs)
    for name, frame in {"train": train, "sample_submission": sample, "test": test}.items():
        if frame is not None:
            written.file(f"{folder}/prepared/public/{name}.csv", frame.write_csv())
    return folder


def _rows(**columns):
    return pl.DataFrame({"id": [f"r{n}" for n in range(60)], "x": [n % 7 for n in range(60)]} | columns)


def _waits(written, folder):
    written.file("a-card.yaml", written.card_text)
    return ingest(("a-card.yaml", folder)).unsupported[0].needs


@pytest.mark.parametrize(
    ("grader", "scores", "target", "metric"),
    [
        ("auc-roc", (0.9, 0.5), TargetKind.BINARY, MetricName.ROC_AUC),
        ("root-mean-squared-error", (2.8, 9.1), TargetKind.REGRESSION, MetricName.RMSE),
    ],
)
def test_without_data_the_metric_names_the_target(written, grader, scores, target, metric):
    seed = ingest((written.competition("parcels", grader, scores),)).supported[0]
    assert (seed.structure.target, seed.structure.metric, seed.origin) == (target, metric, "mlebench")
    assert (seed.title, seed.summary) == ("Late Parcels", "Tell which parcels arrive late, see the rules.")
    assert seed.licence == "competition rules"


def test_a_metric_that_does_not_name_the_target_waits_for_data(written):
    assert _waits(written, written.competition("parcels", "accuracy")) == ("data to profile",)


def test_with_data_the_table_is_profiled_and_the_id_is_no_input(written):
    rows = _rows(late=[0, 1] * 30)
    folder = _with_data(written, "parcels", rows, rows.select("id", "late"), rows.drop("late").head(20))
    seed = ingest((folder,)).supported[0]
    assert [column.name for column in seed.profile] == ["x"]
    assert (seed.structure.rows_train, seed.structure.rows_test, seed.structure.positive_share) == (60, 20, 0.5)


def test_a_column_for_each_class_in_the_sample_means_the_column_that_test_lacks(written):
    rows = _rows(species=["a", "b", "c"] * 20)
    sample = pl.DataFrame({"id": ["r1"], "a": [0.3], "b": [0.3], "c": [0.4]})
    folder = _with_data(
        written, "leaves", rows, sample, rows.drop("species"), grader="multi-class-log-loss", scores=(0.1, 2.0)
    )
    structure = ingest((folder,)).supported[0].structure
    assert (structure.target, structure.metric, structure.n_classes) == (
        TargetKind.MULTICLASS,
        MetricName.LOG_LOSS,
        3,
    )


def test_several_targets_are_one_seed(written):
    rows = _rows(a=[0.5, 1.5] * 30, b=[1.0, 2.0] * 30)
    folder = _with_data(
        written, "crystals", rows, rows.select("id", "a", "b"), grader="mean-column-wise-rmsle", scores=(0.05, 0.4)
    )
    (seed,) = ingest((folder,)).supported
    assert (seed.structure.target, seed.structure.n_targets) == (TargetKind.MULTI_TARGET, 2)


def test_images_beside_the_tables_or_named_in_the_text_wait(written):
    written.competition("beside")
    written.file("beside/prepared/public/train/1.jpg", b"")
    assert _waits(written, "beside") == ("modality image",)
    written.competition("named")
    written.file("named/description.md", "# T\n\nText.\n\n- clip1.wav: a sound\n- clip2.wav\n")
    assert _waits(written, "named") == ("modality audio",)


def test_the_programmes_of_a_competition_are_never_run(written):
    folder = written.competition("parcels")
    for name in ("grade.py", "prepare.py"):
        written.file(f"{folder}/{name}", "import pathlib\npathlib.Path('ran').touch()\nraise SystemExit(9)\n")
    assert ingest((folder,)).supported
    assert not any(path.name == "ran" for path in written.file("here", "").parent.rglob("*"))


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("column-wise ROC AUC", MetricName.ROC_AUC_COLUMNS),
        ("multi-class-classification-accuracy", MetricName.ACCURACY),
        ("Root Mean Squared Error", MetricName.RMSE),
        ("quadratic_weighted_kappa", MetricName.QWK),
        ("MAP@5", MetricName.MAP_AT_K),
        ("dice-hausdorff-combo", None),
    ],
)
def test_grader_names_are_read_however_they_are_spelled(name, metric):
    assert metric_of(name) is metric


def test_every_metric_can_be_named_by_itself():
    assert {GRADERS[name.replace("_", "-")] for name in MetricName} == set(MetricName)


def test_directions_agree_with_the_metrics_that_can_be_graded():
    from sandmill.metrics import SUPPORTED, get_metric

    assert {name for name in SUPPORTED if get_metric(name).is_lower_better} == LOWER_IS_BETTER & SUPPORTED


def test_a_leaderboard_that_runs_the_wrong_way_is_an_error_and_a_flat_one_is_not(written):
    with pytest.raises(SeedError, match="lower is better"):
        ingest((written.competition("wrong", "rmse", (9.0, 1.0)),))
    assert ingest((written.competition("flat", "rmse", (1.0, 1.0)),)).supported
