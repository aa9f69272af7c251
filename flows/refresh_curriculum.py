"""Rollouts in, the next version of a curriculum out. Run from the root: python -m flows.refresh_curriculum --help."""

import sys

from prefect import flow
from prefect.exceptions import CancelledRun

from sandmill.cli.arguments import run_program
from sandmill.models.plan import ShardRef
from sandmill.models.request import RefreshRequest, RunSettings
from tasks.building import draft_designs, fill_shard, plan_next_round
from tasks.killed_runs import end_server_with_this_process, mark_killed_runs_as_crashed
from tasks.lineage import lineage_events
from tasks.operations import keep_frontier, plan_next_version, report_refresh, unchanged_state
from tasks.parameters import RefreshOf, Settings
from tasks.progress import ENDINGS, show_progress
from tasks.publishing import cancelled_state, completed_state, is_cancelled, name_run_after_version, publish_version
from tasks.reporting import report_release
from tasks.runners import open_runner

PROGRAMME = "python -m flows.refresh_curriculum"
EXAMPLES = f"""{PROGRAMME} --release releases/micro --rollouts rollouts/step-100
{PROGRAMME} --release s3://bucket/releases/micro --rollouts s3://bucket/rollouts/step-100 --target 0.4"""


@flow(
    name="refresh-curriculum",
    flow_run_name="{request.release}",
    **ENDINGS,
)
def refresh_curriculum(request: RefreshOf, settings: Settings = RunSettings()) -> str:  # noqa: B008
    """Retire tasks solved always or never, keep the others, build new ones at the frontier, publish."""
    mark_killed_runs_as_crashed()
    with lineage_events(request.release, settings.lineage_to, request.rollouts) as lineage:
        refresh = plan_next_version(request, settings)
        lineage.read_release(refresh.release)
        report_refresh(refresh)
        if refresh.plan is None:
            return unchanged_state(refresh)
        plan, settings, shards = refresh.plan, refresh.settings, list[ShardRef]()
        with open_runner(settings) as runner, show_progress(plan, settings):
            while pending := plan_next_round(plan, shards, settings):
                if plan.request.designer == "llm":
                    pending = draft_designs(plan, pending, shards, settings)
                shards += runner.fill(fill_shard, pending, settings)
        if is_cancelled():
            lineage.was_cancelled()
            return cancelled_state()
        report_release(plan, shards, settings)
        publication = publish_version(plan, shards, settings, keep_frontier(refresh))
        name_run_after_version(publication)
        lineage.wrote_release(publication.reference)
        return completed_state(publication)


def _refresh(request: RefreshRequest, settings: RunSettings) -> None:
    end_server_with_this_process()
    state = refresh_curriculum(request, settings, return_state=True)
    state.result()
    print(state.message)


def main() -> int:
    """Refresh from the command line."""
    description, models = refresh_curriculum.__doc__ or "", (RefreshRequest, RunSettings)
    return run_program(_refresh, PROGRAMME, description, EXAMPLES, *models, stops=(CancelledRun,))


if __name__ == "__main__":
    sys.exit(main())
