"""What people read: the ending table of a build, the funnel, and the card of a release."""

from sandmill.report.card import dataset_card
from sandmill.report.funnel import RejectionRow, count_rejections, funnel
from sandmill.report.mix import explain_missed_mix
from sandmill.report.text import to_markdown, to_rich
from sandmill.report.text_tables import TextTable, ending_table, funnel_table, rejections_table

__all__ = [
    "RejectionRow",
    "TextTable",
    "count_rejections",
    "dataset_card",
    "ending_table",
    "explain_missed_mix",
    "funnel",
    "funnel_table",
    "rejections_table",
    "to_markdown",
    "to_rich",
]
