"""A round of the llm designer: drafts before shards, refusals as data, nothing paid twice, no key anywhere."""

import json
import logging

import pytest

from sandmill.check import load_suites
from sandmill.errors import BudgetExceeded, ReplayMiss, RequestError
from sandmill.fingerprint import fingerprint
from sandmill.models.base import Band
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.designing import design_round
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.preflight import check_inputs
from sandmill.pipeline.publishing import publish_release
from sandmill.pipeline.run import build_shard, open_dataset, plan_round
from sandmill.pipeline.shard import ShardBuild
from sandmill.seeds import ingest
from sandmill.store.shards import read_shard_reports
from tests.llm_playbook import Playbook
from tests.llm_server import error, serve
from tests.releases import QUICKEST, REPOSITORY
from tests.unit.pipeline.inline import InlineBatch

KEY = "planted-5e1d77-not-a-real-key"
REQUEST = BuildRequest(
    name="made", tasks=3, seed=1, designer="llm", model=("openai/first",), mix={Band.MEDIUM: 1.0}, kinds={"table": 1.0}
)
SUITES = load_suites(REPOSITORY / "expectations")


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def _settings(tmp_path, server, **more):
    return RunSettings(root=str(tmp_path), workers=1, api_base=server.base, shard_size=2, **more)


def _round(settings, request=REQUEST):
    plan = plan_build(request, ingest(request.seeds))
    return plan, design_round(plan, plan_round(plan, [], settings, SUITES), [], settings)


def test_a_round_is_asked_for_once_whatever_becomes_of_the_run(tmp_path):
    with serve(Playbook().serve) as server:
        settings = _settings(tmp_path, server)
        plan, shards = _round(settings)
        asked = len(server.received)
        _, again = _round(settings)
    assert asked == len(server.received) == 4 * 3
    assert [shard.key for shard in shards] == [shard.key for shard in again]
    assert [shard.slots for shard in shards] == [shard.slots for shard in again]
    assert all(slot.draft for shard in shards for slot in shard.slots)
    assert {shard.designer for shard in shards} == {"llm"}
    store = open_dataset(plan, settings)
    assert len(store.list("llm/transcripts")) == 3
    replayed = RunSettings(root=str(tmp_path / "other"), replay=f"{tmp_path}/made/llm", shard_size=2)
    assert [shard.slots for shard in _round(replayed)[1]] == [shard.slots for shard in shards]


def test_plans_of_the_grammar_pass_as_they_are(tmp_path):
    request = BuildRequest(name="made", tasks=3)
    settings = RunSettings(root=str(tmp_path))
    plan = plan_build(request, ingest(()))
    pending = plan_round(plan, [], settings, SUITES)
    assert design_round(plan, pending, [], settings) == pending
    assert "model" not in request.model_dump(exclude_defaults=True)
    assert fingerprint(request) == fingerprint(request.model_copy(update={"repairs": 2}))
    assert fingerprint(request) != fingerprint(request.model_copy(update={"repairs": 3}))


def _refusing(received):
    return error(500, "out of order")


def test_a_slot_without_a_draft_is_a_rejection_and_stays_empty(tmp_path, monkeypatch):
    monkeypatch.setattr("sandmill.llm.client.FIRST_WAIT_S", 0.001)
    with serve(_refusing) as server:
        plan, shards = _round(_settings(tmp_path, server))
    (first, *_) = shards
    assert [rejection.reason for rejection in first.refusals] == ["no_answer"] * 2

    class Nobody:
        def batch(self, timeout_s):
            return InlineBatch(self._perform)

        def _perform(self, function, item):
            raise AssertionError("there is nothing to work on")

    made = ShardBuild(first, b"s" * 32, "code", {}, Nobody()).run()
    assert made.tasks == ()
    assert [rejection.reason for rejection in made.rejections] == ["no_answer"] * 2
    assert [report.attempts for report in made.slots] == [1, 1]
    transcript = made.rejections[0].transcript
    assert json.loads(open_dataset(plan, RunSettings(root=str(tmp_path))).read(transcript)) == []


