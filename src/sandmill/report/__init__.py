"""What people read: the ending table of a build, the funnel, and the card of a release."""

from sandmill.report.card import dataset_card
from sandmill.report.digest import ReleaseDigest
from sandmill.report.funnel import FunnelCounts, RejectionRow
from sandmill.report.text_tables import (
    TextTable,
    ending_table,
    funnel_table,
    rejections_table,
    set_aside_table,
    to_markdown,
    to_text,
)
from sandmill.report.work import MixCounts

__all__ = [
    "FunnelCounts",
    "MixCounts",
    "RejectionRow",
    "ReleaseDigest",
    "TextTable",
    "dataset_card",
    "ending_table",
    "funnel_table",
    "rejections_table",
    "set_aside_table",
    "to_markdown",
    "to_text",
]
