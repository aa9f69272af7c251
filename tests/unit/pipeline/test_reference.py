"""Our own scripts run as an agent's code does, or plainly where nothing can isolate them."""

from functools import cache

import pytest

from sandmill.errors import LeakyRelease, Problem
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import columns_of
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunResult
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.run import check_guessing
from sandmill.verify import verify
from sandmill.verify.verify import describe_ending, trusting_backend
from tests.designs import make_spec

MISSING = (Problem("probe", "nothing", "something"),)


@pytest.mark.parametrize(("lacking", "expected"), [((), "warm"), (("warm",), "subprocess")])
def test_a_backend_that_isolates_is_taken_if_there_is_one(monkeypatch, lacking, expected):
    monkeypatch.setattr(verify, "missing_for", lambda backend: MISSING if backend in lacking else ())
    assert trusting_backend() == expected


def test_an_ending_is_told_with_what_we_and_the_script_have_to_say():
    errors = 'Traceback:\n  File "/opt/env/lib/frame.py", line 3\nno column\n'
    run = RunResult(outcome=Outcome.RUNTIME_ERROR, isolation=Isolation.WARM, detail="exit code 1", stderr=errors)
    assert describe_ending(run) == "runtime_error: exit code 1: no column"


@cache
def specs() -> list[TaskSpec]:
    return [make_spec(slot=slot, hardness=0.7) for slot in range(60)]


def _rule_columns(mechanism: Mechanism) -> set[str]:
    return {name for term in mechanism.terms for name in columns_of(term.motif)}


def _telling(spec):
    """The same design with meanings that tell the rule's columns from the others."""
    inside = _rule_columns(spec.mechanism)
    meanings = {
        name: f"{text}, as recorded" if name in inside else text for name, text in spec.story.column_meanings.items()
    }
    return spec.model_copy(update={"story": spec.story.model_copy(update={"column_meanings": meanings})})


@pytest.mark.slow
def test_designs_of_the_grammar_tell_nothing():
    assert check_guessing(specs()).verdict == "clean"


@pytest.mark.slow
def test_words_that_tell_the_rule_stop_the_release():
    with pytest.raises(LeakyRelease, match=r"(?s)recorded.*Nothing was published"):
        check_guessing([_telling(spec) for spec in specs()])
