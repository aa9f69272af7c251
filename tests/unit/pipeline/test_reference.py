"""Our own scripts run as an agent's code does, or plainly where nothing can isolate them."""

import pytest

from sandmill.errors import Problem
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunResult
from sandmill.verify import verify
from sandmill.verify.verify import describe_ending, trusting_backend

MISSING = (Problem("probe", "nothing", "something"),)


@pytest.mark.parametrize(("lacking", "expected"), [((), "warm"), (("warm",), "subprocess")])
def test_a_backend_that_isolates_is_taken_if_there_is_one(monkeypatch, lacking, expected):
    monkeypatch.setattr(verify, "missing_for", lambda backend: MISSING if backend in lacking else ())
    assert trusting_backend() == expected


def test_an_ending_is_told_with_what_we_and_the_script_have_to_say():
    errors = 'Traceback:\n  File "/opt/env/lib/frame.py", line 3\nno column\n'
    run = RunResult(outcome=Outcome.RUNTIME_ERROR, isolation=Isolation.WARM, detail="exit code 1", stderr=errors)
    assert describe_ending(run) == "runtime_error: exit code 1: no column"
