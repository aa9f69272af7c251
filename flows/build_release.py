"""Seeds in, a published release out. Run from the repository root: python -m flows.build_release --name micro."""

import sys

from prefect import flow

from sandmill.cli.ending import show_ending
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.preflight import check_inputs
from sandmill.pipeline.publishing import KeptTasks
from tasks.building import draft_designs, fill_shard, ingest_seeds, plan_next_round, plan_release
from tasks.parameters import Request, Settings
from tasks.programs import run_flow
from tasks.publishing import (
    cancelled_state,
    completed_state,
    is_cancelled,
    name_run_after_version,
    publish_version,
    report_release,
)
from tasks.runners import open_runner, runner_problems

PROGRAMME = "python -m flows.build_release"
EXAMPLES = f"""{PROGRAMME} --name micro --tasks 12 --seed 7 --root releases
{PROGRAMME} --name mine --tasks 100 --seeds my-seeds/ --mix easy=0.5,hard=0.5 --strict
{PROGRAMME} --name varied --tasks 100 --designer llm --model openai/gpt-4o-mini --max-usd 5"""


@flow(name="build-release", flow_run_name="{request.name}, {request.tasks} tasks")
def build_release(request: Request, settings: Settings = RunSettings()) -> str:  # noqa: B008
    """Ingest, design, generate, calibrate, check, verify, publish. Returns <root>/<dataset>@<version>."""
    return fill_and_publish(plan_release(request, ingest_seeds(request, settings)), settings)


def fill_and_publish(plan: BuildPlan, settings: RunSettings, kept: KeptTasks | None = None) -> str:
    """Fill the slots of a plan, and publish their tasks with those that are kept as the next version."""
    shards: list[ShardRef] = []
    with open_runner(settings) as runner:
        # Empty slots, in shards. sandmill.pipeline.attempt has the steps of one, docs/stages.md their functions.
        while pending := plan_next_round(plan, shards, settings):
            if plan.request.designer == "llm":
                pending = draft_designs(plan, pending, shards, settings)
            shards += runner.fill(fill_shard, pending, settings)
    if is_cancelled():
        return cancelled_state()
    report_release(plan, shards, settings)
    publication = publish_version(plan, shards, settings, kept)
    name_run_after_version(publication)
    return completed_state(publication.message, publication.reference)


def _build(request: BuildRequest, settings: RunSettings) -> None:
    check_inputs(request, settings, runner_problems(settings))
    state = build_release(request, settings, return_state=True)
    show_ending(state.result(), state.message or "")


if __name__ == "__main__":
    sys.exit(run_flow(build_release, PROGRAMME, EXAMPLES, BuildRequest, RunSettings, work=_build))
