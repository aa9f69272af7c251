"""Keep deployments and schedules as operators left them when prefect.yaml is deployed again."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import FlowFilter
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse


@contextmanager
def keep_schedules(flows: Collection[str]) -> Iterator[None]:
    """Put back which deployments and schedules of these flows are active, also if the block fails.

    `prefect deploy` resumes a paused deployment, sets every schedule that prefect.yaml names to the `active` written
    there, and deletes schedules that were added by hand. What prefect.yaml says of times and parameters still arrives.
    A schedule that did not exist before the block keeps the `active` of prefect.yaml.
    """
    of_flows = FlowFilter.model_validate({"name": {"any_": list(flows)}})
    with get_client(sync_client=True) as client:
        before = client.read_deployments(flow_filter=of_flows)
        try:
            yield
        finally:
            after = {deployment.id: deployment for deployment in client.read_deployments(flow_filter=of_flows)}
            for old in before:
                if old.id in after:
                    _restore(client, old, after[old.id])


def _restore(client: SyncPrefectClient, old: DeploymentResponse, new: DeploymentResponse) -> None:
    if old.paused and not new.paused:
        client.pause_deployment(new.id)
    present = {_key(schedule): schedule for schedule in new.schedules}
    missing = [schedule for schedule in old.schedules if _key(schedule) not in present]
    if missing:
        kept = {"schedule", "active", "max_scheduled_runs", "parameters", "slug"}
        copies = [DeploymentScheduleCreate(**{name: getattr(old, name) for name in kept}) for old in missing]
        client.create_deployment_schedules(new.id, copies)
    for schedule in old.schedules:
        now = present.get(_key(schedule))
        if now and now.active != schedule.active:
            client.update_deployment_schedule(new.id, now.id, active=schedule.active)


def _key(schedule: DeploymentSchedule) -> str:
    """Return what identifies a schedule whose row was made again: its slug, or its times if it has none."""
    return schedule.slug or schedule.schedule.model_dump_json()
