"""Kinds of task whose files are tables."""

from sandmill.models.kind import Kind
from sandmill.models.structure import Modality

TABLE = Kind(name="table", modality=Modality.TABULAR)

TABLE_KEYS = Kind(
    name="table_keys",
    modality=Modality.TABULAR,
    layout="sandmill.kinds.files.tables:LABELS_AND_TEST",
    id_column="key",
    ids="timestamp",
)

KINDS = (TABLE, TABLE_KEYS)
