"""OpenLineage events of runs: what runs read and write, the events, and their delivery.

Only functions that make or send events need the OpenLineage library. Delivery never fails or holds up a run.
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from sandmill.errors import SandmillError
from sandmill.fingerprint import fingerprint
from sandmill.llm.redact import redact
from sandmill.models.base import Frozen
from sandmill.models.seed import SeedTask
from sandmill.store.arrow_tables import PUBLIC_TASKS
from sandmill.store.files import Store
from sandmill.store.release import load

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, OutputDataset, RunEvent


NAMESPACE = "sandmill"
"""Namespace of jobs, and of seeds, which are content and no files."""


class LineageDataset(Frozen):
    """One dataset that a run reads or writes."""

    namespace: str
    name: str
    version: str = ""
    description: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


def place_dataset(place: str) -> LineageDataset:
    """Name a local folder or a place on S3 as OpenLineage's naming rules say. User and password are left out."""
    parts = urlsplit(place)
    if parts.scheme in ("", "file"):
        return LineageDataset(namespace="file", name=str(Path(parts.path if parts.scheme else place).absolute()))
    host = parts.netloc.rpartition("@")[2]
    return LineageDataset(namespace=f"{parts.scheme}://{host}", name=parts.path.strip("/") or "/")


def seed_datasets(seeds: Iterable[SeedTask]) -> tuple[LineageDataset, ...]:
    """Name the seeds of a build. The version of a seed is the fingerprint of its content."""
    return tuple(
        LineageDataset(
            namespace=NAMESPACE, name=f"seeds/{seed.id}", version=fingerprint(seed)[:16], description=seed.title
        )
        for seed in seeds
    )


def release_dataset(reference: str) -> LineageDataset:
    """Describe a version: public columns, number of tasks, size.

    Raises:
        SandmillError: the version cannot be read.
    """
    release = load(reference)
    parts = release.manifest.parts
    named = place_dataset(release.store.root)
    return LineageDataset(
        namespace=named.namespace,
        name=named.name,
        version=release.version,
        description=f"Sandmill release {release.manifest.dataset}@{release.version}",
        columns=tuple((field.name, str(field.type)) for field in PUBLIC_TASKS),
        rows=release.manifest.tasks,
        bytes=sum(part.size for part in parts),
        files=len(parts),
    )


def find_release(reference: str) -> LineageDataset:
    """Describe a version that a run reads; its place alone if it cannot be read."""
    try:
        return release_dataset(reference)
    except SandmillError:
        return place_dataset(reference)


Phase = Literal["START", "COMPLETE", "FAIL", "ABORT"]
PRODUCER = f"urn:sandmill:{version('sandmill')}"
"""Who made an event. The specification asks for a URI."""
LONGEST_MESSAGE = 2000
"""Characters of an error message in an event."""


class LineageRun(Frozen):
    """One attempt of a run: a retry of the same flow run is a run of its own."""

    id: str
    job: str
    """Flow and dataset, such as `build-release.micro`."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Such as the flow run that it belongs to."""
    engine_version: str = ""


def make_event(
    phase: Phase,
    run: LineageRun,
    inputs: Sequence[LineageDataset] = (),
    outputs: Sequence[LineageDataset] = (),
    error: str = "",
) -> "RunEvent":
    """Make one event. Keys of the environment, and what looks like a key, are removed from every text in it."""
    from openlineage.client import event_v2 as ol
    from openlineage.client import facet_v2 as facets

    ol.set_producer(PRODUCER)
    tag = facets.tags_run.TagsRunFacetFields
    run_facets: dict[str, Any] = {
        "processing_engine": facets.processing_engine_run.ProcessingEngineRunFacet(
            version=run.engine_version, name="Prefect", openlineageAdapterVersion=version("sandmill")
        ),
        "tags": facets.tags_run.TagsRunFacet(
            tags=[tag(key=key, value=value, source="SANDMILL") for key, value in run.tags.items()]
        ),
    }
    if error:
        run_facets["errorMessage"] = facets.error_message_run.ErrorMessageRunFacet(
            message=error[:LONGEST_MESSAGE], programmingLanguage="PYTHON"
        )
    job_type = facets.job_type_job.JobTypeJobFacet(processingType="BATCH", integration="SANDMILL", jobType="FLOW")
    event = ol.RunEvent(
        eventTime=datetime.now(UTC).isoformat(),
        eventType=ol.RunState[phase],
        run=ol.Run(runId=run.id, facets=run_facets),
        job=ol.Job(namespace=NAMESPACE, name=run.job, facets={"jobType": job_type}),
        inputs=[_input(one) for one in inputs],
        outputs=[_output(one) for one in outputs],
        producer=PRODUCER,
    )
    _redact_texts(event)
    return event


