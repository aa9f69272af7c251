"""Seeds in, a published release out. Run from the repository root: python -m flows.build_release --name micro."""

import sys

from prefect import flow
from prefect.exceptions import CancelledRun

from sandmill.cli.arguments import run_program
from sandmill.cli.ending import show_ending, show_preview
from sandmill.models.plan import ShardRef
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.preflight import check_inputs
from sandmill.pipeline.preview import preview_build
from tasks.building import draft_designs, fill_shard, ingest_seeds, plan_next_round, plan_release
from tasks.killed_runs import end_server_with_this_process, mark_killed_runs_as_crashed
from tasks.lineage import lineage_events
from tasks.parameters import Request, Settings
from tasks.progress import ENDINGS, show_progress
from tasks.publishing import cancelled_state, completed_state, is_cancelled, name_run_after_version, publish_version
from tasks.reporting import report_release
from tasks.runners import open_runner, runner_problems

PROGRAMME = "python -m flows.build_release"
EXAMPLES = f"""{PROGRAMME} --name micro --tasks 12 --seed 7 --root releases
{PROGRAMME} --name mine --tasks 100 --seeds my-seeds/ --mix easy=0.5,hard=0.5 --strict
{PROGRAMME} --name varied --tasks 100 --designer llm --model openai/gpt-4o-mini --preview 3"""


@flow(
    name="build-release",
    flow_run_name="{request.name}, {request.tasks} tasks",
    **ENDINGS,
)
def build_release(request: Request, settings: Settings = RunSettings()) -> str:  # noqa: B008
    """Ingest, design, generate, calibrate, check, verify, publish. Returns <root>/<dataset>@<version>."""
    mark_killed_runs_as_crashed()
    with lineage_events(request.name, settings.lineage_to, request.seeds) as lineage:
        plan = plan_release(request, ingest_seeds(request, settings))
        lineage.read_seeds(plan.seeds)
        shards: list[ShardRef] = []
        with open_runner(settings) as runner, show_progress(plan, settings):
            # Empty slots, in shards. sandmill.pipeline.attempt has the steps of one, docs/stages.md their functions.
            while pending := plan_next_round(plan, shards, settings):
                if request.designer == "llm":
                    pending = draft_designs(plan, pending, shards, settings)
                shards += runner.fill(fill_shard, pending, settings)
        if is_cancelled():
            lineage.was_cancelled()
            return cancelled_state()
        report_release(plan, shards, settings)
        publication = publish_version(plan, shards, settings)
        name_run_after_version(publication)
        lineage.wrote_release(publication.reference)
        return completed_state(publication)


def _build(request: BuildRequest, settings: RunSettings) -> None:
    end_server_with_this_process()
    check_inputs(request, settings, runner_problems(settings))
    if settings.preview:
        show_preview(preview_build(request, settings))
        return
    state = build_release(request, settings, return_state=True)
    show_ending(state.result(), state.message or "")


def main() -> int:
    """Build from the command line and show what was made."""
    description, models = build_release.__doc__ or "", (BuildRequest, RunSettings)
    return run_program(_build, PROGRAMME, description, EXAMPLES, *models, stops=(CancelledRun,))


if __name__ == "__main__":
    sys.exit(main())
