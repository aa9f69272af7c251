"""OpenLineage events to real receivers: a file, an HTTP server, a bucket."""

import threading

import pytest
from openlineage.client.serde import Serde
from pydantic import ValidationError

from sandmill.fingerprint import fingerprint
from sandmill.models.request import AuditRequest, RunSettings
from sandmill.publish.lineage import LineageRun, LineageSender, find_release, make_event, place_dataset, seed_datasets
from sandmill.seeds import ingest
from sandmill.store.arrow_tables import PUBLIC_TASKS
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.lineage_events import read_event, receive
from tests.publishing import publish_numbers

RUN = LineageRun(
    id="018f2f6e-0000-7000-8000-000000000001",
    job="build-release.micro",
    tags={"prefect_flow_run": "here", "attempt": "1"},
    engine_version="3.8.8",
)


@pytest.fixture
def sender_to():
    """A sender and the warnings that it gave."""

    def make(place: str, limit_s: float = 30.0) -> tuple[LineageSender, list[str]]:
        warnings: list[str] = []
        return LineageSender(place, warnings.append, limit_s), warnings

    return make


@pytest.fixture
def release(tmp_path):
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(2))
    return load(store.root)


def test_an_event_of_a_build_names_seeds_version_columns_and_rows(release):
    seeds = ingest(()).supported[:2]
    event = make_event("COMPLETE", RUN, seed_datasets(seeds), [find_release(release.ref)])
    told = read_event(Serde.to_json(event))
    assert [one["name"] for one in told["inputs"]] == [f"seeds/{seed.id}" for seed in seeds]
    assert told["inputs"][0]["facets"]["version"]["datasetVersion"] == fingerprint(seeds[0])[:16]
    (output,) = told["outputs"]
    assert (output["namespace"], output["name"]) == ("file", release.store.root)
    assert output["facets"]["version"]["datasetVersion"] == release.version
    names = [field["name"] for field in output["facets"]["schema"]["fields"]]
    assert names == PUBLIC_TASKS.names
    assert "oracle" in release.tasks.columns
    assert "oracle" not in names
    counted = output["outputFacets"]["outputStatistics"]
    assert (counted["rowCount"], counted["fileCount"]) == (2, len(release.manifest.parts))
    assert told["run"]["facets"]["processing_engine"]["name"] == "Prefect"


def test_events_hold_no_credentials_wherever_they_come_from(monkeypatch, release):
    monkeypatch.setenv("SOME_API_KEY", "a-very-private-word")
    described = find_release(release.ref).model_copy(update={"description": "made with a-very-private-word"})
    place = place_dataset("s3://user:password@bucket/seeds")
    run = RUN.model_copy(update={"tags": {"note": "a-very-private-word"}})
    event = make_event("FAIL", run, [place], [described], error="a-very-private-word sk-aaaaaaaaaaaaaaaaaaaa")
    text = Serde.to_json(event)
    read_event(text)
    for word in ("private-word", "password", "sk-a"):
        assert word not in text


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("s3://bucket/a/b", ("s3://bucket", "a/b")),
        ("s3://user:key@bucket/a", ("s3://bucket", "a")),
        ("/data/seeds", ("file", "/data/seeds")),
        ("file:///data/seeds", ("file", "/data/seeds")),
    ],
)
def test_places_are_named_by_the_rules_of_openlineage(place, named):
    found = place_dataset(place)
    assert (found.namespace, found.name) == named


def test_events_of_several_runs_are_appended_to_one_file(tmp_path, sender_to):
    path = tmp_path / "folder" / "events.jsonl"
    long = "x" * 1900

    def send(number: int) -> None:
        sender, _ = sender_to(f"file://{path}")
        assert all(sender.send(make_event("FAIL", RUN, error=f"{number} {long}")) for _ in range(10))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [read_event(line) for line in path.read_text().splitlines()]
    assert len(told) == 40
    assert all(one["run"]["facets"]["errorMessage"]["message"].endswith(long) for one in told)


def test_an_http_receiver_is_asked_at_the_usual_path_with_the_key_of_the_environment(monkeypatch, sender_to):
    with receive() as receiver:
        monkeypatch.delenv("OPENLINEAGE_API_KEY", raising=False)
        sender, warnings = sender_to(receiver.address)
        assert sender.send(make_event("START", RUN))
        monkeypatch.setenv("OPENLINEAGE_API_KEY", "a-very-private-word")
        elsewhere, _ = sender_to(f"{receiver.address}/other/path")
        assert elsewhere.send(make_event("COMPLETE", RUN))
    assert receiver.paths == ["/api/v1/lineage", "/other/path"]
    assert receiver.keys == [None, "Bearer a-very-private-word"]
    assert [event["eventType"] for event in receiver.events] == ["START", "COMPLETE"]
    assert warnings == []


def test_a_receiver_that_refuses_hangs_or_is_gone_is_reported_once_and_fails_nothing(tmp_path, sender_to):
    with receive() as receiver:
        receiver.status = 500
        refused, of_refused = sender_to(receiver.address)
        assert [refused.send(make_event("START", RUN)), refused.send(make_event("COMPLETE", RUN))] == [False, False]
        assert len(receiver.bodies) == 2, "no event is sent twice"
        receiver.release.clear()
        stuck, of_stuck = sender_to(receiver.address, 0.2)
        assert not stuck.send(make_event("START", RUN))
    gone, of_gone = sender_to(receiver.address)
    assert not gone.send(make_event("START", RUN))
    (tmp_path / "taken").write_text("")
    blocked, of_blocked = sender_to(f"file://{tmp_path}/taken/events.jsonl")
    assert not blocked.send(make_event("START", RUN))
    for warnings in (of_refused, of_stuck, of_gone, of_blocked):
        assert len(warnings) == 1
        assert "The run goes on without them" in warnings[0]


@pytest.mark.parametrize(
    "place",
    [
        "https://user:key@host",
        "https://host?token=1",
        "ftp://host",
        "events.jsonl",
        "file://host/x",
        "s3://",
        "https://",
    ],
)
def test_an_address_with_credentials_or_of_another_kind_is_refused(place):
    with pytest.raises(ValidationError, match="lineage_to"):
        RunSettings(lineage_to=place)
    with pytest.raises(ValidationError, match="lineage_to"):
        AuditRequest(release="releases/micro", lineage_to=place)


def test_a_bucket_gets_an_object_for_each_event(s3_root, sender_to):
    sender, warnings = sender_to(f"{s3_root}/lineage")
    assert sender.send(make_event("START", RUN))
    assert sender.send(make_event("COMPLETE", RUN))
    store = Store(f"{s3_root}/lineage")
    told = [read_event(store.read(path)) for path in store.list()]
    assert [event["eventType"] for event in told] == ["START", "COMPLETE"], warnings
