"""Kinds of task whose files are tables."""

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import Modality

TABLE = Kind(name="table", modality=Modality.TABULAR, medals="milestones")

KINDS = (TABLE,)
