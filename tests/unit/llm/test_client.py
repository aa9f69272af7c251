"""One client over a real HTTP server: what is answered, what is tried again, what is passed over, what is paid."""

import asyncio
import logging
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from sandmill.errors import NoAnswer, ReplayMiss, SpendLimit, StoreError
from sandmill.llm import Budget, LlmClient, Recordings
from sandmill.llm import client as client_module
from sandmill.llm.budget import Ledger
from sandmill.llm.provider import load_litellm
from sandmill.models.llm import LlmSettings, Message, ModelChoice, Prompt
from sandmill.store.files import Store
from tests.llm_server import Answer, error, good, serve

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
KEY = "planted-7f3a9c-not-a-real-key"
PRICES = {"input": 10.0, "output": 20.0}
"""Dollars for a million tokens: the server's usual 100 + 50 tokens cost 0.002."""


def _prompt(text="how many?", draw="", system="Count."):
    messages = (Message(role="system", content=system), Message(role="user", content=text))
    return Prompt(role="counter", messages=messages, answer=SCHEMA, draw=draw)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path))


def _client(store, server, models=("openai/first",), budget=None, **settings):
    choice = ModelChoice(models=models, max_tokens=settings.pop("max_tokens", 100))
    how = LlmSettings(api_base=server.base if server else None, **settings)
    return LlmClient(choice, how, Recordings(store), budget, PRICES)


def _ask(client, *prompts):
    async def all_of_them():
        return await asyncio.gather(*map(client.ask, prompts))

    return asyncio.run(all_of_them())


def test_an_answer_comes_back_as_json_with_what_it_cost_though_failures_that_may_pass_came_first(store):
    with serve([error(503), Answer(raw=b"<html>", status=502), good({"a": 3})]) as server:
        (reply,) = _ask(_client(store, server), _prompt())
    assert (reply.value, reply.paid.requests, len(server.received)) == ({"a": 3}, 1, 3)
    assert (reply.model, reply.form, reply.passed_over) == ("openai/first", "json_schema", ())
    assert (reply.usage.prompt_tokens, reply.usage.answer_tokens) == (100, 50)
    assert reply.usage.usd == pytest.approx(0.002)
    sent = server.received[0].body
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    assert sent["max_tokens"] == 100


def test_nothing_is_paid_twice(store):
    with serve([good({"a": 3})]) as server:
        first, again = _ask(_client(store, server), _prompt()) + _ask(_client(store, server), _prompt())
    assert len(server.received) == 1
    assert (first.text, first.key) == (again.text, again.key)
    assert not first.is_recorded
    assert again.is_recorded
    assert again.paid.usd == 0


_ASK_UNTIL_KILLED = """
import sys
from sandmill.store.files import Store
from tests.unit.llm.test_client import ask_ten

ask_ten(Store(sys.argv[1]), sys.argv[2])
"""


def ask_ten(store, base):
    """Ask ten questions one after the other."""
    client = _client(store, SimpleNamespace(base=base), budget=Budget(1.0, Ledger(store, "llm/paid")))
    for number in range(10):
        _ask(client, _prompt(draw=str(number)))


@pytest.mark.slow
def test_a_killed_run_pays_again_only_for_what_was_in_flight(tmp_path):
    store = Store(str(tmp_path))
    with serve([good({"a": 3})] * 4 + [good({"a": 3}, wait_s=60)]) as server:
        killed = subprocess.Popen([sys.executable, "-c", _ASK_UNTIL_KILLED, str(tmp_path), server.base])
        while len(server.received) < 5 and killed.poll() is None:
            time.sleep(0.01)
        killed.kill()
        killed.wait()
    assert len(store.list("llm/replies")) == 4
    assert Ledger(store, "llm/paid").total() == pytest.approx(0.008)
    with serve([good({"a": 3})]) as server:
        ask_ten(store, server.base)
    assert len(server.received) == 6


def test_replay_needs_neither_server_nor_key_and_says_what_it_lacks(store, monkeypatch):
    with serve([good({"a": 3})]) as server:
        _ask(_client(store, server), _prompt())
    monkeypatch.delenv("OPENAI_API_KEY")
    (reply,) = _ask(_client(store, None, is_replay=True), _prompt())
    assert reply.value == {"a": 3}
    with pytest.raises(ReplayMiss, match=r"no reply of openai/first is recorded for counter, slot 7 .request \w{12}"):
        _ask(_client(store, None, is_replay=True), _prompt(draw="slot 7"))
    assert len(server.received) == 1


