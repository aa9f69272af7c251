import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.flows import load_flow_from_entrypoint

from sandmill.cli import doctor
from sandmill.cli.doctor import (
    PROBE,
    check_agent_env,
    check_isolation,
    check_python,
    check_requirement,
    check_root,
    check_server,
)
from sandmill.store.bucket import BucketFiles
from sandmill.store.files import AccessDenied, Store
from tests.publishing import publish_numbers
from tests.releases import REPOSITORY
from tests.unit.cli.invoking import run


@pytest.fixture(autouse=True)
def no_server(monkeypatch):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)


def status(checks, what):
    (found,) = [check for check in checks if check.what == what]
    return found.status, found.saw, found.do


def test_doctor_finds_this_machine_ready(tmp_path):
    ran = run("doctor", "--json", "--root", str(tmp_path))
    found = json.loads(ran.stdout)
    assert found["ready"] is True
    assert ran.exit_code == 0
    wanted = {"python", "pydantic", "sandbox in use", "agent environment", "root", "Prefect server"}
    assert wanted <= {f["what"] for f in found["findings"]}
    assert "Ready." in run("doctor", "--root", str(tmp_path)).stdout


def test_something_bad_ends_with_exit_code_1_and_every_problem_says_what_to_type(tmp_path, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", "127.0.0.1:4200")
    (tmp_path / "file").write_text("")
    ran = run("doctor", "--json", "--root", str(tmp_path / "file"))
    found = json.loads(ran.stdout)
    assert ran.exit_code == 1
    assert found["ready"] is False
    bad = [f for f in found["findings"] if f["status"] == "bad"]
    assert {f["what"] for f in bad} == {"root", "Prefect server"}
    assert all(f["do"] for f in bad)
    assert "Not ready" in run("doctor", "--root", str(tmp_path / "file")).stdout


def test_versions_are_compared_as_numbers():
    def result(line, extra=""):
        return getattr(check_requirement(line, extra), "status", None)

    assert result("pydantic>=2.7") == "ok"
    assert result("pydantic>=2.100000") == "bad"
    assert result("pydantic<2.9,>=2.7") == "bad"
    assert result("no-such-package-here>=1") == "bad"
    assert result("sqlalchemy[asyncio]<2.1,>=2.0.40; extra == 'pipeline'", "pipeline") == "ok"
    assert result("sqlalchemy[asyncio]<2.0.4; extra == 'pipeline'", "pipeline") == "bad"
    assert result("sqlalchemy<2; extra == 'pipeline'") is None
    assert result("pytest>=9; extra == 'dev'") is None


def test_a_version_above_a_cap_names_what_breaks_silently(monkeypatch):
    monkeypatch.setattr(doctor, "version", {"prefect": "3.8.8", "sqlalchemy": "2.1.0", "fastapi": "0.151.2"}.get)
    lines = [
        "prefect>=3.8.8,<3.9; extra == 'pipeline'",
        "sqlalchemy<2.1; extra == 'pipeline'",
        "fastapi<0.151; extra == 'pipeline'",
    ]
    monkeypatch.setattr(doctor, "requires", lambda _: lines)
    found = list(doctor.check_pipeline())
    _, saw, do = status(found, "pipeline: sqlalchemy")
    assert "2.1.0" in saw
    assert "schedules never fire" in saw
    assert "pip install -c constraints.txt" in do
    assert "does not start" in status(found, "pipeline: fastapi")[1]
    assert [check.what for check in found] == ["pipeline: sqlalchemy", "pipeline: fastapi"]


def test_an_old_python_is_bad(monkeypatch):
    monkeypatch.setattr(doctor.platform, "python_version", lambda: "3.10.14")
    assert check_python().status == "bad"


def test_an_agent_environment_of_other_pins_is_named_with_the_command_that_replaces_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "none"))
    assert "none in" in check_agent_env().saw
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "sandmill-agent-env.json").write_text(
        json.dumps({"pins": "0" * 64, "python": "3.11.0", "base_prefix": "/usr", "packages": {}})
    )
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "old"))
    found = check_agent_env()
    assert (found.status, found.do) == ("info", f"rm -r {tmp_path / 'old'} && sandmill agent-env create")
    assert "other pins" in found.saw


def test_a_machine_without_isolation_says_that_code_is_refused(monkeypatch):
    from sandmill.errors import Problem
    from sandmill.sandbox import sandbox as backends

    broken = backends.Capability(False, (Problem("user namespaces", "EPERM", "Linux", "sysctl x=1"),))
    monkeypatch.setattr(backends, "probe", lambda: broken)
    found = list(check_isolation())
    assert status(found, "sandbox: warm") == ("info", "user namespaces: EPERM", "sysctl x=1")
    assert "refused" in status(found, "sandbox in use")[1]


