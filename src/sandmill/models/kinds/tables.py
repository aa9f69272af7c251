"""Kinds of task whose files are tables."""

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import Modality

TABLE = Kind(name="table", modality=Modality.TABULAR, medals="milestones")

TABLE_KEYS = Kind(
    name="table_keys",
    modality=Modality.TABULAR,
    layout="sandmill.layouts.mixed:LABELS_AND_TEST",
    id_column="key",
    ids="timestamp",
    medals="milestones",
)

KINDS = (TABLE, TABLE_KEYS)