def test_a_server_that_asks_for_too_much_time_is_passed_over(store):
    def script(received):
        return error(429, retry_after="3600") if received.body["model"] == "first" else good({"a": 4})

    with serve(script) as server:
        (reply,) = _ask(_client(store, server, ("openai/first", "openai/second")), _prompt())
    assert [received.body["model"] for received in server.received] == ["first", "second"]
    assert (reply.model, reply.value) == ("openai/second", {"a": 4})
    assert [line.partition(":")[0] for line in reply.passed_over] == ["openai/first"]


@pytest.mark.parametrize(
    ("failing", "said", "times"),
    [
        (error(401, "bad key"), "AuthenticationError", 1),
        (error(404, "no such model"), "NotFoundError", 1),
        (Answer(refusal="I cannot do that."), "refused: I cannot do that.", 1),
        (good({"a": 3}, finish="length"), "cut off", 1),
        (good({"a": 3}, finish="content_filter"), "refused", 1),
        (Answer(text="  "), "an empty answer", 1),
        (error(429, "slow down"), "RateLimitError 429", 3),
        (good({"a": 3}, drip_s=0.05), "no whole answer within 0.2 s", 3),
    ],
)
def test_the_next_model_answers_where_one_does_not(store, failing, said, times):
    def script(received):
        return failing if received.body["model"] == "first" else good({"a": 4})

    with serve(script) as server:
        client = _client(store, server, ("openai/first", "openai/second"), retries=2, timeout_s=0.2)
        (reply,) = _ask(client, _prompt())
        assert [received.body["model"] for received in server.received] == ["first"] * times + ["second"]
        with pytest.raises(NoAnswer) as failed:
            _ask(_client(store, server, retries=2, timeout_s=0.2), _prompt())
    assert (reply.model, reply.value) == ("openai/second", {"a": 4})
    assert said in reply.passed_over[0]
    assert said in str(failed.value)


@pytest.mark.parametrize(
    "wasted", [good({"a": 3}, finish="length"), Answer(refusal="no"), error(500), Answer(text=""), error(400)]
)
def test_failures_and_answers_that_were_cut_off_are_never_kept(store, wasted):
    with serve([wasted]) as server, pytest.raises(NoAnswer):
        _ask(_client(store, server, retries=0), _prompt())
    assert store.list("llm") == []
    with serve([good({"a": 3})]) as server:
        (reply,) = _ask(_client(store, server), _prompt())
    assert reply.value == {"a": 3}
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [400, 500])
def test_weak_servers_are_told_the_schema_in_words(store, status):
    def script(received):
        return error(status, "unknown response_format") if received.form == "json_schema" else good({"a": 5})

    with serve(script) as server:
        client = _client(store, server, retries=1)
        first, second = _ask(client, _prompt()) + _ask(client, _prompt("and now?"))
    assert first.value == second.value == {"a": 5}
    assert first.form == second.form == "text"
    assert '"required": ["a"]' in server.received[-1].prompt
    # The second question goes straight to the form that worked.
    assert [received.form for received in server.received[-2:]] == ["text"] * 2


@pytest.mark.parametrize(
    ("model", "forms"),
    [("replicate/meta/llama-2-70b-chat", ["text"]), ("anthropic/claude-sonnet-4-5-20250929", ["json_schema"])],
)
def test_a_model_that_takes_no_form_is_told_the_schema_in_words(store, monkeypatch, model, forms):
    litellm, asked = load_litellm(), []

    async def answer(**how):
        asked.append(how)
        return litellm.ModelResponse(choices=[{"message": {"content": '{"a": 5}'}, "finish_reason": "stop"}])

    monkeypatch.setattr(litellm, "acompletion", answer)
    (reply,) = _ask(_client(store, None, (model,)), _prompt())
    assert reply.value == {"a": 5}
    assert [how.get("response_format", {}).get("type", "text") for how in asked] == forms
    assert ('"required": ["a"]' in asked[0]["messages"][0]["content"]) == (forms == ["text"])


