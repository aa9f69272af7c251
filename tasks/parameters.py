"""Parameters of a triggered run may name only what differs from its deployment.

Prefect merges top-level parameters only: a run with `{"request": {"tasks": 4}}` would lose the other fields of the
deployment's request. The types here put them back.
"""

from typing import Annotated, Any

from prefect.client.orchestration import get_client
from prefect.runtime import deployment as this_deployment
from pydantic import BeforeValidator, ConfigDict, ValidationInfo

from sandmill.models.request import AuditRequest, BuildRequest, RefreshRequest, RunSettings


def _fill_from_deployment(given: Any, info: ValidationInfo) -> Any:
    """Complete a mapping by the fields that the deployment of this run sets; outside a deployment, change nothing."""
    if not isinstance(given, dict) or this_deployment.id is None:
        return given
    with get_client(sync_client=True) as client:
        parameters = client.read_deployment(this_deployment.id).parameters
    return {**parameters.get(str(info.field_name), {}), **given}


class PartialRequest(BuildRequest):
    """The request as the run form and the server check it: the deployment may supply any field."""

    model_config = ConfigDict(title="BuildRequest", json_schema_extra=lambda schema: schema.pop("required", None))


class PartialAudit(AuditRequest):
    """The request of an audit as the run form checks it."""

    model_config = ConfigDict(title="AuditRequest", json_schema_extra=lambda schema: schema.pop("required", None))


class PartialRefresh(RefreshRequest):
    """The request of a refresh as the run form checks it."""

    model_config = ConfigDict(title="RefreshRequest", json_schema_extra=lambda schema: schema.pop("required", None))


AuditOf = Annotated[AuditRequest, BeforeValidator(_fill_from_deployment, json_schema_input_type=PartialAudit)]
RefreshOf = Annotated[RefreshRequest, BeforeValidator(_fill_from_deployment, json_schema_input_type=PartialRefresh)]


Request = Annotated[BuildRequest, BeforeValidator(_fill_from_deployment, json_schema_input_type=PartialRequest)]
Settings = Annotated[RunSettings, BeforeValidator(_fill_from_deployment)]
