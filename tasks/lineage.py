"""OpenLineage events of flow runs: when they are sent, and what is known of inputs and outputs by then."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid5

import prefect
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.exceptions import CancelledRun
from prefect.logging import get_logger, get_run_logger
from prefect.runtime import flow_run as this_run

from sandmill.models.seed import SeedTask
from sandmill.publish.lineage import (
    LineageDataset,
    LineageRun,
    LineageSender,
    Phase,
    find_release,
    make_event,
    place_dataset,
    seed_datasets,
)

LABEL = "sandmill.lineage."
"""Labels of a flow run with the job and the receiver of its events, for whoever finds that its process was killed."""
_ended_here: set[str] = set()
"""Runs whose last event was sent by this process."""


class FlowLineage:
    """What one flow run reads and writes. Without a receiver nothing is read and nothing is sent."""

    def __init__(self, run: LineageRun, sender: LineageSender | None, places: Iterable[str]) -> None:
        self._run, self._sender = run, sender
        self._inputs: list[LineageDataset] = list(map(place_dataset, places)) if sender else []
        self._outputs: list[LineageDataset] = []
        self._ending: Phase = "COMPLETE"

    def read_seeds(self, seeds: Iterable[SeedTask]) -> None:
        """Note the seeds of a build."""
        self._inputs += seed_datasets(seeds if self._sender else ())

    def read_release(self, reference: str) -> None:
        """Note a release that the run reads."""
        self._inputs += [find_release(reference)] if self._sender else []

    def wrote_release(self, reference: str) -> None:
        """Note the version that the run published, or found published with equal content."""
        self._outputs += [find_release(reference)] if self._sender else []

    def was_cancelled(self) -> None:
        """Note that the run ends without its outputs because somebody cancelled it."""
        self._ending = "ABORT"

    def send(self, phase: Phase | None = None, error: str = "") -> None:
        """Send START, or the event that ends the run: by default that of the ending which was noted."""
        if self._sender and phase == "START":
            self._sender.send(make_event(phase, self._run, self._inputs))
        elif self._sender:
            _ended_here.add(self._run.id)
            self._sender.send(make_event(phase or self._ending, self._run, self._inputs, self._outputs, error))


@contextmanager
def lineage_events(about: str, receiver: str | None, reads: Iterable[str] = ()) -> Iterator[FlowLineage]:
    """Send START now, and COMPLETE, FAIL or ABORT when the block ends.

    `about` is the dataset that the run is about, as a name or a reference. The job is named after the flow and it.
    `reads` are folders, or places on S3, that are known to be read from the start. Without a receiver nothing is sent.
    """
    dataset = about.rstrip("/").rpartition("/")[2].partition("@")[0]
    run = _attempt(str(this_run.id), int(this_run.run_count or 1), f"{this_run.flow_name}.{dataset}")
    lineage = FlowLineage(run, LineageSender(receiver, get_run_logger().warning) if receiver else None, reads)
    if receiver:
        with get_client(sync_client=True) as client:
            client.update_flow_run_labels(UUID(str(this_run.id)), {f"{LABEL}job": run.job, f"{LABEL}to": receiver})
    lineage.send("START")
    try:
        yield lineage
    except Exception as error:
        lineage.send("ABORT" if isinstance(error, CancelledRun) else "FAIL", str(error))
        raise
    except BaseException:
        lineage.send("ABORT", "the process was told to end")
        raise
    lineage.send()


def abort_lineage(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:
    """Send ABORT for a run whose process was killed: a hook of flows, called in the process that finds out."""
    labels = flow_run.labels or {}
    if f"{LABEL}to" in labels:
        attempt = _attempt(str(flow_run.id), flow_run.run_count or 1, str(labels[f"{LABEL}job"]))
        if attempt.id not in _ended_here:
            _ended_here.add(attempt.id)
            sender = LineageSender(str(labels[f"{LABEL}to"]), get_logger("sandmill").warning)
            sender.send(make_event("ABORT", attempt, error=state.message or str(state.name)))


def _attempt(flow_run_id: str, number: int, job: str) -> LineageRun:
    return LineageRun(
        id=str(uuid5(UUID(flow_run_id), str(number))),
        job=job,
        tags={"prefect_flow_run": flow_run_id, "attempt": str(number)},
        engine_version=prefect.__version__,
    )
