"""Recorded replies: named by all that an answer depends on, whole or not at all, without keys."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.errors import StoreError
from sandmill.llm import Recordings
from sandmill.llm.budget import Ledger
from sandmill.llm.cache import request_key
from sandmill.llm.provider import read_json
from sandmill.llm.redact import MARK, redact
from sandmill.models.llm import Message, ModelChoice, Prompt, Reply, Usage
from sandmill.store.files import Store

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
    kept = []
    threads = [
        threading.Thread(target=lambda n=n: kept.append(recordings.add(PROMPT, _reply(text=str(n))))) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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
