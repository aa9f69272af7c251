"""The prepared public data of a competition: the sample submission names the target, the training table is profiled."""

from pathlib import Path
from types import MappingProxyType

from sandmill.metrics.support import GRADED
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind
from sandmill.seeds.findings import Finding
from sandmill.seeds.tables import Table, open_table
from sandmill.seeds.tabular import Profiled, Wish, profile_table

_KIND_BY_METRIC = MappingProxyType(
    {
        MetricName.ROC_AUC: TargetKind.BINARY,
        MetricName.RMSE: TargetKind.REGRESSION,
        MetricName.RMSLE: TargetKind.REGRESSION,
        MetricName.MAE: TargetKind.REGRESSION,
        MetricName.R2: TargetKind.REGRESSION,
        MetricName.QWK: TargetKind.ORDINAL,
    }
)
"""Target kinds that a metric settles, whatever the column looks like."""


def profile_public(public: Path, file: str, metric: MetricName) -> Profiled | None:
    """Profile train.csv as a folder source would, with the target that sample_submission.csv asks for.

    A sample with several answer columns, all of them in train.csv, is a task with several targets. One whose answer
    columns are no columns of train.csv (one for each class) has the target that test.csv lacks.

    Returns:
        None if there is no training table or its target cannot be told.

    Raises:
        Unsound: if a table is broken or its target does not fit the metric.
    """
    if not ((public / "train.csv").is_file() and (public / "sample_submission.csv").is_file()):
        return None
    train = open_table(public / "train.csv", f"{file}/train.csv")
    sample = open_table(public / "sample_submission.csv", f"{file}/sample_submission.csv")
    has_test = (public / "test.csv").is_file()
    test = open_table(public / "test.csv", f"{file}/test.csv") if has_test else None
    answers = sample.columns[1:]
    if len(answers) > 1 and set(answers) <= set(train.columns):
        return Profiled(_several_targets(metric, len(answers)), ())
    target = _target(train, test, answers)
    if target is None:
        return None
    known = set(test.columns) if test else set(train.columns)
    left_out = (sample.columns[0], *(name for name in train.columns if name not in known))
    wish = Wish(target, _KIND_BY_METRIC.get(metric), metric, left_out)
    profiled = profile_table(train, wish, Finding(train.file, "", "", line=1, field=target))
    rows_test = _count(test) if test else None
    return Profiled(profiled.structure.model_copy(update={"rows_test": rows_test}), profiled.columns)


def _target(train: Table, test: Table | None, answers: tuple[str, ...]) -> str | None:
    if len(answers) == 1 and answers[0] in train.columns:
        return answers[0]
    lacking = [name for name in train.columns if test and name not in test.columns]
    return lacking[0] if len(lacking) == 1 and len(answers) > 1 else None


def _several_targets(metric: MetricName, count: int) -> Structure:
    is_number = (TargetKind.MULTI_TARGET, metric) in GRADED or (TargetKind.REGRESSION, metric) in GRADED
    kind = TargetKind.MULTI_TARGET if is_number else TargetKind.MULTILABEL
    return Structure(modality=Modality.TABULAR, target=kind, metric=metric, n_targets=count)


def _count(table: Table) -> int:
    import polars as pl

    return int(table.scan().select(pl.len()).collect(engine="streaming").item())
