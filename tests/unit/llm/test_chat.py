"""Conversations over a real HTTP server: plain text in turns, retries, costs, and kinds of failures."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.errors import StoreError
from sandmill.llm import ChatClient, Recordings, RequestFailed
from sandmill.llm import client as client_module
from sandmill.llm.budget import Ledger
from sandmill.llm.cache import request_key
from sandmill.llm.provider import read_json
from sandmill.llm.redact import MARK, redact
from sandmill.models.llm import LlmSettings, Message, ModelChoice, Prompt, Reply, Usage
from sandmill.store.files import Store
from tests.llm_server import Answer, error, serve

KEY = "sk-planted-0123456789abcdef"
PRICES = {"input": 10.0, "output": 20.0}
"""Dollars for a million tokens: the server's usual 100 + 50 tokens cost 0.002."""
TALK = [Message(role="system", content="Work."), Message(role="user", content="Go.")]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(answers, *, budget=None, prices=PRICES, seed=None, **settings):
    with serve(answers) as server:
        choice = ModelChoice(models=("openai/first",), max_tokens=100, temperature=0.5)
        client = ChatClient(choice, LlmSettings(api_base=server.base, **settings), budget, prices)
        return asyncio.run(client.reply(TALK, seed)), server, client


def test_a_turn_is_sent_as_it_is_and_its_cost_is_counted():
    reply, server, client = ask([Answer(text="<answer>x</answer>")], seed=5)
    assert (reply.text, reply.is_cut_off, reply.is_priced) == ("<answer>x</answer>", False, True)
    assert reply.usage.usd == client.budget.paid.usd == pytest.approx(0.002)
    sent = server.received[0].body
    assert sent["messages"] == [message.model_dump() for message in TALK]
    assert (sent["seed"], sent["max_tokens"], sent["temperature"]) == (5, 100, 0.5)
    assert "response_format" not in sent


def test_thoughts_stay_in_the_text():
    """LiteLLM takes them out of the answer."""
    reply, *_ = ask([Answer(text="<think>First.</think>\n<answer>x</answer>")])
    assert reply.text.replace("\n", "") == "<think>First.</think><answer>x</answer>"


def test_a_long_an_empty_and_a_refused_message_are_messages():
    assert ask([Answer(text="abc", finish="length")])[0].is_cut_off
    assert ask([Answer(text="")])[0].text == ""
    assert ask([Answer(refusal="I will not.")])[0].text == ""


def test_transient_failures_are_tried_again_and_then_raised():
    reply, server, _ = ask([error(500), error(429, retry_after="0"), Answer(text="ok")])
    assert (reply.text, len(server.received)) == ("ok", 3)
    with pytest.raises(RequestFailed) as failed:
        ask([error(500)], retries=1)
    assert failed.value.is_transient
    assert not failed.value.is_lasting


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_and_an_unknown_model_are_lasting(status):
    with pytest.raises(RequestFailed) as failed:
        ask([error(status, f"no such thing, key {KEY}")])
    assert failed.value.is_lasting
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("tokens", [(-5, -7), (10**30, 10**30), (0, 0), (None, None)])
def test_token_counts_that_cannot_be_are_replaced_by_estimates_and_booked(tokens):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "abcdef"}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": 1}
    reply, _, client = ask([Answer(raw=json.dumps(body | {"usage": usage}).encode())])
    assert (reply.text, reply.usage.answer_tokens) == ("abcdef", 2)
    assert 0 < client.budget.paid.usd == reply.usage.usd < 0.001


@pytest.mark.slow
def test_a_model_that_no_list_has_is_not_priced():
    assert not ask([Answer(text="x")], prices=None)[0].is_priced


def test_a_key_that_a_model_says_back_is_removed():
    assert KEY not in ask([Answer(text=f"<think>{KEY}</think>{KEY}")])[0].text


CHOICE = ModelChoice(models=("openai/first",))
PROMPT = Prompt(role="counter", messages=(Message(role="user", content="how many?"),), answer={"type": "object"})


