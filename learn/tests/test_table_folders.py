"""Folders of other people's tables: all mistakes at once, measures made once, and tasks that can be graded."""

import json
import shutil

import pytest

from learn.tests.tables import write_csv, write_table
from sandmill.errors import InputError
from sandmill.models.base import Part
from sandmill.models.reports import Outcome
from sandmill_learn.task_sets import from_folder
from tests.unit.play.runner import result_of

PANEL = ("prior", "stump", "linear", "random_forest")


@pytest.fixture
def panel(monkeypatch):
    """A panel of four solvers, for speed; the number of its runs."""
    from sandmill.calibrate.panel import run_panel

    runs = []

    def run(public, facts):
        runs.append(public)
        return run_panel(public, facts, PANEL)

    monkeypatch.setattr("sandmill_learn.table_folders.run_panel", run)
    monkeypatch.setattr(
        "sandmill_learn.table_folders.require_enough", lambda runs: [run for run in runs if run.has_run]
    )
    return runs


def read_answers(task):
    lines = (task / "private/answers.csv").read_text().splitlines()
    return [line.split(",") for line in lines]


def test_a_table_is_measured_once_and_graded_like_any_task(tmp_path, panel):
    task = write_table(tmp_path / "tables")
    progress = []
    found = from_folder(
        tmp_path / "tables", cache=tmp_path / "cache", on_progress=lambda *numbers: progress.append(numbers)
    )
    (one,) = found.tasks()
    assert (one.id, one.family, one.source, progress) == ("beans.d0", "beans", "tables", [(1, 1)])
    file, answers = one.task.private
    measured = file.calibration
    assert measured.trivial == 0.5
    # The upper end is the entry that is best by feedback.
    best = max(measured.board, key=lambda entry: entry.feedback)
    assert (measured.oracle, measured.reference) == (best.final, best.solver)
    assert {entry.solver for entry in measured.board} == {*PANEL}
    assert measured.thresholds.gold == measured.board[0].final
    share = answers.part(Part.FEEDBACK).mean()
    assert 0.2 < share < 0.5
    header, *rows = read_answers(task)
    perfect = "\n".join([",".join(header), *(",".join(row) for row in rows)]).encode()
    assert one.task.grade(result_of(submission=perfect)).score == 1
    sample = (task / "public/sample_submission.csv").read_bytes()
    graded = one.task.grade(result_of(submission=sample))
    assert (graded.outcome, graded.gap_closed, graded.medal) == (Outcome.OK, 0, None)
    assert "predict the probability that `ripe` is 1" in one.task.prompt()
    again = from_folder(tmp_path / "tables", cache=tmp_path / "cache")
    assert again.tasks()[0].task.private.task == file
    assert len(panel) == 1
    # Another answer is another task.
    rows[0][1] = str(1 - int(rows[0][1]))
    write_csv(task / "private/answers.csv", header, rows)
    assert from_folder(tmp_path / "tables", cache=tmp_path / "cache").tasks()[0].digest != one.digest
    assert len(panel) == 2


def test_parts_and_families_may_be_given(tmp_path, panel):
    task = write_table(tmp_path / "tables", family="pulses")
    header, *rows = read_answers(task)
    parts = [[*row, "final" if place % 2 else "feedback"] for place, row in enumerate(rows)]
    write_csv(task / "private/answers.csv", [*header, "part"], reversed(parts))
    (one,) = from_folder(tmp_path / "tables", cache=tmp_path / "cache").tasks()
    assert one.family == "pulses"
    assert one.task.private.answers.is_final.tolist() == [bool(place % 2) for place in range(len(rows))]
    assert list(one.task.private.answers.ids) == [row[0] for row in rows]


