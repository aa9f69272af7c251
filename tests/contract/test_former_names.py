"""Modules import under the names that users have in their code, with a warning that has the present name."""

import subprocess
import sys

import pytest

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