def _input(one: LineageDataset) -> "InputDataset":
    from openlineage.client import event_v2 as ol
    from openlineage.client.facet_v2 import input_statistics_input_dataset as statistics

    facets: dict[str, Any] = {}
    if one.rows is not None:
        facets["inputStatistics"] = statistics.InputStatisticsInputDatasetFacet(one.rows, one.bytes, one.files)
    return ol.InputDataset(namespace=one.namespace, name=one.name, facets=_dataset_facets(one), inputFacets=facets)


def _output(one: LineageDataset) -> "OutputDataset":
    from openlineage.client import event_v2 as ol
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

    counts: dict[str, Any] = {}
    if one.rows is not None:
        counts["outputStatistics"] = statistics.OutputStatisticsOutputDatasetFacet(one.rows, one.bytes, one.files)
    return ol.OutputDataset(namespace=one.namespace, name=one.name, facets=_dataset_facets(one), outputFacets=counts)


def _dataset_facets(one: LineageDataset) -> dict[str, Any]:
    from openlineage.client import facet_v2 as facets

    found: dict[str, Any] = {}
    if one.version:
        found["version"] = facets.dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=one.version)
    if one.description:
        found["documentation"] = facets.documentation_dataset.DocumentationDatasetFacet(description=one.description)
    if one.columns:
        found["schema"] = facets.schema_dataset.SchemaDatasetFacet(
            fields=[facets.schema_dataset.SchemaDatasetFacetFields(name=name, type=kind) for name, kind in one.columns]
        )
    return found


def _redact_texts(thing: Any) -> None:
    """Redact every text below an object of the library, in place."""
    import attr

    if isinstance(thing, list | Mapping):
        for item in thing.values() if isinstance(thing, Mapping) else thing:
            _redact_texts(item)
    elif attr.has(type(thing)):
        for field in attr.fields(type(thing)):
            value = getattr(thing, field.name)
            if type(value) is str:
                setattr(thing, field.name, redact(value))
            else:
                _redact_texts(value)


LIMIT_S = 5.0
"""Longest time, in seconds, that a run waits until one event is delivered."""
KEY = "OPENLINEAGE_API_KEY"
"""Variable with the key of an HTTP receiver, as OpenLineage's own clients name it."""
ENDPOINT = "api/v1/lineage"
"""Path of a receiver that is named by its host alone."""


@dataclass
class LineageSender:
    """Sends events to one place. A place that does not take them is reported once and costs a few seconds at most."""

    place: str
    warn: Callable[[str], object]
    limit_s: float = LIMIT_S
    _has_warned: bool = field(init=False, default=False)

    def send(self, event: "RunEvent") -> bool:
        """Deliver one event. Returns whether the receiver took it; never raises.

        Delivery has a thread of its own: time limits of HTTP clients are for each read, so a receiver that sends a byte
        now and then could hold a request for hours.
        """
        faults: list[str] = []
        thread = threading.Thread(target=self._deliver, args=(event, faults), daemon=True, name="lineage")
        thread.start()
        thread.join(self.limit_s)
        if thread.is_alive():
            faults.append(f"no answer within {self.limit_s:g} seconds")
        if faults and not self._has_warned:
            self._has_warned = True
            self.warn(f"OpenLineage events are lost: {redact(self.place)}: {faults[0]}. The run goes on without them.")
        return not faults

    def _deliver(self, event: "RunEvent", faults: list[str]) -> None:
        try:
            deliver(event, self.place, self.limit_s)
        except Exception as error:  # noqa: BLE001  whatever a receiver does, the run goes on
            faults.append(redact(f"{type(error).__name__}: {error}"))


def deliver(event: "RunEvent", place: str, limit_s: float) -> None:
    """Deliver one event; raises whatever the file system or the receiver raises."""
    from openlineage.client.serde import Serde

    parts = urlsplit(place)
    if parts.scheme == "file":
        _append(Path(unquote(parts.path)), f"{Serde.to_json(event)}\n".encode())
    elif parts.scheme == "s3":
        name = f"{event.eventTime}-{event.run.runId}-{event.eventType.value if event.eventType else ''}.json"
        Store(place).write(name.replace(":", "-").replace("+", "-"), Serde.to_json(event).encode())
    else:
        _post(event, place, limit_s)


def _append(path: Path, line: bytes) -> None:
    """Append a line by one system call, so that lines of several runs do not mix. The library's own file does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _post(event: "RunEvent", place: str, limit_s: float) -> None:
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    parts = urlsplit(place)
    settings: dict[str, object] = {
        "url": f"{parts.scheme}://{parts.netloc}",
        "endpoint": parts.path.strip("/") or ENDPOINT,
        "timeout": limit_s,
        "retry": {"total": 0},
    }
    if key := os.environ.get(KEY):
        settings["auth"] = {"type": "api_key", "apiKey": key}
    transport = HttpTransport(HttpConfig.from_dict(settings))
    try:
        transport.emit(event)
    finally:
        transport.close()
