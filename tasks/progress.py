"""Progress of a build: lines in the log of its run."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Event, Thread
from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.logging import get_run_logger
from prefect.runtime import flow_run as this_run
from pydantic import TypeAdapter

from sandmill.errors import count
from sandmill.models.base import Stage
from sandmill.models.plan import BuildPlan, ShardPlan
from sandmill.pipeline.shard import Listener, ShardProgress

SECONDS_BETWEEN_UPDATES = 2.0
"""Each update is a call to the server."""
SECONDS_BETWEEN_LINES = 15.0
"""The log gets a line sooner if a task was made."""
LABEL = "sandmill.progress."
"""Labels of a flow run with the state of each shard. Shards may be filled by processes of other machines."""
_PROGRESS = TypeAdapter(ShardProgress)
STAGE_WORDS = {
    Stage.DESIGN: "designing",
    Stage.GENERATE: "drawing rows",
    Stage.CALIBRATE: "measuring difficulty",
    Stage.CHECK: "checking files",
    Stage.VERIFY: "running the scripts again",
    Stage.PUBLISH: "keeping finished tasks",
}


def shard_reporter(shard: ShardPlan) -> Listener:
    """Report the state of a shard to the flow run, at most every two seconds."""
    last_update = 0.0

    def listen(progress: ShardProgress) -> None:
        nonlocal last_update
        is_news = bool(progress.task) or progress.is_stored
        if not is_news and time.monotonic() - last_update < SECONDS_BETWEEN_UPDATES:
            return
        last_update = time.monotonic()
        with get_client(sync_client=True) as client:
            text = _PROGRESS.dump_json(progress).decode()
            client.update_flow_run_labels(UUID(str(this_run.id)), {LABEL + shard.key: text})

    return listen


class BuildProgress:
    """What all shards of a build have reported so far."""

    def __init__(self, slots: int, stage: str) -> None:
        self._slots, self._stage = slots, stage
        self._kept: dict[str, int] = {}
        """Tasks in the first report of each shard. They are the work of an earlier run."""
        self._latest: dict[str, ShardProgress] = {}

    def hear(self, labels: Mapping[str, Any]) -> None:
        """Take in the labels of the flow run."""
        reports = {name: _PROGRESS.validate_json(text) for name, text in labels.items() if name.startswith(LABEL)}
        news = [report for name, report in reports.items() if report != self._latest.get(name)]
        # A finished shard says nothing about those that are still at work.
        self._stage = next((STAGE_WORDS[one.stage] for one in news if not one.is_stored), self._stage)
        self._kept = {name: report.made for name, report in reports.items()} | self._kept
        self._latest = reports

    def _sum(self, name: str) -> int:
        return sum(getattr(one, name) for one in self._latest.values())

    @property
    def made(self) -> int:
        """Slots that hold a task."""
        return self._sum("made")

    def line(self) -> str:
        """Write one line. Designs off the band are no faults: the search for the band goes on from them."""
        kept, in_band, steered = sum(self._kept.values()), self._sum("in_band"), self._sum("steered")
        other = f", {self.made - in_band} in another" if self.made > in_band else ""
        before = f" ({kept} kept from before)" if kept else ""
        aside = f"{count(steered, 'design')} off the band, {self._sum('rejected') - steered} faulty"
        return f"{in_band} of {self._slots} tasks in band{other}{before}; {self._stage}; {aside}"


@contextmanager
def show_progress(plan: BuildPlan) -> Iterator[None]:
    """Show how far the whole build is, while its shards are filled in this process or elsewhere."""
    stage = "language models write the designs" if plan.request.designer == "llm" else STAGE_WORDS[Stage.DESIGN]
    progress = BuildProgress(plan.request.tasks, stage)
    has_ended = Event()
    follow = partial(_follow, progress, UUID(str(this_run.id)), has_ended)
    # The context holds the address of the server, and the run.
    thread = Thread(target=copy_context().run, args=(follow,), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def _follow(progress: BuildProgress, run_id: UUID, has_ended: Event) -> None:
    """Read what shards report until the block ends, and once more then. Lines with news go to the log."""
    logger, is_last = get_run_logger(), False
    logged_at, logged = 0.0, (-1, "")
    try:
        while not is_last:
            is_last = has_ended.wait(SECONDS_BETWEEN_UPDATES)
            with get_client(sync_client=True) as client:
                progress.hear(client.read_flow_run(run_id).labels)
            news = (progress.made, progress.line())
            is_due = is_last or news[0] != logged[0] or time.monotonic() - logged_at >= SECONDS_BETWEEN_LINES
            if is_due and news[1] != logged[1]:
                logger.info("%s", news[1])
                logged_at, logged = time.monotonic(), news
    except Exception as error:  # noqa: BLE001
        # A build does not fail because nobody can see how far it is.
        logger.warning("progress is not shown any more: %s", error)
