"""Answers are written many at a time, and each asker hears of its own alone."""

import asyncio
import threading
import time

import pytest

from sandmill.errors import StoreError
from sandmill.llm import Budget, Recordings
from sandmill.llm.budget import Ledger
from sandmill.llm.keeper import MOST_AT_ONCE, Keeper
from sandmill.models.llm import Message, Prompt, Reply, Usage
from sandmill.store.files import Store

PROMPT = Prompt(role="counter", messages=(Message(role="user", content="how many?"),), answer={"type": "object"})


class Slow(Store):
    """A disk that takes its time, counts who writes at once, and refuses some answers."""

    def create(self, path, content, *, owner_only=False):
        with _lock:
            counts["now"] = counts.get("now", 0) + 1
            counts["most"] = max(counts.get("most", 0), counts["now"])
        time.sleep(0.005)
        with _lock:
            counts["now"] -= 1
        if "bad" in path:
            raise StoreError(f"{path}: no space left")
        return super().create(path, content, owner_only=owner_only)


_lock, counts = threading.Lock(), {}


@pytest.fixture
def store(tmp_path):
    counts.clear()
    return Slow(str(tmp_path))


def _keeper(store):
    return Keeper(Recordings(store), Budget(None, Ledger(store, "llm/paid")))


def _reply(key):
    return Reply(text="{}", model="openai/first", form="text", usage=Usage(requests=1, usd=0.001), key=key)


def _keep(keeper, keys):
    async def all_of_them():
        return await asyncio.gather(*(keeper.keep(PROMPT, _reply(key)) for key in keys), return_exceptions=True)

    return asyncio.run(all_of_them())


def test_every_answer_is_written_and_paid_for_with_few_receipts(store):
    keys = [f"{n:064x}" for n in range(40)]
    replies = _keep(_keeper(store), keys)
    assert [reply.key for reply in replies] == keys
    assert Recordings(store).keys() == set(keys)
    assert Ledger(store, "llm/paid").total() == pytest.approx(0.04)
    assert len(store.list("llm/paid")) < 10


def test_a_slow_store_gets_a_second_writer_and_not_one_for_each(store):
    _keep(_keeper(store), [f"{n:064x}" for n in range(2 * MOST_AT_ONCE)])
    assert counts["most"] == 2


def test_an_answer_that_cannot_be_written_fails_alone(store):
    first, bad, last = _keep(_keeper(store), ["ab" * 32, "bad", "cd" * 32])
    assert isinstance(bad, StoreError)
    assert {first.key, last.key} == Recordings(store).keys()


def test_without_a_receipt_no_answer_is_kept(store):
    """Else the answer would be found again, and its money would not."""
    outcomes = _keep(_keeper(store), ["bad", "ab" * 32])
    assert [type(outcome) for outcome in outcomes] == [StoreError, StoreError]
    assert not Recordings(store).keys()


def test_whoever_stops_waiting_keeps_nobody_else_from_going_on(store):
    async def work():
        keeper = _keeper(store)
        gone = asyncio.create_task(keeper.keep(PROMPT, _reply("ab" * 32)))
        stays = asyncio.create_task(keeper.keep(PROMPT, _reply("cd" * 32)))
        await asyncio.sleep(0.002)
        gone.cancel()
        return await stays

    assert asyncio.run(work()).key == "cd" * 32
    assert Recordings(store).keys() == {"ab" * 32, "cd" * 32}
