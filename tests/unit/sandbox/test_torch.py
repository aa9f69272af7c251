"""An agent environment with PyTorch: what runs see of it, that forks of the loaded interpreter work, and its memory.

It is created beside the default one, from the index or folder that pip's settings name. Without one the tests skip.
"""

from collections.abc import Iterator

import pytest

from sandmill.errors import SandboxUnavailable
from sandmill.models.reports import Outcome
from sandmill.sandbox import Sandbox
from sandmill.sandbox.agent_env import AgentEnv, create_agent_env, default_place
from tests.unit.sandbox.conftest import make_box

pytestmark = pytest.mark.slow

FIT = """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(THREADS)
features, target = torch.randn(64, 1, 8, 8), torch.arange(64) % 2
network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.Adam(network.parameters())
for _ in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(features), target).backward()
    optimizer.step()
open("submission.csv", "w").write(f"{float(network(features).sum()):.4f}")
"""
SEEN = """
import os, sys
print("torch" in sys.modules, "torchvision.models" in sys.modules, len(os.listdir("/proc/self/task")))
import torch
print(torch.get_num_threads(), torch.cuda.is_available(), torch.cuda.device_count())
print(repr(os.environ["CUDA_VISIBLE_DEVICES"]))
"""
TOOLS = """
import torch, torchvision
from torchvision.transforms import v2
network = torchvision.models.resnet18(weights=None, num_classes=3).eval()
change = v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Resize((32, 32))])
picture = change(torch.zeros(3, 8, 8, dtype=torch.uint8))
print(tuple(network(picture[None]).shape))
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(20.0)), 5, num_workers=2)
print(sum(float(part.sum()) for (part,) in loader))
"""
FINALIZERS = """
import weakref
print(sum(one.atexit for one in weakref.finalize._registry))
class Mine: pass
mine = Mine()
weakref.finalize(mine, print, "mine")
"""
FORKS = 200


@pytest.fixture(scope="module")
def torch_env() -> AgentEnv:
    place = default_place(has_torch=True)
    try:
        return create_agent_env(place.with_name(f"{place.name}.tests"), has_torch=True)
    except SandboxUnavailable as error:
        if "torch==" not in str(error):
            raise
        pytest.skip(f"pip finds no PyTorch for processors here: {error}")


@pytest.fixture(scope="module", params=["warm", "warm without root"])
def torch_box(request, torch_env) -> Iterator[Sandbox]:
    with make_box(request.param, agent_env=torch_env.path) as box:
        yield box


def test_it_is_loaded_ahead_with_one_thread_and_no_cuda_device(torch_box, public):
    assert torch_box.run(SEEN, public=public, timeout=60).stdout == "True True 1\n1 False 0\n''\n"


def test_networks_of_torchvision_transforms_and_workers_of_loaders_run(torch_box, public):
    result = torch_box.run(TOOLS, public=public, timeout=120)
    assert (result.stdout, result.stderr) == ("(1, 3)\n190.0\n", "")


def test_a_run_ends_without_the_finalizers_of_imported_modules_and_with_its_own(torch_box, public):
    assert torch_box.run(FINALIZERS, public=public, timeout=60).stdout == "0\nmine\n"


def test_many_forks_in_a_row_train_networks_without_a_hang(torch_box, public):
    """Every tenth uses two threads: an operation before the fork would hang these."""
    found = set()
    for number in range(FORKS if torch_box._is_root else FORKS // 10):
        code = FIT.replace("THREADS", "1" if number % 10 else "2")
        result = torch_box.run(code, public=public, timeout=60)
        assert result.outcome is Outcome.OK, (number, result.detail, result.stderr)
        found.add(result.submission)
    assert len(found) <= 2
    assert result.peak_mb < 700


def test_names_and_versions_are_those_of_the_environment(torch_env):
    assert torch_env.packages["torch"] == "2.13.0+cpu"
    assert "torchvision" in torch_env.packages