def test_all_mistakes_of_all_tasks_are_reported_at_once_and_nothing_is_measured(tmp_path, panel):
    folder = tmp_path / "tables"
    write_table(folder, "right.d0")
    write_table(folder, "metric", metric="roc")
    write_table(folder, "pair", metric="rmse")
    write_table(folder, "field", famly="x")
    shutil.rmtree(write_table(folder, "private") / "private")
    (write_table(folder, "json") / "task.json").write_text("{")
    write_csv(write_table(folder, "ids") / "private/answers.csv", ["id", "ripe"], [["r1", 0]])
    write_csv(write_table(folder, "header") / "public/sample_submission.csv", ["id", "rip"], [["r60", 0.5]])
    (write_table(folder, "ragged") / "public/test.csv").write_text("id,length\na,1\nb\n")
    binary = write_table(folder, "classes")
    (binary / "public/train.csv").write_text((binary / "public/train.csv").read_text().replace(",0\n", ",no\n"))
    part = write_table(folder, "part")
    header, *rows = read_answers(part)
    write_csv(part / "private/answers.csv", [*header, "part"], [[*row, "public"] for row in rows])
    with pytest.raises(InputError) as error:
        from_folder(folder, cache=tmp_path / "cache")
    text = str(error.value)
    for expected in (
        "metric/task.json, metric: saw 'roc'; expected one of 'roc_auc'",
        "pair/task.json, metric: saw rmse; expected one of roc_auc, log_loss",
        "field/task.json, famly: saw 'x'; expected one of the fields kind, metric, family, classes",
        "private/private/answers.csv: saw no such file",
        "json/task.json: saw text that is not JSON",
        "ids/private/answers.csv, id: saw 1 ids",
        "header/public/sample_submission.csv, header: saw id and rip; expected the id and ripe",
        "ragged/public/test.csv, line 3: saw 1 rows with another number of cells",
        "classes/public/train.csv, ripe: saw",
        "part/private/answers.csv, part: saw public; expected feedback or final",
    ):
        assert expected in text
    assert "right.d0" not in text


def test_a_folder_without_tasks_is_an_error(tmp_path):
    for folder in (tmp_path / "nothing", tmp_path):
        with pytest.raises(InputError, match=r"no such file|no task"):
            from_folder(folder, cache=tmp_path / "cache")


def test_a_table_without_signal_is_a_problem_or_is_left_out(tmp_path, panel, caplog):
    task = write_table(tmp_path / "tables", "noise.d0")
    write_table(tmp_path / "tables", "beans.d0")
    header, *rows = read_answers(task)
    write_csv(task / "private/answers.csv", header, [[row[0], place % 2] for place, row in enumerate(rows)])
    with pytest.raises(InputError, match=r"noise.d0/signal: saw (.|\n)*the trivial solver 0.5"):
        from_folder(tmp_path / "tables", cache=tmp_path / "cache")
    found = from_folder(tmp_path / "tables", cache=tmp_path / "cache", leave_out_unfit=True)
    assert found.ids == ("beans.d0",)
    assert "noise.d0 is left out" in caplog.text
    assert len(panel) == 2


@pytest.mark.parametrize(
    ("asked", "target", "sample", "form"),
    [
        ({"kind": "multiclass", "metric": "accuracy"}, ["a", "b c", "10"], ["a"], "label"),
        ({"kind": "multiclass", "metric": "log_loss"}, ["a", "b", "10"], None, "class_probabilities"),
        ({"kind": "ordinal", "metric": "qwk"}, ["2", "10", "1"], ["1"], "label"),
        ({"kind": "regression", "metric": "mae"}, ["1.5", "-2", "3e2"], ["0"], "value"),
        ({"kind": "count", "metric": "rmsle"}, ["0", "2", "7"], ["0"], "value"),
    ],
)
def test_the_form_of_answers_follows_from_kind_and_metric(tmp_path, asked, target, sample, form):
    from sandmill_learn.table_facts import read_table_task

    task = write_table(tmp_path, "other")
    (task / "task.json").write_text(json.dumps(asked))
    train = [line.split(",") for line in (task / "public/train.csv").read_text().splitlines()]
    rows = [[*row[:-1], target[place % 3]] for place, row in enumerate(train[1:])]
    write_csv(task / "public/train.csv", train[0], rows)
    ids = [row[0] for row in read_answers(task)[1:]]
    write_csv(task / "private/answers.csv", ["id", "ripe"], [[row, target[place % 3]] for place, row in enumerate(ids)])
    header = ["ripe"] if sample else ["10", "a", "b"]
    write_csv(task / "public/sample_submission.csv", ["id", *header], [[row, *(sample or "001")] for row in ids])
    facts = read_table_task(task).facts
    assert facts.encoding == form
    expected = {"ordinal": ("1", "2", "10"), "multiclass": ("10", *sorted(target[:2]))}.get(asked["kind"], ())
    assert facts.classes == expected
    assert facts.submission_columns == tuple(header)
