"""With --strict, a build that missed the requested mix of difficulty bands publishes nothing."""

import pytest

from sandmill.errors import MixMissed
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.publishing import publish_release
from sandmill.seeds import ingest
from sandmill.store.files import Store
from sandmill.store.shards import write_shard
from sandmill.store.versions import list_versions
from tests.factories import make_shard_plan, make_slot_report, make_task

PLAN = plan_build(BuildRequest(name="micro", tasks=2), ingest(()))


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
        return publish_release(PLAN, [shard], RunSettings(root=str(tmp_path), strict=strict), {})

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
