"""SandMLE's evaluator.py against the server of `sandmill serve`, over real HTTP."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandmill.export.export import export
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.publishing import publish_numbers

servers = pytest.importorskip("tests.servers", reason="the server is not in this tree")


@pytest.fixture
def public(tmp_path) -> Path:
    """Public folder of the only task of a release, exported for SandMLE. The release is beside it."""
    publish_numbers(Store(str(tmp_path / "micro")), range(1))
    release = load(tmp_path / "micro")
    export(release, "sandmle", tmp_path / "out")
    return tmp_path / "out" / release.task_ids[0] / "prepared" / "public"


def evaluate(public: Path, submission: Path, port: int, token: str) -> subprocess.CompletedProcess[str]:
    token_file = submission.with_name("token")
    token_file.write_text(token)
    settings = {"SANDMILL_SERVER": f"http://127.0.0.1:{port}", "SANDMILL_TOKEN_FILE": str(token_file)}
    command = [sys.executable, "evaluator.py", "--submission_path", str(submission)]
    environment = {**os.environ, **settings}
    return subprocess.run(command, cwd=public, env=environment, capture_output=True, text=True, check=False)


def test_the_evaluator_gets_its_grade_from_a_real_server(public, tmp_path):
    submission, sites = tmp_path / "submission.csv", servers.Sites(tmp_path)
    try:
        site = sites.open(tmp_path / "micro")
        submission.write_bytes((public / "sample_submission.csv").read_bytes().replace(b"f0,0.5", b"f0,0.9"))
        done = evaluate(public, submission, site.port, servers.TOKEN)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == {
            "score": 1.0,
            "is_lower_better": False,
            "gold_threshold": 0.85,
            "silver_threshold": 0.82,
            "bronze_threshold": 0.8,
            "median_threshold": 0.75,
        }
        refused = evaluate(public, submission, site.port, "another-token-of-the-tests")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "status 401" in refused.stderr
        submission.write_text("id,late\nc0,0.5\n")
        invalid = evaluate(public, submission, site.port, servers.TOKEN)
        assert (invalid.returncode, invalid.stdout) == (1, "")
        assert invalid.stderr == "ids: saw 3 missing (d0, e0, f0); expected all 4 ids of the sample submission.\n"
        assert "Traceback" not in invalid.stderr
    finally:
        sites.close()
