"""Publishing: each table is read once, failures of our own code have a budget, and a message says how it ended."""

from collections import Counter

import pytest

from sandmill.errors import INTERNAL_ERROR, BudgetExceeded, MixMissed
from sandmill.models.base import Stage
from sandmill.models.design_draft import Authorship
from sandmill.models.llm import Usage
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.publishing import (
    BuildSummary,
    publish_release,
    require_few_internal_errors,
    require_filled,
    summarize_build,
)
from sandmill.report.funnel import FunnelCounts
from sandmill.store.files import Store
from sandmill.store.shards import read_shard, write_shard
from sandmill.store.versions import list_versions
from tests.designs import bundled_seeds
from tests.factories import make_rejection, make_shard_plan, make_slot_report, make_task

PLAN = plan_build(BuildRequest(name="micro", tasks=4), bundled_seeds())
TRACEBACK = "Traceback (most recent call last):\n  File \"/opt/somewhere.py\", line 1\nKeyError: 'age_years'\n"


def crashed(slot, attempt=1):
    told = {"stage": Stage.CALIBRATE, "reason": INTERNAL_ERROR, "detail": "KeyError", "traceback": TRACEBACK}
    return make_rejection(slot, attempt=attempt, **told)


@pytest.fixture
def build(tmp_path):
    """Two shards of two tasks. Gives the store, a function that adds rejections, and one that publishes."""
    store = Store(str(tmp_path / "micro"))
    settings = RunSettings(root=str(tmp_path))

    def shards(rejections=()):
        return [
            write_shard(
                store,
                make_shard_plan(store.root, numbers),
                tasks := [make_task(number) for number in numbers],
                [make_rejection(numbers.start), *(one for one in rejections if one.slot in numbers)],
                [make_slot_report(task) for task in tasks],
                [],
            )
            for numbers in (range(2), range(2, 4))
        ]

    return store, settings, shards


def count_reads(monkeypatch):
    reads = Counter()
    read = Store.read

    def counting(self, path, limit=None):
        reads[path] += 1
        return read(self, path, limit)

    monkeypatch.setattr(Store, "read", counting)
    return reads


@pytest.mark.parametrize("stage", [summarize_build, lambda *given: publish_release(*given, {})])
def test_a_stage_of_the_flow_reads_each_table_of_each_shard_once(build, monkeypatch, stage):
    store, settings, shards = build
    refs = shards([crashed(0)])
    tables = set()
    for ref in refs:
        shard = read_shard(store, ref.key)
        tables |= {part.path for part in shard.reports.values()}
        tables |= {part.path for name, part in shard.parts.items() if name.startswith("private/tasks")}
    reads = count_reads(monkeypatch)
    stage(PLAN, refs, settings)
    found = {path: count for path, count in reads.items() if path.startswith("shards/") and "shard.json" not in path}
    assert found == dict.fromkeys(tables, 1)


def test_shards_add_up_to_one_summary(build):
    _, settings, shards = build
    summary = summarize_build(PLAN, shards([crashed(0)]), settings)
    assert [(one.slot, one.traceback) for _, one in summary.internal] == [(0, TRACEBACK)]
    assert summary.counts.funnel().tasks == summary.tasks.tasks == 4
    assert summary.counts.ends.keys() == {0, 1, 2, 3}
    assert [(row.reason, row.count) for row in summary.counts.rejections()] == [(INTERNAL_ERROR, 1), ("twins", 2)]
    assert len(summary.specs) == 4


def test_one_failure_of_our_own_is_published_without_its_traceback(build):
    store, settings, shards = build
    published = publish_release(PLAN, shards([crashed(0)]), settings, {})
    for path in store.list(published.version):
        assert b"somewhere.py" not in store.read(path), path
        assert b"age_years" not in store.read(path), path


