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


def _loaded(code: str) -> set[str]:
    listing = f"{code}; import sys, json; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(ran.stdout)}


def test_import_sandmill_loads_nothing_heavy():
    assert _loaded("import sandmill") & (HEAVY | {"numpy", "pydantic", "typer"}) == set()


@pytest.mark.parametrize(
    "code", ["import sandmill.cli.app", "from sandmill.cli.app import _load_command as c; c('pull')"]
)
def test_the_command_line_starts_without_anything_heavy(code):
    assert _loaded(code) & HEAVY == set()


def test_loading_a_release_needs_neither_the_pipeline_nor_pandas():
    loaded = _loaded("import sandmill; sandmill.load; sandmill.Release")
    assert (
        loaded & {"prefect", "great_expectations", "sklearn", "litellm", "pandas", "duckdb", "s3fs", "scipy"} == set()
    )
    assert "polars" not in loaded


def test_writing_a_prompt_and_scoring_import_no_more_than_they_need():
    assert _loaded("import sandmill; sandmill.prompt; sandmill.RunLimits") & (HEAVY | {"numpy"}) == set()
    assert _loaded("import sandmill; sandmill.score; sandmill.Feedback") & HEAVY == set()


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
