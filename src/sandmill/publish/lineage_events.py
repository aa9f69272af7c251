"""OpenLineage events of runs, made with the classes of the OpenLineage library."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sandmill.llm.redact import redact
from sandmill.models.base import Frozen
from sandmill.publish.lineage_datasets import NAMESPACE, LineageDataset

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, OutputDataset, RunEvent

Phase = Literal["START", "COMPLETE", "FAIL", "ABORT"]
PRODUCER = f"urn:sandmill:{version('sandmill')}"
"""Who made an event. The specification asks for a URI."""
LONGEST_MESSAGE = 2000
"""Characters of an error message in an event."""


class LineageRun(Frozen):
    """One attempt of a run: a retry of the same flow run is a run of its own."""

    id: str
    """UUID."""
    job: str
    """Flow and dataset, such as `build-release.micro`."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Such as the flow run that it belongs to."""
    engine_version: str = ""
    """Version of Prefect."""


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
    run_facets: dict[str, Any] = {
        "processing_engine": facets.processing_engine_run.ProcessingEngineRunFacet(
            version=run.engine_version, name="Prefect", openlineageAdapterVersion=version("sandmill")
        ),
        "tags": facets.tags_run.TagsRunFacet(
            tags=[
                facets.tags_run.TagsRunFacetFields(key=key, value=value, source="SANDMILL")
                for key, value in run.tags.items()
            ]
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
    from openlineage.client import facet_v2 as facets

    counted: dict[str, Any] = {}
    if one.rows is not None:
        counted["inputStatistics"] = facets.input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
            rowCount=one.rows, size=one.bytes, fileCount=one.files
        )
    return ol.InputDataset(
        namespace=one.namespace, name=one.name, facets=_dataset_facets(one), inputFacets={**counted, **_quality(one)}
    )


def _output(one: LineageDataset) -> "OutputDataset":
    from openlineage.client import event_v2 as ol
    from openlineage.client import facet_v2 as facets

    counted: dict[str, Any] = {}
    if one.rows is not None:
        counted["outputStatistics"] = facets.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
            rowCount=one.rows, size=one.bytes, fileCount=one.files
        )
    return ol.OutputDataset(
        namespace=one.namespace,
        name=one.name,
        # OpenLineage has no place of its own for tests of outputs, so they stand among the facets of the dataset.
        facets={**_dataset_facets(one), **_quality(one)},
        outputFacets=counted,
    )


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
        found["storage"] = facets.storage_dataset.StorageDatasetFacet(storageLayer="files", fileFormat="parquet")
    return found


def _quality(one: LineageDataset) -> dict[str, Any]:
    from openlineage.client import facet_v2 as facets

    if not one.assertions:
        return {}
    checks = facets.data_quality_assertions_dataset
    assertions = [
        checks.Assertion(
            assertion=held.expectation,
            success=held.holds,
            column=held.column,
            name=held.name,
            severity="error",
            description=f"tasks that failed it and were rejected: {held.rejected}",
        )
        for held in one.assertions
    ]
    return {"dataQualityAssertions": checks.DataQualityAssertionsDatasetFacet(assertions=assertions)}


def _redact_texts(thing: Any) -> None:
    """Redact every text below an object of the library, in place."""
    import attr

    if isinstance(thing, list):
        for item in thing:
            _redact_texts(item)
    elif isinstance(thing, Mapping):
        for item in thing.values():
            _redact_texts(item)
    elif attr.has(type(thing)):
        for field in attr.fields(type(thing)):
            value = getattr(thing, field.name)
            if isinstance(value, str) and type(value) is str:
                setattr(thing, field.name, redact(value))
            else:
                _redact_texts(value)
