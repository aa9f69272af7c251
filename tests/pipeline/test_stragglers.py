"""Many episodes at once on a real server, slow and hanging ones too: each ends, and none outlasts its wall clock."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from sandmill.sandbox.agent_env import create_agent_env
from tests.servers import TOKEN, Command

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TIMEOUT_S = 4
SAMPLE = "import shutil; shutil.copy('public/sample_submission.csv', 'submission.csv')"
SLOW = "import time; time.sleep(1)"
HANG = "import time; time.sleep(1000)"
KINDS = ("quick", "quick", "slow", "slow", "hangs", "hangs", "leaves", "sleeps")
"""What agents do; `leaves` closes the connection in a run, and `sleeps` never comes back after its first run."""


@pytest.fixture
def start(tmp_path: Path, small_release: str) -> Iterator[Callable[[int], Command]]:
    create_agent_env()
    opened: list[Command] = []

    def give(wall_clock_s: int) -> Command:
        options = ("--wall-clock", wall_clock_s, "--timeout", TIMEOUT_S, "--concurrency", 64)
        opened.append(Command(tmp_path / "server", "--ors", *options, small_release))
        return opened[-1].wait()

    yield give
    opened[0].end()


class Client:
    """One session."""

    def __init__(self, http: aiohttp.ClientSession, number: int, wall_clock_s: int) -> None:
        self._http, self.kind, self._wall_clock_s = http, KINDS[number % len(KINDS)], wall_clock_s
        self._headers = {"X-API-Key": TOKEN, "X-Session-ID": f"episode-{number:04}"}

    async def post(self, path: str, body: Any) -> int:
        async with self._http.post(path, json=body, headers=self._headers) as response:
            return response.status

    async def begin(self) -> None:
        assert await self.post("/create", {"split": "train-endless", "index": 0}) == 200
        status = 503
        while status == 503:
            async with self._http.get("/prompt", headers=self._headers) as response:
                status = response.status
        assert status == 200

    async def events(self, code: str) -> AsyncIterator[tuple[str, str]]:
        body = {"name": "run_code", "input": {"code": code}} if code else {"name": "finish"}
        async with self._http.post("/call", json=body, headers=self._headers) as response:
            assert response.status == 200
            name = ""
            async for line in response.content:
                word, _, rest = line.decode().rstrip("\n").partition(": ")
                if word == "event":
                    name = rest
                elif word == "data":
                    yield name, rest

    async def call(self, code: str = "") -> dict[str, Any]:
        """Run a script, or finish. Returns the output, or what went wrong."""
        events = [event async for event in self.events(code)]
        if events[-1][0] == "error":
            return {"finished": True, "reward": None, "metadata": {"ending": "error"}}
        return json.loads("".join(data for name, data in events if name != "task_id"))["output"]

    async def play(self) -> dict[str, Any]:
        """Play to the end, and return the last output."""
        await self.begin()
        output = await self.call(SAMPLE)
        if self.kind == "leaves":
            async for _ in self.events(HANG):
                break
        if self.kind in ("leaves", "sleeps"):
            # Only the wall clock ends these. The next call, whenever it comes, gives the result.
            await asyncio.sleep(self._wall_clock_s)
        codes = {
            "quick": ("print(1)",),
            "slow": 3 * (SLOW,),
            "hangs": 20 * (HANG,),
            "spins": 20 * ("while True: pass",),
        }
        for code in (*codes.get(self.kind, ()), ""):
            if output["finished"]:
                break
            output = await self.call(code)
        await self.post("/delete", None)
        return output


@pytest.mark.parametrize(("number", "wall_clock_s"), [(64, 60), (256, 150)])
def test_no_episode_outlasts_its_wall_clock(start, number, wall_clock_s, record_property):
    server = start(wall_clock_s)

    async def play() -> list[tuple[str, dict[str, Any]]]:
        # A connection that has idled may be closed by the server just when it is used again.
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(server.address, connector=connector) as http:
            clients = [Client(http, place, wall_clock_s) for place in range(number)]
            outputs = await asyncio.gather(*(client.play() for client in clients))
            return [(client.kind, output) for client, output in zip(clients, outputs, strict=True)]

    ended = asyncio.run(play())
    endings = Counter((kind, output["metadata"]["ending"]) for kind, output in ended)
    seconds = [output["metadata"]["duration_s"] for _, output in ended if output["reward"] is not None]
    record_property("endings", str(dict(endings)))
    record_property("longest", max(seconds))
    assert all(output["finished"] for _, output in ended)
    assert max(seconds) <= wall_clock_s
    assert {ending for kind, ending in endings if kind in ("quick", "slow")} == {"finished"}
    assert {ending for kind, ending in endings if kind in ("leaves", "sleeps")} == {"time"}
    assert {ending for kind, ending in endings if kind == "hangs"} <= {"time", "steps"}
    health = server.health()
    assert (health["running"], health["queued"]) == (0, 0)
