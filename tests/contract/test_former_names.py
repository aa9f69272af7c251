"""Modules import under the names that users have in their code, with a warning that has the present name."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sandmill
from sandmill.cli.report import report
from sandmill.cli.verify import _check_packages
from sandmill.errors import InputError
from sandmill.export.mlebench import _read_by_pandas
from sandmill.export.sft import _chats
from sandmill.publish.signature import sign, signature_fault
from sandmill.store.files import Store

FORMER = {
    "sandmill.adapters.exports.base": "sandmill.export.base",
    "sandmill.episodes.score": "sandmill.play.score",
    "sandmill.episodes.server.settings": "sandmill.serve.settings",
}


def test_a_former_name_imports_the_present_module_and_warns():
    equal = "all(getattr(a, name) is getattr(b, name) for name in dir(b) if name[0] != '_')"
    lines = [f"import {former} as a, {present} as b; assert {equal}" for former, present in FORMER.items()]
    command = [sys.executable, "-W", "always", "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for former, present in FORMER.items():
        assert f"{former} is now {present}" in done.stderr


def test_a_name_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"sandmill\.adapters\.nothing|sandmill\.trainers\.nothing"):
        __import__("sandmill.adapters.nothing")


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


def a_picture_task():
    release = sandmill.load("samples", sandbox=object())
    return release.task(release.select(structure="image/binary/random")[0])


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("s3fs", "s3", lambda: Store("s3://bucket/releases").folders()),
        ("botocore.exceptions", "s3", lambda: Store("s3://bucket/releases").read("x")),
        ("huggingface_hub", "hf", lambda: sandmill.load("hf://datasets/org/name")),
        ("pandas", "rerun", lambda: _read_by_pandas(["x"])),
        ("pandas", "rerun", lambda: list(_chats(None))),
        ("pandas", "rerun", _check_packages),
        ("PIL", "rerun", _check_packages),
        ("pandas", "rerun", lambda: sandmill.MLEnv(a_picture_task(), reward="ladder-facts")),
        ("PIL", "rerun", lambda: a_picture_task().fresh(1).public),
        ("duckdb", "report", lambda: report("samples", "none")),
        ("jinja2", "report", lambda: report("samples", "none")),
        ("PIL.Image", "report", lambda: report("samples", "none")),
        ("cryptography.hazmat.primitives.asymmetric.ed25519", "sign", lambda: sign(Path("none"), b"")),
        ("cryptography.exceptions", "sign", lambda: signature_fault(Path("none"), b"", b"")),
    ],
)
def test_the_error_of_a_missing_package_names_the_extra_to_install(monkeypatch, package, extra, use):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"pip install 'sandmill\[{extra}\]'") as caught:
        use()
    assert caught.value.exit_code == 2
    assert package in str(caught.value)
