"""Ordinary scripts give the same results with and without isolation."""

import pytest

from sandmill.models.reports import Outcome
from tests.sandbox_corpus import OK, OTHER


@pytest.mark.parametrize("name", OK)
def test_an_honest_script_succeeds_in_a_warm_run(name, warm, public, tmp_path):
    result = warm.run(OK[name], public=public, scratch=tmp_path, timeout=60)
    assert result.outcome is Outcome.OK, (result.detail, result.stderr)
    assert result.submission == (tmp_path / "submission.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OK, *OTHER])
def test_an_honest_script_does_the_same_everywhere(name, open_box, public):
    code = OK[name] if name in OK else OTHER[name][0]
    timeout = 5 if "slow" in name else 60
    results = {
        backend: open_box(backend).run(code, public=public, timeout=timeout)
        for backend in ("subprocess", "warm", "warm without root")
    }
    assert len({(result.outcome, result.submission) for result in results.values()}) == 1, results
