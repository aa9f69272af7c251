"""The demo's recordings answer what the demo asks: ten drafts in domains that the grammar does not have."""

import json
import shlex

import pytest

from sandmill.check import load_suites
from sandmill.cli.arguments import parse_models
from sandmill.kinds.library import load_domains
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.designing import design_round
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import plan_round
from tests.designs import bundled_seeds
from tests.llm_record import DEMO, NOTE, REQUEST, SOURCE
from tests.releases import REPOSITORY

HINT = "Prompts, seeds or the demo's plan have changed: python -m tests.llm_record"


def _make_command() -> list[str]:
    lines = (REPOSITORY / "Makefile").read_text().partition("\ndemo-llm:")[2].partition("\n\n")[0]
    return shlex.split(lines.replace("\\\n", " ").partition("flows.build_release")[2])


def test_the_makefile_asks_for_what_was_recorded():
    request, settings = parse_models(_make_command(), "x", "x", "x", BuildRequest, RunSettings)
    assert request == REQUEST
    assert REPOSITORY / settings.replay == DEMO


def test_every_recording_says_that_it_was_written_by_hand():
    replies = [json.loads(path.read_text(encoding="utf-8")) for path in DEMO.rglob("*.json")]
    assert len(replies) >= 3 * REQUEST.tasks
    assert {(reply["note"], reply["reply"]["source"]) for reply in replies} == {(NOTE, SOURCE)}


def test_the_demo_replays_into_ten_new_domains(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = RunSettings(root=str(tmp_path), replay=str(DEMO))
    plan = plan_build(REQUEST, bundled_seeds())
    pending = plan_round(plan, [], settings, load_suites(REPOSITORY / "expectations"))
    try:
        (shard,) = design_round(plan, pending, [], settings)
    except Exception as error:  # noqa: BLE001
        pytest.fail(f"{HINT}\n{error}")
    assert shard.refusals == ()
    domains = {slot.draft.domain.name if slot.draft else slot.world.name for slot in shard.slots}
    assert len(domains) == 10
    assert not domains & {domain.name for domain in load_domains()}
    assert {slot.authorship.source for slot in shard.slots} == {SOURCE}
