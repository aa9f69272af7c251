"""Schedules belong to operators: deploying again must not switch them on or off, nor delete those added by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import FlowFilter, FlowFilterName
from prefect.client.schemas.objects import DeploymentSchedule

Schedules = dict[UUID, list[DeploymentSchedule]]


@contextmanager
def keep_schedules(flow: str) -> Iterator[None]:
    """Put the schedules of a flow's deployments back as they were before the block, also if the block fails.

    `prefect deploy` sets every schedule that prefect.yaml names to the state written there, and deletes the others of
    that deployment. What prefect.yaml says of times and parameters still arrives. A schedule that did not exist before
    the block keeps the state that prefect.yaml gives it.
    """
    with get_client(sync_client=True) as client:
        before = _read_schedules(client, flow)
        try:
            yield
        finally:
            _restore_schedules(client, before, _read_schedules(client, flow))


def _read_schedules(client: SyncPrefectClient, flow: str) -> Schedules:
    deployments = client.read_deployments(flow_filter=FlowFilter(name=FlowFilterName(any_=[flow])))
    return {deployment.id: deployment.schedules for deployment in deployments}


def _restore_schedules(client: SyncPrefectClient, before: Schedules, after: Schedules) -> None:
    for deployment, schedules in before.items():
        present = {_key(schedule): schedule for schedule in after.get(deployment, [])}
        for old in schedules:
            new = present.get(_key(old))
            if new is None:
                client.create_deployment_schedules(deployment, [_copy(old)])
            elif new.active != old.active:
                client.update_deployment_schedule(deployment, new.id, active=old.active)


def _key(schedule: DeploymentSchedule) -> str:
    """Recognise a schedule whose row was made again: by its slug, or by its times if it has none."""
    return schedule.slug or schedule.schedule.model_dump_json()


def _copy(schedule: DeploymentSchedule) -> DeploymentScheduleCreate:
    return DeploymentScheduleCreate(
        schedule=schedule.schedule,
        active=schedule.active,
        max_scheduled_runs=schedule.max_scheduled_runs,
        parameters=schedule.parameters,
        slug=schedule.slug,
    )
