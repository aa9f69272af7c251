"""A page with the section on rollouts in a browser: nothing is asked of a network, and no error is in the console."""

import pytest

from sandmill.publish.overlay import rollouts_section
from sandmill.publish.release_report import make_report
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.chromium import CHROMIUM, open_tab
from tests.publishing import publish_numbers
from tests.report_sections import play


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_all_sections_without_an_error(tmp_path):
    """Labels are hostile, and names of tasks lead to their pages."""
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(4))
    release = load(store.root)
    hostile = "</script><img src=x onerror=alert(1)>"
    base = play(tmp_path / "base", release, (0.0, 0.6))
    later = play(tmp_path / "later", release, (0.7, 0.9), model=hostile)
    extra = [rollouts_section(release, "private", [base, later])]
    (tmp_path / "report.html").write_bytes(make_report(release, "private", extra).files["report.html"])
    address, task_id = (tmp_path / "report.html").as_uri(), release.task_ids[0]
    with open_tab() as tab:
        tab.open(address)
        assert tab.run("document.querySelectorAll('#section-overlay figure').length") > 2
        assert tab.run("document.querySelectorAll('#section-overlay svg rect').length") > 10
        assert hostile in tab.run("document.querySelector('#section-overlay').textContent")
        assert tab.run("document.images.length") == 0
        tab.run(f"document.querySelector('#section-overlay a[href=\"#{task_id}\"]').click()")
        tab.run("new Promise((done) => setTimeout(done, 300))")
        assert task_id in tab.run("document.querySelector('#task').textContent")
        assert tab.problems == []
