import os
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml
from prefect.cli.deploy._models import (
    ConcurrencyLimitSpec,
    DeploymentConfig,
    PrefectYamlModel,
    RawScheduleConfig,
    WorkPoolConfig,
)
from prefect.client.schemas.schedules import CronSchedule
from prefect.events.schemas.deployment_triggers import DeploymentEventTrigger
from prefect.flows import load_flow_from_entrypoint
from prefect.utilities.schema_tools.validation import validate

from sandmill.kinds.table import TABLE
from sandmill.models.kind import kind_named
from sandmill.models.request import AuditRequest, BuildRequest, RefreshRequest, RunSettings
from sandmill.pipeline.plan import plan_build, plan_slots
from tests.designs import bundled_seeds
from tests.releases import REPOSITORY

TEXT = (REPOSITORY / "prefect.yaml").read_text()
RAW: dict[str, Any] = yaml.safe_load(TEXT)
DEPLOYMENTS: dict[str, dict[str, Any]] = {raw["name"]: raw for raw in RAW["deployments"]}

REQUESTS = {"build-release": BuildRequest, "audit-release": AuditRequest, "refresh-curriculum": RefreshRequest}

deployed = pytest.mark.parametrize("raw", DEPLOYMENTS.values(), ids=DEPLOYMENTS)


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def test_the_file_says_nothing_that_prefect_would_silently_ignore():
    PrefectYamlModel.model_validate(RAW)
    assert RAW.keys() <= PrefectYamlModel.model_fields.keys() | {"prefect-version", "definitions"}
    for raw in DEPLOYMENTS.values():
        assert raw.keys() <= DeploymentConfig.model_fields.keys()
        assert raw["work_pool"].keys() <= WorkPoolConfig.model_fields.keys()
        assert raw.get("concurrency_limit", {}).keys() <= ConcurrencyLimitSpec.model_fields.keys()
        assert all(schedule.keys() <= RawScheduleConfig.model_fields.keys() for schedule in raw.get("schedules", ()))


@deployed
def test_the_entrypoint_is_a_path_from_the_root_that_prefect_loads(raw):
    path, _, name = raw["entrypoint"].partition(":")
    assert (REPOSITORY / path).is_file()
    assert load_flow_from_entrypoint(raw["entrypoint"]).fn.__name__ == name


@deployed
def test_the_parameters_are_what_the_flow_takes(raw):
    flow = load_flow_from_entrypoint(raw["entrypoint"])
    assert validate(raw["parameters"], flow.parameters.model_dump()) == []
    taken = flow.validate_parameters(raw["parameters"])
    assert type(taken["request"]) is REQUESTS[flow.name]
    assert type(taken.get("settings", RunSettings())) is RunSettings
    assert "workers" not in raw["parameters"].get("settings", {}), "the worker says how many processes there are"


def test_the_demo_is_the_one_of_the_makefile():
    request = BuildRequest.model_validate(DEPLOYMENTS["demo"]["parameters"]["request"])
    assert (request.name, request.tasks, request.seed) == ("micro", 24, 7)
    makefile = (REPOSITORY / "Makefile").read_text()
    kinds = makefile.split("DEMO_KINDS := ")[1].splitlines()[0]
    assert request.kinds == {name: float(share) for name, share in (part.split("=") for part in kinds.split(","))}
    assert f"--name {request.name} --tasks $(DEMO_TASKS) --seed {request.seed}" in makefile
    assert f"\nDEMO_TASKS ?= {request.tasks}\n" in makefile
    assert "schedules" not in DEPLOYMENTS["demo"]


def test_the_texts_name_the_number_of_tasks_and_kinds_that_the_demo_makes():
    request = BuildRequest.model_validate(DEPLOYMENTS["demo"]["parameters"]["request"])
    slots = plan_slots(plan_build(request, bundled_seeds()))
    kinds = {kind_named(slot.seed.structure.kind or TABLE.name).name for slot in slots}
    for name in ("README.md", "Makefile", "prefect.yaml", "docs/operating.md"):
        said = re.findall(r"(\d+) (?:verified )?tasks of (\d+) kinds", (REPOSITORY / name).read_text())
        assert said == [(str(len(slots)), str(len(kinds)))], name


@pytest.mark.slow
@pytest.mark.parametrize("own", [None, "elsewhere"])
def test_prefect_keeps_its_files_in_the_clone_unless_the_operator_names_a_place(own, tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    home = str(tmp_path / own) if own else str(REPOSITORY / ".prefect")
    code = "import flows; from prefect.settings import PREFECT_HOME; print(PREFECT_HOME.value())"
    environment |= {"PREFECT_HOME": home} if own else {}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == home
    assert "export PREFECT_HOME ?= $(CURDIR)/.prefect" in (REPOSITORY / "Makefile").read_text()
    assert "/.prefect/" in (REPOSITORY / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize("name", ["refresh-curriculum", "weekly-audit"])
def test_every_field_of_a_run_form_is_typed_and_described(name):
    schema = load_flow_from_entrypoint(DEPLOYMENTS[name]["entrypoint"]).parameters.model_dump()
    definitions = schema["definitions"]
    assert definitions
    for model in definitions.values():
        for field, facts in model.get("properties", {}).items():
            assert facts.get("description"), field
            assert facts.keys() & {"type", "anyOf", "allOf", "$ref"}, field


def test_what_looks_after_nightly_releases_looks_at_the_dataset_that_they_make():
    nightly = DEPLOYMENTS["nightly-release"]["parameters"]
    made = f"{nightly['settings']['root']}/{nightly['request']['name']}"
    assert DEPLOYMENTS["weekly-audit"]["parameters"]["request"]["release"] == made


def test_triggers_are_off_until_an_operator_switches_them_on():
    triggers = {name: raw["triggers"] for name, raw in DEPLOYMENTS.items() if "triggers" in raw}
    assert triggers.keys() == {"weekly-audit", "refresh-curriculum"}
    for (trigger,) in triggers.values():
        assert DeploymentEventTrigger.model_validate(trigger).enabled is False
    assert DEPLOYMENTS["refresh-curriculum"]["concurrency_limit"] == {"limit": 1, "collision_strategy": "CANCEL_NEW"}


@pytest.mark.parametrize("name", ["nightly-release", "weekly-audit"])
def test_what_is_scheduled_waits_for_an_operator_and_never_runs_twice_at_once(name):
    nightly = DEPLOYMENTS[name]
    (schedule,) = nightly["schedules"]
    assert CronSchedule(cron=schedule["cron"], timezone=schedule["timezone"]).timezone == "UTC"
    assert schedule["active"] is False
    assert nightly["concurrency_limit"]["limit"] == 1
