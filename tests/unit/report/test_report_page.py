"""The page of a report in a browser. Pictures lie in the test's folder, to be looked at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.publish.release_report import PAGE, make_report
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.chromium import CHROMIUM, Tab, open_tab
from tests.publishing import publish_numbers

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]

ENTER, ESCAPE, DOWN, SLASH, TAB = 13, 27, 40, 191, 9


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with open_tab() as opened:
        yield opened


@pytest.fixture(scope="module", params=["public", "private"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    store = Store(f"{folder}/micro")
    publish_numbers(store, range(4), range(4, 6))
    path = folder / PAGE
    path.write_bytes(make_report(load(store.root), request.param).files[PAGE])
    return path


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("light", {"width": 1200, "height": 1600}),
        ("dark", {"width": 1200, "height": 1600, "is_dark": True}),
        ("phone", {"width": 390, "height": 1400, "is_phone": True}),
    ],
)
def test_the_page_and_each_task_show_without_problems(tab, page, tmp_path, name, size):
    tab.resize(**size)
    tab.open(page.as_uri())
    tab.shoot(tmp_path / f"{name}.png")
    for number in range(6):
        tab.run(f"location.hash = report.link(report.tasks[{number}].id), new Promise((done) => setTimeout(done, 100))")
        assert tab.run("document.querySelector('#task h2').textContent").startswith("Late parcels")
        assert tab.run("document.documentElement.scrollWidth <= window.innerWidth")
    tab.shoot(tmp_path / f"{name}-task.png")
    tab.run("report.back(), new Promise((done) => setTimeout(done, 100))")
    assert tab.problems == []


def test_everything_can_be_reached_by_keys(tab, page):
    tab.resize(1200, 900)
    tab.open(page.as_uri())
    tab.press("/", SLASH, "/")
    assert tab.run("document.activeElement.id") == "search"
    tab.run("document.getElementById('list').focus()")
    tab.press("ArrowDown", DOWN)
    tab.press("ArrowDown", DOWN)
    assert tab.run("document.activeElement.dataset.place") == "1"
    tab.press("Enter", ENTER, "\r")
    assert tab.run("document.activeElement.tagName") == "H2"
    assert tab.run("location.hash.slice(1) === report.tasks[1].id")
    tab.press("Escape", ESCAPE)
    assert tab.run("document.getElementById('task').hidden")
    reached = set()
    tab.run("document.body.focus()")
    for _ in range(60):
        tab.press("Tab", TAB)
        reached.add(tab.run("document.activeElement.tagName + ' ' + document.activeElement.className"))
    assert {"A skip", "BUTTON value", "INPUT ", "SUMMARY ", "A row"} <= reached


def test_the_filter_is_kept_in_the_address(tab, page):
    tab.open(page.as_uri())
    sought = tab.run("report.tasks[2].id")
    tab.run(
        f"report.choose('split', 'train'), report.search('late {sought}'), new Promise((go) => setTimeout(go, 300))"
    )
    address = tab.run("location.href")
    assert "split=train" in address
    assert tab.run("report.selected().length") == 1
    tab.run("report.clear()")
    assert tab.run("report.selected().length") == 6
    tab.run(f"location.href = {address!r}, new Promise((done) => setTimeout(done, 300))")
    assert tab.run("report.selected().length") == 1
    assert tab.run("document.getElementById('search').value") == f"late {sought}"
    assert tab.run("document.querySelector('button[aria-pressed=true]').title") == "train"
    assert tab.problems == []
