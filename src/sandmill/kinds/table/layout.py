"""Layout of tables whose training file has another name."""

from sandmill.kinds.files.tables import Tables

LABELS_AND_TEST = Tables(train="labels.csv")
