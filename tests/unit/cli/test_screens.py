"""Every screen in a narrow terminal: ids and numbers are whole."""

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from sandmill.cli import screen
from sandmill.cli.app import app
from sandmill.cli.doctor import CheckResult
from sandmill.cli.ending import show_ending, sum_up_empty, sum_up_splits
from sandmill.models.base import Band, Stage
from sandmill.models.release import VerifiedTask
from sandmill.models.reports import Rejection, SlotReport
from sandmill.store.files import Store
from sandmill.store.shards import write_shard
from sandmill.verify.rerun import TaskRerun
from tests.factories import make_shard_plan, make_slot_report, make_task
from tests.publishing import fill_shard, publish_shards

LONG_DOMAIN = "refrigerated_warehouse_deliveries"
REASONS = {"off_band": 41, "no_room": 9, "reference_below_gold": 8, "twins": 1}
TASK = make_task(0).record.task_id


def long_task(number: int) -> VerifiedTask:
    """A task whose domain is as long as names of language models are, and that is not in its band."""
    task = make_task(number)
    spec = task.record.spec.model_copy(update={"domain": LONG_DOMAIN})
    record = task.record.model_copy(update={"spec": spec, "wanted": Band.EXPERT, "split": "held_out_domain"})
    return task.model_copy(update={"record": record})


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of a dataset, with rejections and garbage."""
    folder = tmp_path_factory.mktemp("screens")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _publish()
    return folder


def _publish() -> None:
    store = Store("releases/micro")
    publish_shards(store, [fill_shard(store, range(1), [long_task(0)])])
    tasks = [long_task(number) for number in range(3)]
    rejections = [
        Rejection(
            slot=0,
            attempt=attempt,
            seed_id="parcels",
            stage=Stage.CHECK if reason == "twins" else Stage.CALIBRATE,
            reason=reason,
            detail="",
        )
        for attempt, reason in enumerate(Counter(REASONS).elements())
    ]
    shard = write_shard(
        store, make_shard_plan(store.root, range(3)), tasks, rejections, [make_slot_report(task) for task in tasks]
    )
    manifest, _ = publish_shards(store, [shard])
    store.write(f"{manifest.version}/reports/report.html", b"<p>")
    store.write("0009-0a0a0a0a/README.md", b"half")
    for path in Path("releases/micro/0009-0a0a0a0a").rglob("*"):
        os.utime(path, (0, 0))


@pytest.fixture
def root(releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the releases at a short relative path, and replace the checks of this machine by fixed results."""
    monkeypatch.chdir(releases)
    checks = [
        CheckResult("other extras", "info", "not installed: dask, inspect, learning, openenv, skyrl, trl, verifiers"),
        CheckResult("agent environment", "bad", "lacks a library", "apt-get install " + "libgomp1 " * 8),
    ]
    monkeypatch.setattr("sandmill.cli.doctor._check_all", lambda root: iter(checks))
    monkeypatch.setattr("shutil.which", lambda name: name)
    ran_again = TaskRerun(task_id=TASK, problems=(f"rows of {TASK} differ " * 5,))
    monkeypatch.setattr("sandmill.verify.rerun.rerun_task", lambda *_, **__: ran_again)


def command(*words: str) -> Callable[[], str]:
    def show() -> str:
        ran = CliRunner().invoke(app, words)
        assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
        return ran.output

    return show


def shown_by(function: Callable[..., None], *arguments: object) -> Callable[[], str]:
    def show() -> str:
        from contextlib import redirect_stdout
        from io import StringIO

        with redirect_stdout(StringIO()) as out:
            function(*arguments)
        return out.getvalue()

    return show


MESSAGE = "Published releases/micro@2 with 3 tasks.\nMix missed. " + "Asked for 3 expert tasks, got 0. " * 4
SCREENS = {
    "ending": shown_by(show_ending, "releases/micro", MESSAGE),
    "show": command("show", "releases/micro"),
    "show task": command("show", "releases/micro", TASK),
    "releases": command("releases", "releases"),
    "verify": command("verify", "releases/micro"),
    "verify rerun": command("verify", "releases/micro", "--rerun"),
    "doctor": command("doctor"),
    "gc": command("gc", "releases"),
    "pull": command("pull", "releases/micro", "--to", "a-folder-for-pulled-tasks"),
}
TASK_LISTS = {"ending", "show"}


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_breaks_no_id_and_no_number(name, root, monkeypatch):
    whole = SCREENS[name]()
    monkeypatch.setattr(screen, "screen_width", lambda: 80)
    text = SCREENS[name]()
    assert words_of(text) == words_of(whole)


