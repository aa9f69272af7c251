"""Conversations over a real HTTP server: plain text in turns, retries, costs, and kinds of failures."""

import asyncio
import json

import pytest

from sandmill.errors import SpendLimit
from sandmill.llm import Budget, ChatClient, RequestFailed
from sandmill.llm import client as client_module
from sandmill.models.llm import LlmSettings, Message, ModelChoice
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


def test_nothing_is_sent_that_could_cost_more_than_what_is_left():
    with pytest.raises(SpendLimit):
        ask([Answer(text="x")], budget=Budget(0.002))


@pytest.mark.slow
def test_a_model_that_no_list_has_is_not_priced():
    assert not ask([Answer(text="x")], prices=None)[0].is_priced


def test_a_key_that_a_model_says_back_is_removed():
    assert KEY not in ask([Answer(text=f"<think>{KEY}</think>{KEY}")])[0].text
