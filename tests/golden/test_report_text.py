"""Rendered texts, word for word. After a wanted change run this file with SANDMILL_WRITE_GOLDEN=1."""

import os
from pathlib import Path

import pytest

from sandmill.models.base import Stage
from sandmill.models.reports import Funnel, SlotReport
from sandmill.report.card import dataset_card
from sandmill.report.funnel import RejectionRow
from sandmill.report.text_tables import ending_table, funnel_table, set_aside_table, to_markdown, to_text
from tests.report_records import RECORDS, make_counts, make_manifest

FOLDER = Path(__file__).parent / "report"
FUNNEL = Funnel(slots=4, designed=9, rendered=8, calibrated=7, checked=5, verified=4, filled=4, tasks=4, in_band=3)
REASONS = (RejectionRow(Stage.CALIBRATE, "off_band", 2), RejectionRow(Stage.CHECK, "twins", 1))
ENDING = ending_table(RECORDS)


TEXTS = {
    "card.md": lambda: dataset_card(make_manifest(), make_counts(RECORDS)),
    "ending.md": lambda: to_markdown(ENDING) + "\n",
    "ending.txt": lambda: to_text(ENDING, 80) + "\n",
    "funnel.md": lambda: to_markdown(funnel_table(FUNNEL)) + "\n",
    "rejections.md": lambda: to_markdown(set_aside_table(REASONS)) + "\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_report_reads_as_it_did(name):
    text, path = TEXTS[name](), FOLDER / name
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