@pytest.mark.parametrize("name", sorted(TASK_LISTS))
def test_a_list_of_tasks_keeps_all_columns_in_80_columns(name, root, monkeypatch):
    monkeypatch.setattr(screen, "screen_width", lambda: 80)
    text = SCREENS[name]()
    for task in range(3):
        assert make_task(task).record.task_id in words_of(text)
    for column in ("gold", "oracle", "difficulty"):
        assert column in words_of(text)
    assert {"medium", LONG_DOMAIN, "roc_auc"} <= set(words_of(text))
    assert {"0.8500", "0.85000"} & set(words_of(text)), "gold"
    assert {"0.9000", "0.90000"} & set(words_of(text)), "oracle"


def test_the_ending_tells_steering_apart_from_faults_and_names_the_report(root, monkeypatch):
    monkeypatch.setattr(screen, "screen_width", lambda: 80)
    text = SCREENS["ending"]()
    assert "Attempts set aside: 41 by steering, 18 by faults" in text
    rows = [line.split(maxsplit=2) for line in text.splitlines() if line.strip().split(" ")[0].isdecimal()]
    assert ["41", "off_band", "missed the band; the search went on from it"] in rows
    assert ["9", "no_room", "gold is out of reach of an informed solver"] in rows
    assert ["1", "twins", "the gate twins found a fault"] in rows
    assert re.search(r"^Report: \S*releases/micro/0002-\w+/reports/report.html$", text, re.MULTILINE)
    assert re.search(r"sandmill report releases/micro --to report --private$", text, re.MULTILINE)
    assert "Seeds set aside" not in text


def words_of(text: str) -> Counter[str]:
    """Count the words of a screen, without the rules below headers."""
    return Counter(word for word in text.split() if set(word) != {"-"} or word == "-")


def test_tasks_that_cannot_be_trained_on_are_counted():
    def lines(*splits):
        return sum_up_splits(SimpleNamespace(facts={"split": splits}))

    assert lines("train", "train") == []
    assert lines("train", "validation") == ["Splits: 1 train, 1 validation."]
    assert lines("train", "held_out_motif", "held_out_domain") == [
        "Splits: 1 train, 1 held_out_domain, 1 held_out_motif (--held-out 0 holds out none)."
    ]


def _rejection(slot, reason, stage=Stage.CALIBRATE, attempt=1, round=0):
    return Rejection(slot=slot, round=round, attempt=attempt, seed_id="s", stage=stage, reason=reason, detail="")


def _slot(number, reached=None, round=0):
    return SlotReport(slot=number, round=round, wanted="easy", reached=reached, attempts=1)


def test_slots_that_stayed_empty_are_told_with_what_they_failed_with_at_last():
    slots = [_slot(0, "easy"), _slot(1), _slot(2), _slot(3), _slot(1, round=1), _slot(3, "hard", round=1)]
    rejections = [
        _rejection(0, "off_band"),
        _rejection(1, "near_ties", round=1),
        _rejection(1, "off_band", attempt=7),
        _rejection(2, "off_band"),
        _rejection(2, "near_ties", attempt=2),
        _rejection(3, "no_signal"),
    ]
    assert sum_up_empty(slots, rejections) == [
        "Slots that stayed empty: 2; they failed at last with calibrate near_ties (2)."
    ]


def test_money_that_ended_is_told_with_what_to_do():
    lines = sum_up_empty([_slot(0), _slot(1)], [_rejection(n, "max_usd", Stage.DESIGN) for n in (0, 1)])
    assert lines[0] == "Slots that stayed empty: 2; they failed at last with design max_usd (2)."
    assert "--max-usd" in lines[1]


@pytest.mark.parametrize("slots", [[], [_slot(0, "easy")]])
def test_no_empty_slot_takes_no_line(slots):
    assert sum_up_empty(slots, [_rejection(0, "off_band")][: len(slots)]) == []
