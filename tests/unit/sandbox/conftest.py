"""Fixtures: sandboxes that share one agent environment. The first test process creates it in its default place."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandmill.sandbox import Sandbox
from sandmill.sandbox.sandbox import Capability, missing_for, probe
from tests.sandbox_corpus import write_public

ISOLATED = ("warm", "warm without root")


@pytest.fixture(scope="session")
def public(tmp_path_factory) -> Path:
    return write_public(tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="session")
def open_box(agent_env) -> Iterator[Callable[[str], Sandbox]]:
    """Open a sandbox by name: a backend, or `without root` to make root use the ways of an ordinary user."""
    opened: dict[str, Sandbox] = {}

    def give(name: str) -> Sandbox:
        if name not in opened:
            opened[name] = make_box(name)
        return opened[name]

    yield give
    for box in opened.values():
        box.close()


def make_box(name: str, **settings: object) -> Sandbox:
    backend, _, way = name.partition(" ")
    if missing := missing_for(backend):
        pytest.skip(f"this machine lacks what {backend} needs: {missing[0]}")
    if not way:
        return Sandbox(backend, **settings)
    if os.geteuid():
        pytest.skip("we are not root, so the backend is without root already")
    assert probe().is_root
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sandmill.sandbox.sandbox.probe", lambda: Capability(is_root=False, problems=()))
        return Sandbox(backend, **settings)


@pytest.fixture(scope="session")
def warm(open_box) -> Sandbox:
    return open_box("warm")


@pytest.fixture(params=ISOLATED)
def box(request, open_box) -> Sandbox:
    return open_box(request.param)
