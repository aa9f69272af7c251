"""Rollouts in, the next version of a curriculum out. Run from the root: python -m flows.refresh_curriculum --help."""

import sys

from prefect import flow

from flows.build_release import fill_and_publish
from sandmill.models.request import RefreshRequest, RunSettings
from tasks.operations import keep_frontier, plan_next_version, report_refresh
from tasks.parameters import RefreshOf, Settings
from tasks.programs import run_flow
from tasks.publishing import completed_state

PROGRAMME = "python -m flows.refresh_curriculum"
EXAMPLES = f"""{PROGRAMME} --release releases/micro --rollouts rollouts/step-100
{PROGRAMME} --release s3://bucket/releases/micro --rollouts s3://bucket/rollouts/step-100 --target 0.4"""


@flow(name="refresh-curriculum", flow_run_name="{request.release}")
def refresh_curriculum(request: RefreshOf, settings: Settings = RunSettings()) -> str:  # noqa: B008
    """Retire tasks solved always or never, keep the others, build new ones at the frontier, publish."""
    refresh = plan_next_version(request, settings)
    report_refresh(refresh)
    if refresh.plan is None:
        return completed_state(refresh.message, refresh.release)
    return fill_and_publish(refresh.plan, refresh.settings, keep_frontier(refresh, request))


if __name__ == "__main__":
    sys.exit(run_flow(refresh_curriculum, PROGRAMME, EXAMPLES, RefreshRequest, RunSettings))
