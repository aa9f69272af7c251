"""Structure of a seed: the properties that designs keep when they move a task into another domain."""

from enum import StrEnum
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from sandmill.models.base import Frozen
from sandmill.models.profile import TableProfile


class Modality(StrEnum):
    """What an example is made of."""

    TABULAR = "tabular"
    IMAGE = "image"
    TEXT = "text"
    AUDIO = "audio"
    TIME_SERIES = "time_series"
    GRAPH = "graph"
    MIXED = "mixed"


class TargetKind(StrEnum):
    """What is predicted for an example."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    MULTILABEL = "multilabel"
    ORDINAL = "ordinal"
    REGRESSION = "regression"
    COUNT = "count"
    MULTI_TARGET = "multi_target"
    DISTRIBUTION = "distribution"
    SEQUENCE = "sequence"
    MASK = "mask"
    RANKING = "ranking"


class MetricName(StrEnum):
    """Metric families of the field, by their usual name. `sandmill.scoring` says which of them can be graded."""

    ROC_AUC = "roc_auc"
    ROC_AUC_COLUMNS = "roc_auc_columns"
    ROC_AUC_PAIRS = "roc_auc_pairs"
    ROC_AUC_TPR_WEIGHTED = "roc_auc_tpr_weighted"
    AVERAGE_PRECISION = "average_precision"
    GINI = "gini"
    ACCURACY = "accuracy"
    ACCURACY_TEXT = "accuracy_text"
    BALANCED_ACCURACY = "balanced_accuracy"
    TOP1_ERROR = "top1_error"
    LOG_LOSS = "log_loss"
    LOG_LOSS_COLUMNS = "log_loss_columns"
    LOG_LOSS_WEIGHTED = "log_loss_weighted"
    BRIER = "brier"
    KL_DIVERGENCE = "kl_divergence"
    LWLRAP = "lwlrap"
    F1 = "f1"
    F1_MACRO = "f1_macro"
    F1_MICRO = "f1_micro"
    F1_SAMPLES = "f1_samples"
    F1_PROBABILISTIC = "f1_probabilistic"
    MCC = "mcc"
    QWK = "qwk"
    COHEN_KAPPA = "cohen_kappa"
    HAMMING_LOSS = "hamming_loss"
    EXACT_MATCH = "exact_match"
    RMSE = "rmse"
    RMSE_COLUMNS = "rmse_columns"
    RMSLE = "rmsle"
    RMSLE_COLUMNS = "rmsle_columns"
    MAE = "mae"
    MAE_COLUMNS = "mae_columns"
    MEDAE = "medae"
    LOG_MAE_BY_GROUP = "log_mae_by_group"
    MAPE = "mape"
    SMAPE = "smape"
    R2 = "r2"
    PEARSON = "pearson"
    SPEARMAN = "spearman"
    SPEARMAN_COLUMNS = "spearman_columns"
    POISSON_DEVIANCE = "poisson_deviance"
    PINBALL = "pinball"
    MAP_AT_K = "map_at_k"
    DICE = "dice"
    IOU_THRESHOLDS = "iou_thresholds"


class SplitKind(StrEnum):
    """How train and test were told apart."""

    RANDOM = "random"
    STRATIFIED = "stratified"
    GROUPED = "grouped"
    TEMPORAL = "temporal"


class PathologyKind(StrEnum):
    """Faults and complications of real tables."""

    MISSING = "missing"
    LABEL_NOISE = "label_noise"
    DISTRACTORS = "distractors"
    OUTLIERS = "outliers"
    UNIT_MIXUP = "unit_mixup"
    IMBALANCE = "imbalance"
    DRIFT = "drift"
    GROUPS = "groups"
    HIGH_CARDINALITY = "high_cardinality"
    DUPLICATES = "duplicates"
    MIXED_TYPES = "mixed_types"
    TIMESTAMPS = "timestamps"


MOST_ROWS, MOST_COLUMNS = 10**12, 10**6
"""Largest numbers that a seed may state. They are far above any real task, and sums of them are exact in 64 bits."""


class ColumnMix(Frozen):
    """Number of input columns of each kind, without targets and ids."""

    numeric: int = Field(default=0, ge=0, le=MOST_COLUMNS)
    categorical: int = Field(default=0, ge=0, le=MOST_COLUMNS)
    date: int = Field(default=0, ge=0, le=MOST_COLUMNS)
    text: int = Field(default=0, ge=0, le=MOST_COLUMNS)


class Structure(Frozen):
    """Modality, target, metric, split and pathologies of a task, without its domain."""

    modality: Modality
    target: TargetKind
    metric: MetricName
    n_classes: int | None = Field(default=None, ge=2, le=MOST_COLUMNS)
    """Number of classes in the seed. A micro task has at most a quarter as many classes as training rows."""
    n_targets: int = Field(default=1, ge=1, le=MOST_COLUMNS)
    split: SplitKind | None = None
    """How the seed splits rows into train and test. None if the seed does not declare a split; designs then choose."""
    kind: str | None = None
    """Name of the kind of task, see `sandmill.kinds`. None: the first kind that can ask what the seed asks."""
    columns: ColumnMix = ColumnMix()
    missing_share: float = Field(default=0.0, ge=0, lt=1)
    """Share of empty cells over all input columns."""
    positive_share: float | None = Field(default=None, gt=0, lt=1)
    """Share of the positive class, for binary targets."""
    pathologies: tuple[PathologyKind, ...] = ()
    rows_train: int | None = Field(default=None, ge=1, le=MOST_ROWS)
    """Training rows of the seed, not of the tasks made from it."""
    rows_test: int | None = Field(default=None, ge=1, le=MOST_ROWS)
    profile: TableProfile | None = None
    """Measurements of the seed's table. None: there is no table, as for cards."""

    @model_serializer(mode="wrap")
    def _without_no_profile(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a profile that is not there, so that structures without one are written as ever."""
        written: dict[str, Any] = write(self)
        if self.profile is None:
            written.pop("profile", None)
        return written

    @model_validator(mode="after")
    def _classes_fit_the_target(self) -> "Structure":
        if self.target is TargetKind.MULTICLASS and (self.n_classes is None or self.n_classes < 3):
            raise ValueError("a multiclass target needs n_classes of 3 or more")
        if self.target is TargetKind.BINARY and self.n_classes not in (None, 2):
            raise ValueError("a binary target has 2 classes; omit n_classes or set it to 2")
        return self
