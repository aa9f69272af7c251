"""Parameters of a triggered run may name only what differs from its deployment.

Prefect merges top-level parameters only: a run with `{"request": {"tasks": 4}}` would lose the other fields of the
deployment's request. The types here put them back.
"""

from typing import Annotated, Any

from prefect.client.orchestration import get_client
from prefect.runtime import deployment as this_deployment
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from sandmill.models.request import AuditRequest, BuildRequest, RefreshRequest, RunSettings


def _fill_from_deployment(given: Any, info: ValidationInfo) -> Any:
    """Complete a mapping by the fields that the deployment of this run sets; outside a deployment, change nothing."""
    if not isinstance(given, dict) or this_deployment.id is None:
        return given
    with get_client(sync_client=True) as client:
        parameters = client.read_deployment(this_deployment.id).parameters
    return {**parameters.get(str(info.field_name), {}), **given}


def _filled(model: type[BaseModel]) -> BeforeValidator:
    """Fill a request from the deployment. In the run form and on the server, no field is required."""

    class Form(model):  # type: ignore[misc, valid-type]
        """What to do. The deployment may supply any field."""

        model_config = ConfigDict(title=model.__name__, json_schema_extra=lambda schema: schema.pop("required", None))

    return BeforeValidator(_fill_from_deployment, json_schema_input_type=Form)


AuditOf = Annotated[AuditRequest, _filled(AuditRequest)]
RefreshOf = Annotated[RefreshRequest, _filled(RefreshRequest)]
Request = Annotated[BuildRequest, _filled(BuildRequest)]
Settings = Annotated[RunSettings, BeforeValidator(_fill_from_deployment)]
