"""Real designs and renderings for tests, made by the grammar under a fixed secret."""

from functools import cache

from sandmill.design import design_task
from sandmill.draw import Rendered, render
from sandmill.models.base import Band
from sandmill.models.channel import Medium
from sandmill.models.columns import Categorical, Column
from sandmill.models.plan import Slot
from sandmill.models.seed import SeedIntake, SeedTask
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import ColumnMix, MetricName, Modality, PathologyKind, SplitKind, Structure, TargetKind
from sandmill.rng import Streams
from sandmill.seeds import ingest

SECRET = bytes(range(32))

TASKS = (
    (TargetKind.BINARY, MetricName.ROC_AUC),
    (TargetKind.BINARY, MetricName.LOG_LOSS),
    (TargetKind.BINARY, MetricName.ACCURACY),
    (TargetKind.MULTICLASS, MetricName.ACCURACY),
    (TargetKind.MULTICLASS, MetricName.LOG_LOSS),
    (TargetKind.ORDINAL, MetricName.QWK),
    (TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS),
    (TargetKind.MULTILABEL, MetricName.F1_MICRO),
    (TargetKind.REGRESSION, MetricName.RMSE),
    (TargetKind.REGRESSION, MetricName.RMSLE),
    (TargetKind.COUNT, MetricName.POISSON_DEVIANCE),
    (TargetKind.MULTI_TARGET, MetricName.MAE_COLUMNS),
)
"""A task of every target kind, with the metrics that differ most."""


@cache
def bundled_seeds() -> SeedIntake:
    return ingest(())


def make_seed(
    target: TargetKind,
    metric: MetricName,
    missing_share: float = 0.05,
    split: SplitKind | None = None,
    pathologies: tuple[PathologyKind, ...] = (),
) -> SeedTask:
    structure = Structure(
        modality=Modality.TABULAR,
        target=target,
        metric=metric,
        n_classes=7 if target is TargetKind.MULTICLASS else None,
        n_targets=3 if target is TargetKind.MULTI_TARGET else 1,
        missing_share=missing_share,
        split=split,
        pathologies=pathologies,
        columns=ColumnMix(numeric=8, categorical=3),
    )
    return SeedTask(
        id=f"{target}-{metric}".replace("_", "-"), title="t", summary="s", structure=structure, source="s", licence="l"
    )


@cache
def make_spec(
    target: TargetKind = TargetKind.BINARY,
    metric: MetricName = MetricName.ROC_AUC,
    slot: int = 0,
    hardness: float = 0.4,
    band: Band = Band.HARD,
    secret: bytes = SECRET,
    split: SplitKind = SplitKind.RANDOM,
    pathologies: tuple[PathologyKind, ...] = (),
) -> TaskSpec:
    streams = Streams(secret, "plan").child(f"slot {slot}")
    seed = make_seed(target, metric, split=split, pathologies=pathologies)
    return design_task(Slot(number=slot, seed=seed, band=band), streams, hardness)


def with_small_test(spec: TaskSpec, feedback: int = 100, final: int = 100) -> TaskSpec:
    """The same design with few test rows."""
    return spec.model_copy(update={"sizes": spec.sizes.model_copy(update={"feedback": feedback, "final": final})})


@cache
def make_rendered(
    target: TargetKind = TargetKind.BINARY,
    metric: MetricName = MetricName.ROC_AUC,
    slot: int = 0,
    split: SplitKind = SplitKind.RANDOM,
    pathologies: tuple[PathologyKind, ...] = (),
) -> Rendered:
    return render(make_spec(target, metric, slot, split=split, pathologies=pathologies), SECRET)


@cache
def make_image_spec(slot: int = 0, hardness: float = 0.2) -> TaskSpec:
    """A design whose items are pictures in archives, with two classes."""
    seed = make_seed(TargetKind.BINARY, MetricName.LOG_LOSS, missing_share=0.0)
    changed = {"modality": Modality.IMAGE, "columns": ColumnMix()}
    seed = seed.model_copy(update={"structure": seed.structure.model_copy(update=changed)})
    streams = Streams(SECRET, "plan").child(f"slot {slot}")
    return design_task(Slot(number=slot, seed=seed, band=Band.HARD), streams, hardness)


def columns_of(medium: Medium) -> list[Column]:
    """Every number and every category that items of a medium can show, as columns."""
    columns = [
        Column(name=word.name, distribution=word.distribution, decimals=word.decimals) for word in medium.domain.numeric
    ]
    for word in medium.domain.categorical:
        shares = (1 / len(word.levels),) * len(word.levels)
        columns.append(Column(name=word.name, distribution=Categorical(levels=word.levels, shares=shares)))
    return columns
