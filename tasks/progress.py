"""Progress of a run: one line in the log and one artifact in the UI, which ends as the run ends."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Event, Thread
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.client.schemas.filters import ArtifactFilter
from prefect.client.schemas.objects import FlowRun, State
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

    @property
    def share(self) -> float:
        """Percent of the slots that hold a task. After the last one, the release is still to be published."""
        return min(99.0, 100.0 * self.made / self._slots)

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
    show = _line_writer(f"{plan.request.name}-progress")
    has_ended = Event()
    follow = partial(_follow, progress, show, UUID(str(this_run.id)), has_ended)
    # The context holds the address of the server, and the logger of the run.
    thread = Thread(target=copy_context().run, args=(follow,), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def _follow(progress: BuildProgress, show: Callable[..., None], run_id: UUID, has_ended: Event) -> None:
    """Read what shards report until the block ends, and once more then."""
    try:
        is_last = False
        while not is_last:
            is_last = has_ended.wait(SECONDS_BETWEEN_UPDATES)
            with get_client(sync_client=True) as client:
                progress.hear(client.read_flow_run(run_id).labels)
            show(progress.line(), progress.share, progress.made, is_last)
    except Exception as error:  # noqa: BLE001
        # A build does not fail because nobody can see how far it is.
        get_run_logger().warning("progress is not shown any more: %s", error)


def _line_writer(key: str) -> Callable[[str, float, int, bool], None]:
    """Return a function that writes each line to the artifact, and those with news to the log."""
    logger, artifact = get_run_logger(), start_progress(key)
    logged_at, logged, shown = 0.0, (-1, ""), ""

    def show(line: str, share: float, made: int, is_last: bool) -> None:
        nonlocal logged_at, logged, shown
        if line != shown:
            update_progress_artifact(artifact, progress=share, description=line)
            shown = line
        is_due = is_last or made != logged[0] or time.monotonic() - logged_at >= SECONDS_BETWEEN_LINES
        if is_due and line != logged[1]:
            logger.info("%s", line)
            logged_at, logged = time.monotonic(), (made, line)

    return show


def start_progress(key: str, description: str = "") -> UUID:
    """Make the progress artifact of this run."""
    return cast("UUID", create_progress_artifact(0.0, key=key, description=description))


def end_progress(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:
    """Say on the progress artifacts of a run how it ended: a hook of flows for runs that do not complete."""
    write_end(flow_run.id, state)


def write_end(run_id: UUID, state: State[Any]) -> None:
    """Say on the progress artifacts of a run how it ended. Only a completed run has 100 %."""
    of_run = ArtifactFilter.model_validate({"flow_run_id": {"any_": [run_id]}, "type": {"any_": ["progress"]}})
    with get_client(sync_client=True) as client:
        for artifact in client.read_artifacts(artifact_filter=of_run):
            ending = f"{state.name}. "
            if not (artifact.description or "").startswith(ending):
                share = 100.0 if state.is_completed() else artifact.data
                update = ArtifactUpdate(data=share, description=ending + (artifact.description or ""))
                client.update_artifact(artifact.id, update)


ENDINGS: dict[str, Any] = {
    "on_failure": [end_progress],
    "on_cancellation": [end_progress],
    "on_crashed": [end_progress],
}
"""Hooks of a flow with progress."""