@pytest.mark.slow
def test_what_a_draft_cost_is_booked_even_where_no_task_comes_of_it(tmp_path):
    with serve(Playbook().serve) as server:
        _, shards = _round(_settings(tmp_path, server, price={"input": 10, "output": 20}))

    class Broken:
        def batch(self, timeout_s):
            return InlineBatch(lambda function, item: RuntimeError("no room"))

    made = ShardBuild(shards[0], b"s" * 32, "code", {}, Broken()).run()
    assert made.tasks == ()
    for slot in shards[0].slots:
        of_slot = [one.usd for one in made.rejections if one.slot == slot.number]
        assert len(of_slot) > 1
        assert sum(of_slot) == pytest.approx(slot.authorship.usage.usd)
        assert sum(of_slot) > 0


def test_money_that_ends_leaves_the_rest_undesigned(tmp_path):
    request = REQUEST.model_copy(update={"model": ("openai/gpt-4o-mini",)})
    with serve(Playbook().serve) as server:
        # One request may cost 6000 tokens of an answer, which is 0.0036: there is money for the first few alone.
        settings = _settings(tmp_path, server, max_usd=0.0045, llm_calls=1)
        plan, shards = _round(settings, request)
        asked = len(server.received)
        _round(settings, request)
        assert len(server.received) == asked
    reasons = [rejection.reason for shard in shards for rejection in shard.refusals]
    assert set(reasons) == {"max_usd"}
    assert asked < 15
    refs = [build_shard(shard, settings, SUITES) for shard in shards]
    rejections = [one for ref in refs for one in read_shard_reports(open_dataset(plan, settings), ref).rejections]
    assert sum(one.usd for one in rejections) <= 0.0045
    with pytest.raises(BudgetExceeded, match="before any of 3 slots was filled"):
        publish_release(plan, refs, settings, SUITES)


def test_a_miss_in_replay_stops_the_build(tmp_path):
    (tmp_path / "replies" / "ab").mkdir(parents=True)
    (tmp_path / "replies" / "ab" / "x.json").write_text("{}")
    settings = RunSettings(root=str(tmp_path / "root"), replay=str(tmp_path))
    check_inputs(REQUEST, settings)
    with pytest.raises(ReplayMiss, match=r"no reply of openai/first is recorded for strategist, slot [01] round 0"):
        _round(settings)


@pytest.mark.parametrize(
    ("request_with", "settings_with", "where", "saw"),
    [
        ({}, {"replay": "nowhere"}, "--replay", "nowhere"),
        ({"model": ("openai/nobodys-model",)}, {"max_usd": 1.0, "api_base": "http://x"}, "--max-usd", "no price known"),
        ({"model": ("anthropic/claude-3-haiku-20240307",)}, {}, "--model", "without a key"),
    ],
)
def test_what_would_keep_models_from_answering_is_told_before_any_work(
    tmp_path, monkeypatch, request_with, settings_with, where, saw
):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    request = REQUEST.model_copy(update=request_with)
    with pytest.raises(RequestError) as refused:
        check_inputs(request, RunSettings(root=str(tmp_path), **settings_with))
    (problem,) = refused.value.problems
    assert problem.where == where
    assert saw in problem.saw


@pytest.mark.slow
def test_a_release_says_who_designed_it_and_holds_no_key(tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    request = REQUEST.model_copy(update={"tasks": 2, "mix": QUICKEST})
    with serve(Playbook().serve) as server:
        settings = _settings(tmp_path, server)
        plan, shards = _round(settings, request)
        refs = [build_shard(shard, settings, SUITES) for shard in shards]
        published = publish_release(plan, refs, settings, SUITES)
    from sandmill.store.release import load

    release = load(published.reference)
    for task_id in release.tasks["task_id"]:
        lineage = release.record(task_id).lineage
        assert lineage.designer == "llm"
        assert lineage.authorship.models == ("openai/first",)
        assert len(lineage.authorship.replies) == 4
    (row,) = json.loads(release.report("designers.json"))
    assert (row["designer"], row["designs"]) == ("llm", 2)
    shown = capfd.readouterr()
    assert KEY not in caplog.text + shown.out + shown.err
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    # Replies, receipts and transcripts are private: no published version holds any.
    assert not [part.path for part in release.manifest.parts if "llm/" in part.path]
