"""The section on rollouts, word for word. Write it anew with SANDMILL_WRITE_GOLDEN=1."""

import os
from pathlib import Path

from sandmill.report.overlay import overlay_section
from sandmill.report.queries import open_queries
from tests.overlay_rows import LABELS, SMALL, views_of

PATH = Path(__file__).parent / "report" / "overlay.html"


def test_the_section_on_rollouts_reads_as_it_did():
    with open_queries(views_of(SMALL)) as queries:
        section = overlay_section(queries, "private", LABELS, {}, same_rewards=True)
    text = section.html.replace("><", ">\n<") + "\n"
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        PATH.write_text(text)
    assert text == PATH.read_text()
