import json

import pytest

from sandmill.cli.doctor import check_agent_env, check_isolation, check_root
from tests.invoking import run


def test_doctor_finds_this_machine_ready(tmp_path):
    ran = run("doctor", "--json", "--root", str(tmp_path))
    found = json.loads(ran.stdout)
    assert found["ready"] is True
    assert ran.exit_code == 0
    wanted = {"sandbox", "agent environment", "root"}
    assert wanted <= {f["what"] for f in found["findings"]}
    assert "Ready." in run("doctor", "--root", str(tmp_path)).stdout


def test_something_bad_ends_with_exit_code_1_and_every_problem_says_what_to_type(tmp_path):
    (tmp_path / "file").write_text("")
    ran = run("doctor", "--json", "--root", str(tmp_path / "file"))
    found = json.loads(ran.stdout)
    assert ran.exit_code == 1
    assert found["ready"] is False
    bad = [f for f in found["findings"] if f["status"] == "bad"]
    assert {f["what"] for f in bad} == {"root"}
    assert all(f["do"] for f in bad)
    assert "Not ready" in run("doctor", "--root", str(tmp_path / "file")).stdout


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
    found = check_isolation()
    assert (found.status, found.do) == ("info", "sysctl x=1")
    assert found.saw == "agents' code is refused: user namespaces: EPERM"


@pytest.mark.slow
@pytest.mark.parametrize("root", ["s3://no-such-bucket-here/releases", "gs://bucket/releases"])
def test_a_root_that_cannot_be_listed_is_bad(s3_root, root):
    found = check_root(root)
    assert (found.status, bool(found.do)) == ("bad", True)
