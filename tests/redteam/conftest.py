"""A few real packages, besieged in one sandbox a backend and file of attacks."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from sandmill.models.base import Band
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.store.release import load
from tests.redteam.siege import Siege, Target, Trap, lay_trap, open_target
from tests.releases import REPOSITORY, build
from tests.unit.sandbox.conftest import make_box

_CARDS = REPOSITORY / "src" / "sandmill" / "seeds" / "cards"
_SEEDS = ("home-credit-default-risk", "california-housing", "playground-series-s3e5")
"""Probabilities by ROC AUC, a number by RMSE, grades by quadratic weighted kappa."""


@pytest.fixture(scope="session")
def build_targets(once_a_session, tmp_path_factory) -> Callable[..., list[Target]]:
    """Build and pull a task of each of some cards as anyone would. The secret is fixed: they are always the same.

    Built once for all test processes, and copied by each: traps are laid in the folders, and no file may change.
    """

    def give(name: str, cards: Sequence[str], seed: int, mix: dict[Band, float], **settings: int) -> list[Target]:
        def make(folder: Path) -> str:
            folder.mkdir()
            (folder / "key").write_bytes(b"the red team's release secret, 32 bytes and more")
            seeds = tuple(str(_CARDS / f"{card}.yaml") for card in cards)
            request = BuildRequest(name=name, tasks=len(cards), seed=seed, seeds=seeds, mix=mix)
            how = RunSettings(root=str(folder / "releases"), secret_file=folder / "key", **settings)
            load(build(request, how)).pull(str(folder / "pulled"))
            return str(folder / "pulled")

        pulled = tmp_path_factory.mktemp(name) / "pulled"
        shutil.copytree(once_a_session(name, make), pulled)
        return [open_target(folder) for folder in sorted(pulled.iterdir())]

    return give


@pytest.fixture(scope="session")
def targets(build_targets) -> list[Target]:
    return build_targets("redteam", _SEEDS, 12, {Band.HARD: 1.0}, shard_size=3)


@pytest.fixture(scope="session")
def trap(tmp_path_factory, targets) -> Iterator[Trap]:
    with lay_trap(tmp_path_factory.mktemp("trap"), targets) as laid:
        yield laid


@pytest.fixture(scope="module")
def siege(request, targets, trap, agent_env) -> Iterator[Siege]:
    """One sandbox, attacked again and again. After all attacks of a file its reference solutions are still gold."""
    with make_box(request.param) as box:
        attacked = Siege(box, targets, trap)
        yield attacked
        attacked.pays_the_reference()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Besiege the backends that a file names."""
    if "siege" in metafunc.fixturenames:
        backends = getattr(metafunc.module, "BACKENDS", ("warm",))
        metafunc.parametrize("siege", backends, indirect=True, scope="module")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Attacks need a build, which the first of them waits for."""
    for item in items:
        if "targets" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(900))
        if "modalities" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
