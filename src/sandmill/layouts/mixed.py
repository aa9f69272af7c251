"""Layouts of tables under other names, and of tables with other files beside them."""

from sandmill.layouts.tables import Tables

LABELS_AND_TEST = Tables(train="labels.csv")