def test_too_little_disk_is_bad(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_DISK_FLOOR_GB", 1e9)
    found = list(doctor.check_disk(str(tmp_path / "not" / "yet")))
    assert {check.status for check in found} == {"bad"}
    assert str(tmp_path) in found[0].saw


def test_a_root_in_a_bucket_is_checked_and_left_as_it_was(s3_root, tmp_path):
    root = f"{s3_root}/{tmp_path.name}"
    found = list(check_root(root))
    assert status(found, "S3 conditional writes")[:2] == ("ok", "honoured")
    assert status(found, "datasets")[0] == "info"
    assert Store(root).list() == []
    publish_numbers(Store(f"{root}/micro"), range(1))
    before = Store(root).list()
    saw = status(check_root(root), "dataset micro")[1]
    assert "private half too" in saw
    assert Store(root).list() == before


def test_a_server_that_ignores_conditional_writes_is_bad(s3_root, tmp_path, monkeypatch):
    root = f"{s3_root}/{tmp_path.name}"
    monkeypatch.setattr(
        BucketFiles, "_put_if_none", lambda files, path, content: (files.write(path, content, False) is None, False)
    )
    found, saw, _ = status(check_root(root), "S3 conditional writes")
    assert found == "bad"
    assert "If-None-Match" in saw
    assert Store(root).list() == []


def test_credentials_for_the_public_half_alone_are_recognised(s3_root, tmp_path, monkeypatch):
    root = f"{s3_root}/{tmp_path.name}"
    publish_numbers(Store(f"{root}/micro"), range(1))
    real = BucketFiles._range

    def guarded(files, path, start, end):
        if "/private/" in path:
            raise AccessDenied("denied")
        return real(files, path, start, end)

    def denied(*_):
        raise AccessDenied("denied")

    monkeypatch.setattr(BucketFiles, "_range", guarded)
    monkeypatch.setattr(BucketFiles, "create", denied)
    found = list(check_root(root))
    assert "private half not" in status(found, "dataset micro")[1]
    assert status(found, "S3 conditional writes")[0] == "info"


@pytest.mark.parametrize("root", ["s3://no-such-bucket-here/releases", "gs://bucket/releases"])
def test_a_root_that_cannot_be_listed_is_bad(s3_root, root):
    found = list(check_root(root))
    assert [check.status for check in found] == ["bad"]
    assert found[0].do


def test_an_endpoint_that_does_not_answer_is_found_at_once(s3_root, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert status(check_root("s3://bucket/releases"), "S3 endpoint")[0] == "bad"


ANSWERS: dict[str, Any] = {
    "admin/version": version("prefect"),
    "work_pools/sandmill": {"name": "sandmill", "is_paused": False},
    "work_pools/sandmill/workers/filter": [{"status": "ONLINE"}, {"status": "OFFLINE"}],
    "deployments/filter": [
        {"id": "1", "flow_id": "b", "name": "nightly-release", "paused": False, "schedules": [{"active": True}]},
        {"id": "2", "flow_id": "a", "name": "weekly-audit", "paused": False, "schedules": [{"active": False}]},
        {"id": "3", "flow_id": "b", "name": "demo", "paused": False, "schedules": []},
    ],
    "flows/filter": [{"id": "a", "name": "audit-release"}, {"id": "b", "name": "build-release"}],
    "flow_runs/count": 3,
}
"""What a healthy server answers, by path."""

Serve = Callable[..., None]


@pytest.fixture
def serve(monkeypatch) -> Iterator[Serve]:
    """Start a server that gives the answers of a healthy one, but for those that the test changes."""
    answers = dict(ANSWERS)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path.removeprefix("/api/"), 404)
            is_status = isinstance(answer, int) and answer >= 400
            self.send_response(answer if is_status else 200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{server.server_port}/api")
    yield answers.update
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_healthy_server_is_ok_and_schedules_are_listed(serve):
    found = list(check_server("sandmill"))
    assert {check.what: check.status for check in found} == {
        "Prefect server": "ok",
        "work pool sandmill": "ok",
        "schedule of build-release/nightly-release": "ok",
        "schedules off": "info",
    }
    _, name, command = status(found, "schedules off")
    assert name == "audit-release/weekly-audit"
    assert f"schedule ls {name}, then prefect deployment schedule resume {name} ID" in command


def test_the_names_of_deployments_with_schedules_are_those_of_the_file(serve):
    declared = yaml.safe_load((REPOSITORY / "prefect.yaml").read_text())["deployments"]
    flows = {raw["entrypoint"]: load_flow_from_entrypoint(str(REPOSITORY / raw["entrypoint"])).name for raw in declared}
    off = [{"active": False}]
    deployments = [
        {
            "id": raw["name"],
            "flow_id": raw["entrypoint"],
            "name": raw["name"],
            "schedules": off if "schedules" in raw else [],
        }
        for raw in declared
    ]
    serve({"deployments/filter": deployments, "flows/filter": [{"id": i, "name": name} for i, name in flows.items()]})
    names = status(check_server("sandmill"), "schedules off")[1]
    assert names == "audit-release/weekly-audit, build-release/nightly-release"


@pytest.mark.parametrize(
    ("answers", "what", "expected", "do"),
    [
        ({"admin/version": "3.7.0"}, "Prefect server", "bad", "pip install 'prefect==3.7.0'"),
        ({"admin/version": 401}, "Prefect server", "info", "prefect config view"),
        ({"admin/version": 500}, "Prefect server", "bad", "make serve"),
        ({"work_pools/sandmill": 404}, "work pool sandmill", "info", "make deploy"),
        ({"work_pools/sandmill": {"is_paused": True}}, "work pool sandmill", "info", "work-pool resume sandmill"),
        ({"work_pools/sandmill/workers/filter": [{"status": "OFFLINE"}]}, "work pool sandmill", "bad", "make worker"),
        ({"flow_runs/count": 0}, "schedule of build-release/nightly-release", "bad", "sqlalchemy[asyncio]<2.1"),
        ({"deployments/filter": []}, "schedules", "info", "make deploy"),
    ],
)
def test_what_is_wrong_with_a_server_is_named_with_the_command_that_mends_it(serve, answers, what, expected, do):
    serve(answers)
    found, _, command = status(check_server("sandmill"), what)
    assert found == expected
    assert do in command


def test_a_server_that_does_not_answer_is_bad(monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert status(check_server("sandmill"), "Prefect server")[0] == "bad"


def test_the_probe_lies_where_no_dataset_can_be():
    from sandmill.store.catalogue import _MARKS

    assert Path(PROBE).parts[0] not in _MARKS
