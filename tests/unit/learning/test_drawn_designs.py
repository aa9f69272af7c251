"""Designs that are drawn to train on: tasks with an exact gap scale, the same for equal arguments."""

from benchmarks.learning.drawn_designs import draw_designs
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.release import open_task
from tests.task_folders import write_task

ROWS = 200


def _originals(folder):
    asked = ((TargetKind.BINARY, MetricName.ROC_AUC), (TargetKind.REGRESSION, MetricName.RMSE))
    return [open_task(write_task(folder, *pair)).private.task.calibration for pair in asked]


def test_drawn_designs_have_ends_of_their_own_rows_and_are_the_same_again(tmp_path):
    originals = _originals(tmp_path / "originals")
    drawn = draw_designs(3, originals, tmp_path / "first", test_rows=ROWS)
    assert len(drawn) == len(drawn.families) == 3
    for task in drawn.tasks():
        private = task.task.private
        found = private.task.calibration
        assert (found.oracle < found.trivial) is found.is_lower_better
        assert found.oracle not in {one.oracle for one in originals}
        assert len(private.answers.ids) == ROWS + ROWS // 2
        assert task.facts
    again = draw_designs(3, originals, tmp_path / "second", test_rows=ROWS)
    assert [(one.digest, one.facts) for one in again.tasks()] == [(one.digest, one.facts) for one in drawn.tasks()]
    kept = sorted(path.stat().st_mtime_ns for path in (tmp_path / "first").rglob("*.csv"))
    draw_designs(3, originals, tmp_path / "first", test_rows=ROWS)
    assert kept == sorted(path.stat().st_mtime_ns for path in (tmp_path / "first").rglob("*.csv"))


def test_without_a_task_of_the_same_direction_no_design_is_made(tmp_path):
    assert len(draw_designs(2, [], tmp_path, test_rows=ROWS)) == 0
