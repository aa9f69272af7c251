import json

import pytest
from pydantic import ValidationError

from sandmill.models.request import BuildRequest, RunSettings
from sandmill.publish.certificate import certificate_problems
from sandmill.schemas import MODELS, schema_files
from sandmill.store.release import load
from tests.releases import REPOSITORY

FOLDER = REPOSITORY / "schemas"


def test_the_contracts_in_the_repository_are_those_of_the_code():
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert kept == schema_files(), "schemas/ does not say what the code says. Write it again with: make schemas"


def test_every_model_and_every_table_has_a_contract():
    names = set(schema_files())
    assert len(MODELS) == len([name for name in names if name.endswith(".v1.json")]) == 11
    tables = {"public_tasks", "private_tasks"}
    tables |= {"files", "rejections", "slots", "durations", "rollouts"}
    assert {name.partition(".")[0] for name in names if name.endswith(".arrow.txt")} == tables


def test_what_a_machine_happens_to_have_is_in_no_contract():
    workers = json.loads(schema_files()["run_settings.v1.json"])["properties"]["workers"]
    assert "default" not in workers
    assert RunSettings().workers >= 1


def test_a_contract_refuses_what_its_model_refuses():
    from jsonschema import validate
    from jsonschema.exceptions import ValidationError as SchemaError

    schema = json.loads((FOLDER / "build_request.v1.json").read_text())
    validate({"name": "micro", "tasks": 12}, schema)
    for wrong in ({"name": "Micro"}, {"name": "micro", "tasks": 0}, {"name": "micro", "task": 1}):
        with pytest.raises(SchemaError):
            validate(wrong, schema)
        with pytest.raises(ValidationError):
            BuildRequest.model_validate(wrong)


@pytest.mark.slow
def test_a_real_release_keeps_the_contracts(small_release):
    from jsonschema import validate

    release = load(small_release)
    validate(release.manifest.model_dump(mode="json"), json.loads((FOLDER / "manifest.v1.json").read_text()))
    certificate = json.loads(release.store.read(f"{release.version}/qc.json"))
    validate(certificate, json.loads((FOLDER / "certificate.v1.json").read_text()))
    assert certificate_problems(release, public_only=False, public_key=None) == []
    assert all(row["cpu_s_p99"] > 0 for row in release.durations())
    assert [row["task_id"] for row in release.durations()] == list(release.task_ids)
    for task_id in release.task_ids:
        record = release.record(task_id).model_dump(mode="json")
        validate(record, json.loads((FOLDER / "task_record.v1.json").read_text()))
        task_file = json.loads(release.files("private", task_id)["task.json"])
        validate(task_file, json.loads((FOLDER / "task_file.v1.json").read_text()))
