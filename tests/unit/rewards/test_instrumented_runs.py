"""Instrumented scripts in the real sandbox: published scripts, and scripts as agents write them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.models.reports import Outcome
from sandmill.models.rollout import Marker
from sandmill.models.run import RunResult
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rewards.instrument import instrument
from sandmill.rewards.markers import new_token, read_markers, without_marker_code
from sandmill.sandbox import Sandbox
from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.release import load
from tests.sandbox_corpus import CORPUS
from tests.task_folders import write_task
from tests.unit.sandbox.conftest import make_box

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
SCRIPTS = ("solution.py", "competent.py", "naive.py")


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    create_agent_env()
    with make_box("warm") as opened:
        yield opened


def run_both(box: Sandbox, code: str, public: Path) -> tuple[RunResult, RunResult, tuple[Marker, ...]]:
    """Run a script without and with markers, and take the markers out of the second result."""
    token = new_token()
    marked_code = instrument(code, token)
    assert marked_code != code
    plain, marked = (box.run(text, public=public, timeout=60) for text in (code, marked_code))
    markers, stdout = read_markers(marked.stdout, token)
    stderr = without_marker_code(marked.stderr, token)
    return plain, marked.model_copy(update={"stdout": stdout, "stderr": stderr}), markers


def test_published_scripts_write_the_same_bytes_and_reach_every_milestone(small_release, box, tmp_path):
    load(small_release).pull(tmp_path)
    tasks = sorted(tmp_path.iterdir())
    assert len(tasks) == 2
    for task in tasks:
        for name in SCRIPTS:
            plain, marked, markers = run_both(box, (task / "private" / name).read_text(), task / "public")
            assert plain.outcome is marked.outcome is Outcome.OK, marked
            assert markers == tuple(Marker), name
            for field in ("submission", "stdout", "stderr", "detail"):
                assert getattr(plain, field) == getattr(marked, field), (name, field)


AGENT = (CORPUS / "agent.txt").read_text("utf-8")


@pytest.mark.parametrize("ending", ["print('done')", "raise KeyError('at the end')"])
def test_a_script_of_functions_does_the_same_with_markers(ending, box, tmp_path):
    task = write_task(tmp_path, TargetKind.BINARY, MetricName.ROC_AUC)
    plain, marked, markers = run_both(box, AGENT.replace("{ending}", ending), task / "public")
    assert markers == tuple(Marker)
    assert (marked.outcome, marked.submission, marked.stdout) == (plain.outcome, plain.submission, plain.stdout)
    assert marked.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]


def test_a_script_that_stops_half_way_has_the_markers_up_to_there(box, tmp_path):
    task = write_task(tmp_path, TargetKind.BINARY, MetricName.ROC_AUC)
    code = AGENT.replace("model.fit(X.iloc[a], y.iloc[a])", "model.fit(X.iloc[a], None)").replace("{ending}", "")
    plain, marked, markers = run_both(box, code, task / "public")
    assert plain.outcome is marked.outcome is Outcome.RUNTIME_ERROR
    assert markers == (Marker.IMPORTS, Marker.DATA_LOADED, Marker.FEATURES, Marker.MODEL_BUILT)
    assert [line for line in marked.stderr.splitlines() if "solution.py" in line] == [
        line for line in plain.stderr.splitlines() if "solution.py" in line
    ]
