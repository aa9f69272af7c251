import json
import subprocess
import sys

import pytest

HEAVY = {
    "prefect",
    "great_expectations",
    "sklearn",
    "litellm",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "s3fs",
    "scipy",
}


def _loaded(*steps: str) -> list[set[str]]:
    """Run the steps one after another in one process, and return what is loaded after each."""
    shown = "; import sys, json; print(json.dumps(sorted(sys.modules)))"
    code = "\n".join(step + shown for step in steps)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [{name.partition(".")[0] for name in json.loads(line)} for line in ran.stdout.splitlines()]


def test_public_names_load_no_more_than_they_need():
    first, writing, scoring, loading = _loaded(
        "import sandmill",
        "sandmill.prompt; sandmill.RunLimits",
        "sandmill.score; sandmill.Feedback",
        "sandmill.load; sandmill.Release",
    )
    assert first & (HEAVY | {"numpy", "pydantic", "typer"}) == set()
    assert writing & (HEAVY | {"numpy"}) == set()
    assert scoring & HEAVY == set()
    assert loading & (HEAVY - {"pyarrow"}) == set()


def test_the_command_line_starts_without_anything_heavy():
    for loaded in _loaded("import sandmill.cli.app", "from sandmill.cli.app import _load_command as c; c('pull')"):
        assert loaded & HEAVY == set()


def test_the_public_names_are_there():
    import sandmill
    from sandmill.models.run import RunLimits
    from sandmill.play.feedback import Feedback
    from sandmill.play.prompt import prompt
    from sandmill.play.release import Release, load, open_task
    from sandmill.play.score import score
    from sandmill.play.task import EpisodeTask
    from sandmill.sandbox.remote import RemoteSandbox
    from sandmill.sandbox.sandbox import AsyncSandbox, Sandbox

    assert (sandmill.load, sandmill.Release, sandmill.open_task) == (load, Release, open_task)
    assert sandmill.EpisodeTask is EpisodeTask
    assert (sandmill.Sandbox, sandmill.AsyncSandbox) == (Sandbox, AsyncSandbox)
    assert sandmill.RemoteSandbox is RemoteSandbox
    assert (sandmill.prompt, sandmill.score, sandmill.Feedback) == (prompt, score, Feedback)
    assert sandmill.RunLimits is RunLimits
    assert sandmill.__version__.count(".") == 2
    assert set(sandmill.__all__) <= set(dir(sandmill))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sandmill.nothing  # noqa: B018
