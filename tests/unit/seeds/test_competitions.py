"""MLE-bench competition folders, with and without their data."""

from pathlib import Path

import polars as pl
import pytest

from sandmill.models.structure import MetricName, Modality, TargetKind
from sandmill.seeds import ingest
from sandmill.seeds.graders import metric_of
from sandmill.seeds.mlebench import FREE_TEXT, OTHER_FILES


def _with_data(written, folder, train, sample, test=None, **kwargs):
    written.competition(folder, **kwargs)
    for name, frame in {"train": train, "sample_submission": sample, "test": test}.items():
        if frame is not None:
            written.file(f"{folder}/prepared/public/{name}.csv", frame.write_csv())
    return folder


def _rows(**columns):
    return pl.DataFrame({"id": [f"r{n}" for n in range(60)], "x": [n % 7 for n in range(60)]} | columns)


def _intake(written, *folders):
    """Take folders in beside a card, so that a build could go on without them."""
    written.file("a-card.yaml", written.card_text)
    return ingest(("a-card.yaml", *folders))


def _waits(written, folder):
    (aside,) = _intake(written, folder).unsupported
    return aside.needs


def test_with_data_the_table_is_profiled_and_the_id_is_no_input(written):
    rows = _rows(late=[0, 1] * 30)
    folder = _with_data(written, "parcels", rows, rows.select("id", "late"), rows.drop("late").head(20))
    seed = ingest((folder,)).supported[0]
    assert seed.structure.columns.numeric == 1
    assert (seed.structure.rows_train, seed.structure.rows_test, seed.structure.positive_share) == (60, 20, 0.5)


SEVERAL = {
    "numbers": ("mean-column-wise-rmsle", (0.1, 0.9), [0.5, 1.5] * 30, [1.0, 2.0] * 30, TargetKind.MULTI_TARGET),
    "labels": ("column-wise-roc-auc", (0.9, 0.1), [0, 1] * 30, [1, 1, 0] * 20, TargetKind.MULTILABEL),
    "labels under a metric of one column": ("auc-roc", (0.9, 0.1), [0, 1] * 30, [1, 1, 0] * 20, "the kind of the 2"),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_cells_and_metric_together_tell_what_several_columns_are(written, name):
    grader, scores, a, b, expected = SEVERAL[name]
    rows = _rows(a=a, b=b)
    sample, test = rows.select("id", "a", "b"), rows.drop("a", "b").head(20)
    folder = _with_data(written, "several", rows, sample, test, grader=grader, scores=scores)
    intake = _intake(written, folder)
    if isinstance(expected, TargetKind):
        structure = next(seed for seed in intake.supported if seed.id == "several").structure
        assert (structure.target, structure.n_targets, structure.columns.numeric) == (expected, 2, 1)
        assert (structure.rows_train, structure.rows_test) == (60, 20)
    else:
        (aside,) = intake.unsupported
        assert any(need.startswith(expected) for need in aside.needs)


ONE = {
    "lists of labels": ("micro-f1-score", ["sql", "java sql", "java"] * 20, "the kind of the target"),
    "grades": ("quadratic-weighted-kappa", [1, 2, 3, 4] * 15, TargetKind.ORDINAL),
    "classes": ("macro-f1", ["a", "b", "c"] * 20, TargetKind.MULTICLASS),
    "counts": ("poisson-deviance", list(range(30)) * 2, TargetKind.COUNT),
    "a few whole numbers under a metric of numbers": ("r2", [1, 2, 3] * 20, TargetKind.REGRESSION),
}


@pytest.mark.parametrize("name", ONE)
def test_a_target_is_what_its_cells_and_the_metric_agree_on(written, name):
    grader, cells, expected = ONE[name]
    rows = _rows(late=cells)
    scores = (0.1, 0.9) if grader == "poisson-deviance" else (0.9, 0.1)
    folder = _with_data(
        written, "one", rows, rows.select("id", "late"), rows.drop("late"), grader=grader, scores=scores
    )
    intake = _intake(written, folder)
    if isinstance(expected, TargetKind):
        assert next(seed for seed in intake.supported if seed.id == "one").structure.target is expected
    else:
        assert intake.unsupported[0].needs[0].startswith(expected)


def test_a_link_in_the_text_decides_nothing(written):
    rows = _rows(late=[0, 1] * 30)
    folder = _with_data(written, "named", rows, rows.select("id", "late"), rows.drop("late"))
    written.file("named/description.md", "# T\n\n![a](media/a.png)\n\nText.\n\n- clip1.wav: a sound\n")
    (seed,) = (seed for seed in _intake(written, folder).supported if seed.id == "named")
    assert (seed.structure.modality, seed.summary) == (Modality.TABULAR, "Text.")


@pytest.mark.parametrize(("numbers", "expected"), [("xy", [FREE_TEXT]), ("stuvwxyz", [])])
def test_free_text_among_the_inputs_is_no_table(written, numbers, expected):
    note = [f"the boat number {n} of the harbour came home early" for n in range(60)]
    frame = _rows(note=note, late=[0, 1] * 30, **{name: [n % 7 / 2 for n in range(60)] for name in numbers})
    folder = _with_data(written, "texts", frame, frame.select("id", "late"), frame.drop("late"))
    assert [need for seed in _intake(written, folder).unsupported for need in seed.needs] == expected


@pytest.mark.parametrize(
    ("extra", "need"),
    [("structures.csv", OTHER_FILES), ("train/1.jpg", OTHER_FILES), ("notes.txt", ""), ("train.csv.zip", "")],
)
def test_a_table_with_other_data_beside_it_is_not_the_whole_task(written, extra, need):
    rows = _rows(late=[0, 1] * 30)
    folder = _with_data(written, "more", rows, rows.select("id", "late"), rows.drop("late"))
    written.file(f"{folder}/prepared/public/{extra}", "a,b\n1,2\n")
    assert [need for seed in _intake(written, folder).unsupported for need in seed.needs] == [need] * bool(need)


def test_the_sample_submission_is_the_one_that_the_configuration_names(written):
    rows = _rows(late=[0, 1] * 30)
    folder = _with_data(written, "sampled", rows, None, rows.drop("late"))
    written.file(f"{folder}/prepared/public/baseline.csv", rows.select("id", "late").write_csv())
    assert _waits(written, folder) == ("a sample submission in prepared/public",)
    config = Path(f"{folder}/config.yaml")
    config.write_text(f"{config.read_text()}dataset:\n  sample_submission: sampled/prepared/public/baseline.csv\n")
    assert ingest((folder,)).supported


def test_the_programmes_of_a_competition_are_never_run(written):
    folder = written.competition("parcels")
    for name in ("grade.py", "prepare.py"):
        written.file(f"{folder}/{name}", "import pathlib\npathlib.Path('ran').touch()\nraise SystemExit(9)\n")
    _waits(written, folder)
    assert not any(path.name == "ran" for path in written.file("here", "").parent.rglob("*"))


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("column-wise ROC AUC", MetricName.ROC_AUC_COLUMNS),
        ("multi-class-classification-accuracy", MetricName.ACCURACY),
        ("MAP@5", MetricName.MAP_AT_K),
        ("dice-hausdorff-combo", None),
    ],
)
def test_grader_names_are_read_however_they_are_spelled(name, metric):
    assert metric_of(name) is metric
