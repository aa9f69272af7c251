"""Tasks of scikit-learn's generators: equal files for equal seeds, and kinds that take turns."""

from sandmill.learning.control_sources import from_make_classification


def files_of(folder):
    tables = [path for path in folder.rglob("*") if path.suffix == ".csv" or path.name == "task.json"]
    return {path.relative_to(folder): path.read_bytes() for path in tables}


def test_equal_seeds_give_equal_tasks_and_other_seeds_others(tmp_path, monkeypatch):
    from sandmill.calibrate.panel import run_panel

    panel = ("prior", "linear", "random_forest")
    monkeypatch.setattr(
        "sandmill.learning.table_measures.run_panel", lambda public, facts: run_panel(public, facts, panel)
    )
    monkeypatch.setattr("sandmill.learning.table_measures.require_enough", lambda runs: runs)
    drawn = {"train_rows": 100, "test_rows": 300}
    first = from_make_classification(3, 7, tmp_path / "a", **drawn)
    assert [task.facts[:3] for task in first.tasks()] == [
        ("target=binary", "form=probability", "metric=roc_auc"),
        ("target=multiclass", "form=label", "metric=accuracy"),
        ("target=regression", "form=value", "metric=rmse"),
    ]
    assert {task.source for task in first.tasks()} == {"make_classification"}
    assert {len(task.task.private.answers.ids) for task in first.tasks()} == {300}
    again = from_make_classification(3, 7, tmp_path / "b", **drawn)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert [task.digest for task in again.tasks()] == [task.digest for task in first.tasks()]
    other = from_make_classification(3, 8, tmp_path / "a", **drawn)
    assert not {task.digest for task in other.tasks()} & {task.digest for task in first.tasks()}
