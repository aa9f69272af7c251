import json
import subprocess
import sys

HEAVY = {
    "prefect",
    "great_expectations",
    "sklearn",
    "litellm",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "jinja2",
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