def _reply(key="ab" * 32, text="{}"):
    usage = Usage(requests=1, prompt_tokens=10, answer_tokens=5, usd=0.001)
    return Reply(text=text, model="openai/first", form="text", usage=usage, key=key)


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message(role="system", content="how many?"),)},
        {"messages": (Message(role="user", content="how many??"),)},
        {"answer": {"type": "array"}},
        {"answer_version": 2},
        {"draw": "slot 1"},
    ],
)
def test_whatever_an_answer_depends_on_is_in_its_name(change):
    assert request_key("m", CHOICE, PROMPT.model_copy(update=change)) != request_key("m", CHOICE, PROMPT)


def test_models_and_parameters_are_in_the_name_and_the_chain_is_not():
    key = request_key("m", CHOICE, PROMPT)
    assert request_key("n", CHOICE, PROMPT) != key
    assert request_key("m", CHOICE.model_copy(update={"temperature": 0.1}), PROMPT) != key
    assert request_key("m", CHOICE.model_copy(update={"max_tokens": 17}), PROMPT) != key
    assert request_key("m", CHOICE.model_copy(update={"models": ("x", "y")}), PROMPT) == key


def test_of_two_that_answer_at_once_both_go_on_with_the_first(tmp_path):
    recordings = Recordings(Store(str(tmp_path)))
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda n: recordings.add(PROMPT, _reply(text=str(n))), range(8)))
    assert {reply.text for reply in kept} == {recordings.find("ab" * 32).text}
    assert all(reply.paid.usd > 0 for reply in kept)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"reply": {"text": "x"}}', b"\xff"])
def test_a_damaged_recording_is_an_error_that_names_the_file(tmp_path, damage):
    store = Store(str(tmp_path))
    Recordings(store).add(PROMPT, _reply())
    (path,) = store.list("llm")
    (tmp_path / path).write_bytes(damage)
    with pytest.raises(StoreError, match="damaged recording"):
        Recordings(store).find("ab" * 32)


def test_nobody_else_may_read_recordings(tmp_path):
    store = Store(str(tmp_path))
    Recordings(store).add(PROMPT, _reply())
    Ledger(store, "llm/paid").add("ab" * 32, Usage(requests=1, usd=0.5))
    assert {Path(tmp_path, path).stat().st_mode & 0o077 for path in store.list("llm")} == {0}


@given(st.lists(st.floats(0, 50), max_size=6))
def test_receipts_never_say_less_than_was_paid(amounts):
    class Kept(dict):
        def create(self, path, content, *, owner_only=False):
            return self.setdefault(path, content) is content

        def list(self, prefix=""):
            return sorted(path for path in self if path.startswith(prefix))

    files = Kept()
    ledger = Ledger(files, "paid/p")
    for amount in amounts:
        ledger.add("ab" * 32, Usage(requests=1, usd=amount))
    assert sum(amounts) - 1e-9 <= ledger.total() <= sum(amounts) + 1e-6 * len(amounts) + 1e-9


def test_keys_of_the_environment_and_what_looks_like_one_are_marked(monkeypatch):
    environment = {"OPENAI_API_KEY": "planted-key-value", "HOME": "/somewhere", "MY_TOKEN": "abc"}
    text = "a planted-key-value b sk-abcdefghijklmnop1234 c Authorization: Bearer abcdefgh1234 d abc /somewhere"
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert redact(text) == f"a {MARK} b {MARK} c Authorization: Bearer {MARK} d abc /somewhere"


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.lists(st.booleans()), max_size=4))
def test_json_is_read_back_in_whatever_prose_it_stands(value):
    text = json.dumps(value)
    assert read_json(text) == value
    assert read_json(f"Here:\n```json\n{text}\n```\nBye") == value
    assert read_json(f"The answer: {text}. Bye") == value


@pytest.mark.parametrize("text", ['{"a": "x\\ud800y"}', '{"a\\udfff": 1}', '{"a": [{"b": "\\udc00"}]}'])
def test_half_a_surrogate_pair_is_a_problem_that_is_told(text):
    problem = read_json(text)
    assert isinstance(problem, str)
    assert "surrogate" in problem
    problem.encode()
