"""Policy for audits and refreshes."""

from prefect import task
from prefect.artifacts import create_markdown_artifact

from sandmill.models.request import AuditRequest, RefreshRequest, RunSettings
from sandmill.pipeline.publishing import KeptTasks
from sandmill.pipeline.refresh import Refresh, keep_for_next, plan_refresh
from sandmill.verify.audit import Audit, audit_release
from tasks.policies import STORED


@task(name="verify latest", tags=["cpu", "store"], **STORED)
def verify_latest(request: AuditRequest) -> Audit:
    """Verify the latest version again from the store."""
    return audit_release(request)


@task(name="plan refresh", tags=["store"], **STORED)
def plan_next_version(request: RefreshRequest, settings: RunSettings) -> Refresh:
    """Sort the tasks by their rollouts, and plan what replaces the retired ones."""
    return plan_refresh(request, settings)


@task(name="report refresh", tags=["report"], **STORED)
def report_refresh(refresh: Refresh) -> None:
    """Keep the plan as an artifact: what stays, what is retired, solve rates and the mix."""
    rates = [f"- {band}: {rate:.2f}" for band, rate in refresh.rates.items()]
    retired = [f"- `{task_id}`" for task_id in refresh.retired] or ["- none"]
    lines = [refresh.message, "", "Solve rates by band:", "", *rates, "", "Retired:", "", *retired]
    dataset = refresh.release.rpartition("/")[2].partition("@")[0]
    create_markdown_artifact("\n".join(lines), key=f"{dataset}-refresh", description="Tasks that stay and are retired")


@task(name="keep tasks", tags=["store"], **STORED)
def keep_frontier(refresh: Refresh, request: RefreshRequest) -> KeptTasks:
    """Store the tasks that stay for the next version."""
    kept = keep_for_next(refresh)
    return KeptTasks(version=refresh.version, shards=kept, tasks=len(refresh.kept), rollouts=request.rollouts)
