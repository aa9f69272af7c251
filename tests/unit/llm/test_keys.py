"""A planted key is found nowhere: not in logs, errors, recordings or prompts, even if a server says it back."""

import asyncio
import logging

import pytest

from sandmill.errors import NoAnswer
from sandmill.llm import Budget, LlmClient, Recordings
from sandmill.llm import client as client_module
from sandmill.llm.budget import Ledger
from sandmill.models.llm import LlmSettings, Message, ModelChoice, Prompt
from sandmill.store.files import Store
from tests.llm_server import Answer, error, good, serve

KEY = "planted-7f3a9c-not-a-real-key"


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_a_key_that_a_server_says_back_reaches_nobody(status, tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 0.001)
    caplog.set_level(logging.DEBUG)

    def script(received):
        said = received.headers["authorization"]
        return good({"a": said}) if status == 200 else error(status, f"Incorrect key: {said}")

    store, told = Store(str(tmp_path)), ""
    settings = LlmSettings(retries=1)
    prompt = Prompt(role="counter", messages=(Message(role="user", content="?"),), answer={"type": "object"})
    with serve(script) as server:
        budget = Budget(None, Ledger(store, "llm/paid"))
        settings = settings.model_copy(update={"api_base": server.base})
        client = LlmClient(ModelChoice(models=("openai/first",)), settings, Recordings(store), budget, {"input": 1e5})
        try:
            told = asyncio.run(client.ask(prompt)).model_dump_json()
        except NoAnswer as failed:
            told = f"{failed} {failed.__cause__} {failed.__context__}"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    shown = capfd.readouterr()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert bool(kept) == (status == 200)
    for text in (told, caplog.text, shown.out, shown.err, kept.decode()):
        assert KEY not in text


def test_a_server_of_our_own_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    prompt = Prompt(role="counter", messages=(Message(role="user", content="?"),), answer={"type": "object"})
    with serve([Answer()]) as server:
        settings = LlmSettings(api_base=server.base)
        client = LlmClient(ModelChoice(models=("openai/first",)), settings, Recordings(Store(str(tmp_path))))
        assert asyncio.run(client.ask(prompt)).value == {}
