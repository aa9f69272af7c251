"""A build whose money ends midway: it stops asking, publishes what is finished and says why it is short."""

import os
import subprocess
import sys

import pytest

import sandmill
from tests.llm_playbook import Playbook
from tests.llm_server import serve
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MAX_USD = 0.11
ASKED = 12


def test_a_build_that_runs_out_of_money_publishes_what_is_finished(tmp_path):
    with serve(Playbook().serve) as server:
        asked = ["--name", "short", "--tasks", str(ASKED), "--designer", "llm", "--model", "openai/first"]
        money = ["--max-usd", str(MAX_USD), "--price", "input=1.0,output=10.0"]
        how = ["--api-base", server.base, "--root", str(tmp_path), "--llm-calls", "1"]
        ran = subprocess.run(
            [sys.executable, "-m", "flows.build_release", *asked, *money, *how],
            cwd=REPOSITORY,
            env={**os.environ, "OPENAI_API_KEY": "none"},
            capture_output=True,
            text=True,
            check=False,
        )
        received = len(server.received)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said
    release = sandmill.load(str(tmp_path / "short"))
    assert 0 < release.manifest.tasks < ASKED
    assert 0 < received < 5 * ASKED
    assert f"Slots that stayed empty: {ASKED - release.manifest.tasks}" in said
    assert "design max_usd" in said