@pytest.mark.parametrize("text", ["no", "[1, 2]", '{"a": 3', '{"a": NaN}', '{"a": 1e999}', "{" * 100_000, '"a"'])
def test_what_is_no_json_is_said_and_kept(store, text):
    with serve([Answer(text=text)]) as server:
        first, again = _ask(_client(store, server), _prompt()) + _ask(_client(store, server), _prompt())
    assert first.value is None
    assert again.value is None
    assert first.problem.startswith("not a JSON object: ")
    assert len(server.received) == 1


def test_no_more_requests_are_open_than_allowed(store):
    with serve([good({"a": 3}, wait_s=0.05)]) as server:
        _ask(_client(store, server, concurrency=4), *(_prompt(draw=str(n)) for n in range(20)))
    assert server.busiest == 4


def test_money_is_a_hard_stop(store):
    # 100 tokens of an answer at most: each request may cost 0.002 and a little for the prompt; it costs 0.002.
    budget = Budget(0.0101)
    with serve([good({"a": 3})]) as server:
        client = _client(store, server, budget=budget)
        for n in range(4):
            _ask(client, _prompt(draw=str(n)))
        with pytest.raises(SpendLimit, match=r"spent 0.0080 of 0.0101 USD"):
            _ask(client, _prompt(draw="4"))
    assert len(server.received) == 4
    assert budget.spent == pytest.approx(0.008)
    (again,) = _ask(client, _prompt(draw="0"))
    assert again.is_recorded


def test_requests_in_flight_are_counted_before_they_are_paid(store):
    budget = Budget(0.0101)

    async def race(client):
        return await asyncio.gather(*(client.ask(_prompt(draw=str(n))) for n in range(20)), return_exceptions=True)

    with serve([good({"a": 3}, wait_s=0.1)]) as server:
        ended = asyncio.run(race(_client(store, server, budget=budget, concurrency=20)))
    # Only four fit, and none is turned away as long as one in flight may still cost less than was set aside.
    assert sum(isinstance(end, SpendLimit) for end in ended) == 16
    assert len(server.received) == 4
    assert budget.spent == pytest.approx(0.008)


def test_what_earlier_runs_paid_counts(store):
    with serve([good({"a": 3}), good({"a": 4}, finish="length"), good({"a": 5})]) as server:
        for n in range(3):
            client = _client(store, server, budget=Budget(1.0, Ledger(store, "llm/paid/p")))
            try:
                _ask(client, _prompt(draw=str(n)))
            except NoAnswer:
                assert n == 1
    assert Budget(1.0, Ledger(store, "llm/paid/p")).spent == pytest.approx(0.006)
    assert Budget(1.0, Ledger(store, "llm/paid/other")).spent == 0


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_a_key_that_a_server_says_back_reaches_nobody(status, tmp_path, caplog, capfd):
    """It is found nowhere: not in logs, errors, recordings or prompts."""
    caplog.set_level(logging.DEBUG)

    def script(received):
        said = received.headers["authorization"]
        return good({"a": said}) if status == 200 else error(status, f"Incorrect key: {said}")

    store = Store(str(tmp_path))
    with serve(script) as server:
        client = _client(store, server, budget=Budget(None, Ledger(store, "llm/paid")), retries=1)
        try:
            told = _ask(client, _prompt())[0].model_dump_json()
        except NoAnswer as failed:
            told = f"{failed} {failed.__cause__} {failed.__context__}"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    shown = capfd.readouterr()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert bool(kept) == (status == 200)
    for text in (told, caplog.text, shown.out, shown.err, kept.decode()):
        assert KEY not in text


def test_a_reply_without_a_receipt_is_not_recorded(tmp_path):
    """Otherwise the next run would find the reply and not count its cost."""

    class NoReceipts(Store):
        def create(self, path, content, *, owner_only=False):
            if "paid" in path:
                raise StoreError(f"{path}: no space left")
            return super().create(path, content, owner_only=owner_only)

    store = NoReceipts(str(tmp_path))
    with serve([good({"a": 3})]) as server, pytest.raises(StoreError):
        _ask(_client(store, server, budget=Budget(1.0, Ledger(store, "llm/paid"))), _prompt())
    assert store.list("llm/replies") == []