def test_a_build_that_fails_in_our_own_code_publishes_nothing_and_says_where_the_tracebacks_lie(build):
    store, settings, shards = build
    refs = shards([crashed(0), crashed(3)])
    with pytest.raises(BudgetExceeded) as refused:
        publish_release(PLAN, refs, settings, {})
    message = str(refused.value)
    assert message.startswith("2 of 8 attempts failed in our own code")
    assert "\n  KeyError: 'age_years'\n" in message
    assert all(f"{store.root}/shards/{ref.key}" in message for ref in refs)
    assert list_versions(store) == []


def test_up_to_one_percent_of_the_attempts_may_fail_in_our_own_code(build):
    _, settings, shards = build
    refs = shards([crashed(0), crashed(3)])
    summary = summarize_build(PLAN, refs, settings)
    summary.counts.attempts = 200
    require_few_internal_errors(summary, Store("r/micro"))
    summary.counts.attempts = 199
    with pytest.raises(BudgetExceeded):
        require_few_internal_errors(summary, Store("r/micro"))


def test_a_slot_that_our_own_code_left_empty_is_not_a_slot_that_no_design_fits():
    counts = FunnelCounts(ends=dict.fromkeys(range(3), ("easy", "easy")))
    with pytest.raises(BudgetExceeded, match="1 of 4 slots stayed empty"):
        require_filled(BuildSummary(counts), 4)
    require_filled(BuildSummary(counts, internal=[("key", crashed(3))]), 4)
    require_filled(BuildSummary(counts, unpaid=set(range(3, 10))), 10)


def test_replicates_of_a_design_cost_once_and_rejected_drafts_cost_too():
    usage = Usage(requests=5, prompt_tokens=100, answer_tokens=50, usd=0.01)
    author = Authorship(models=("openai/first",), replies=("ab" * 32,), usage=usage)
    summary = BuildSummary()
    summary.counts.attempts, summary.counts.usd = 6, 0.02
    for design in ("a", "a", "b"):
        record = make_task(0).record
        changed = {"designer": "llm", "authorship": author, "spec_fingerprint": design * 64}
        summary.add_record(record.model_copy(update={"lineage": record.lineage.model_copy(update=changed)}))
    (row,) = summary.designers()
    assert (row.designer, row.attempts, row.designs, row.requests, row.tokens) == ("llm", 6, 2, 10, 300)
    assert row.usd == pytest.approx(0.04)


PAIR = plan_build(BuildRequest(name="micro", tasks=2), bundled_seeds())


@pytest.fixture
def publish(tmp_path):
    """Publish two tasks of which one is in another band than was asked for, or none."""
    store = Store(str(tmp_path / "micro"))
    tasks = [make_task(number) for number in range(2)]
    reports = [make_slot_report(task) for task in tasks]

    def publish_with(*, missed, strict):
        band = reports[0].reached
        wanted = "expert" if missed else band
        slots = [reports[0].model_copy(update={"wanted": wanted}), reports[1].model_copy(update={"wanted": band})]
        slots[1] = slots[1].model_copy(update={"reached": band})
        shard = write_shard(store, make_shard_plan(store.root, range(2)), tasks, [], slots)
        return publish_release(PAIR, [shard], RunSettings(root=str(tmp_path), strict=strict), {})

    return publish_with, store


def test_a_missed_mix_fails_a_strict_build_and_nothing_is_published(publish):
    publish_with, store = publish
    with pytest.raises(MixMissed, match=r"(?s)--strict.*Asked for 1 expert task, got 0.*without --strict") as failed:
        publish_with(missed=True, strict=True)
    assert failed.value.exit_code == 1
    assert list_versions(store) == []
    published = publish_with(missed=True, strict=False)
    assert published.is_new
    assert list_versions(store) == [published.version]


def test_a_mix_that_was_met_passes_a_strict_build(publish):
    publish_with, store = publish
    published = publish_with(missed=False, strict=True)
    assert list_versions(store) == [published.version]
