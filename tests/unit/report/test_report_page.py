"""The page of a report in a browser. Pictures lie in the test's folder, to be looked at."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sandmill.kinds.audio.render import aiff_bytes
from sandmill.models.llm import Message
from sandmill.models.release import VerifiedTask
from sandmill.publish.release_report import PAGE, make_report
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.chromium import CHROMIUM, Tab, open_tab
from tests.factories import make_task
from tests.publishing import fill_shard, publish_shards, published
from tests.rollout_records import make_record

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]

ENTER, ESCAPE, DOWN, SLASH, TAB = 13, 27, 40, 191, 9


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with open_tab() as opened:
        yield opened


@pytest.fixture(scope="module", params=["public", "private"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    path = folder / PAGE
    path.write_bytes(make_report(published(folder / "micro", range(4), range(4, 6)), request.param)[PAGE])
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


PROMPT = """# Title of <b>all</b>

Bold **`name`** and <img src=x onerror=alert(1)>
in one paragraph.

- one [link](https://example.org)
- two

| file | content |
|---|---|
| `a.csv` | rows of `b` \\| c |

```csv
id,**x**
```
"""


@pytest.fixture(scope="module")
def media_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Publish a task with a strange prompt, a picture and a sound that browsers do not play as it is."""
    folder, out = tmp_path_factory.mktemp("media"), io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(out, "png")
    task, store = make_task(0), Store(f"{folder}/micro")
    added = {
        "description.md": PROMPT.encode(),
        "train/a.png": out.getvalue(),
        "train_sounds/b.aif": aiff_bytes((9000 * np.sin(np.arange(2000) / 9)).astype(np.int16), 2000),
    }
    package = task.package.model_copy(update={"public": {**task.package.public, **added}})
    publish_shards(store, [fill_shard(store, range(1), [VerifiedTask(package=package, record=task.record)])])
    path = folder / PAGE
    path.write_bytes(make_report(load(store.root), "private")[PAGE])
    return path


def test_prompts_are_rendered_and_their_text_stays_text(tab, media_page):
    tab.resize(1200, 900)
    tab.open(media_page.as_uri())
    tab.run("location.hash = report.link(report.tasks[0].id), new Promise((done) => setTimeout(done, 200))")
    shown = tab.run("[...document.querySelectorAll('.prose > *')].map((one) => one.tagName + ' ' + one.textContent)")
    assert shown[0] == "H4 Title of <b>all</b>"
    assert " ".join(shown[1].split()) == "P Bold name and <img src=x onerror=alert(1)> in one paragraph."
    assert shown[2] == "UL one [link](https://example.org)two"
    assert shown[3] == "DIV filecontenta.csvrows of b | c"
    assert shown[4] == "PRE id,**x**"
    assert tab.run("document.querySelector('.prose strong code').textContent") == "name"
    assert tab.run("document.querySelectorAll('.prose img, .prose b, .prose a').length") == 0
    assert tab.problems == []


def test_pictures_are_large_and_sounds_play(tab, media_page):
    tab.open(media_page.as_uri())
    tab.run("location.hash = report.link(report.tasks[0].id), new Promise((done) => setTimeout(done, 200))")
    assert tab.run("document.querySelector('.media img').getBoundingClientRect().width") == 200
    heard = """new Promise((done) => {
      const sound = document.querySelector('.media audio');
      sound.oncanplaythrough = () => done(sound.duration);
      sound.onerror = () => done(sound.error.message);
      sound.load();
    })"""
    assert tab.run(heard) == 1.0
    assert tab.problems == []


def test_a_release_opens_with_a_card_for_each_kind_and_a_map_with_a_legend(tab, page):
    tab.resize(1200, 3000)
    tab.open(page.as_uri())
    tab.run("document.getElementById('section-map').scrollIntoView(), new Promise((done) => setTimeout(done, 300))")
    kinds = tab.run("[...new Set(report.tasks.map((task) => task.kind))].length")
    assert tab.run("document.querySelectorAll('.card table, .card img').length") == kinds
    assert tab.run("document.querySelector('.headline').textContent").startswith("6 tasks of 1 kind.")
    assert tab.run("document.querySelectorAll('.legend button').length") == kinds
    assert tab.run("document.querySelectorAll('.point').length") == 6
    tab.run("document.querySelector('.card button').click()")
    assert tab.run("report.selected().length") == 6
    assert tab.run("document.querySelector('.legend button').getAttribute('aria-pressed')") == "true"


def test_no_table_is_cut_on_a_phone(tab, page):
    tab.resize(390, 1400, is_phone=True)
    tab.open(page.as_uri())
    cut = "[...document.querySelectorAll('.wide, .aside')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert tab.run(cut) == 0
    tab.run("location.hash = report.link(report.tasks[0].id), new Promise((done) => setTimeout(done, 200))")
    assert tab.run(cut) == 0


def test_messages_of_rollouts_lie_inside_their_rollout_and_wrap_on_a_phone(tab, tmp_path):
    release = published(tmp_path / "micro", range(1))
    long = Message(role="user", content="word " * 200)
    record = make_record(release.task_ids[0]).model_copy(update={"messages": (long,)})
    path = tmp_path / PAGE
    path.write_bytes(make_report(release, "private", [record])[PAGE])
    tab.resize(390, 1400, is_phone=True)
    tab.open(path.as_uri())
    tab.run("location.hash = report.link(report.tasks[0].id), new Promise((done) => setTimeout(done, 200))")
    titles = "[...document.querySelectorAll('#task .rollout > .rollout > summary')].map((one) => one.textContent)"
    assert {"credit", "steps", "message 1, user"} <= set(tab.run(titles))
    tab.run("document.querySelectorAll('#task .rollout').forEach((one) => { one.open = true; })")
    assert tab.run("[...document.querySelectorAll('.said')].some((one) => one.scrollWidth > one.clientWidth)") is False
    assert tab.problems == []
