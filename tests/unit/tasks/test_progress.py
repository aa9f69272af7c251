"""Lines in the log of a shard."""

import logging

import tasks.building
from sandmill.pipeline.shard import ShardProgress
from tasks.building import shard_reporter
from tests.factories import make_shard_plan


def test_a_shard_logs_new_tasks_and_its_end_and_little_else(monkeypatch, caplog):
    monkeypatch.setattr(tasks.building, "get_run_logger", lambda: logging.getLogger("shard"))
    caplog.set_level(logging.INFO)
    listen = shard_reporter(make_shard_plan("r/d", range(20)))
    listen(ShardProgress(made=3, rejected=5, in_band=2, steered=4))
    listen(ShardProgress(made=4, rejected=5, in_band=3, steered=4, is_news=True))
    listen(ShardProgress(made=20, rejected=6, in_band=20, steered=5, is_news=True))
    assert caplog.messages == [
        "slots 0 to 19: 3 of 20 tasks in band, 1 in another; 4 designs off the band, 1 faulty",
        "slots 0 to 19: 20 of 20 tasks in band; 5 designs off the band, 1 faulty",
    ]
