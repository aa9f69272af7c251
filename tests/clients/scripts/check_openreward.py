"""Play episodes with the SDK of OpenReward. Usage: check_openreward.py ADDRESS TOKEN SOLUTIONS PID. Prints JSON.

SOLUTIONS is a JSON file with a reference solution for each task id. PID is the process of the server, which the last
episode stops while a script runs.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from openreward import AsyncOpenReward
from openreward.api.errors import SessionTerminatedError, ToolCallError, ToolFailed

ADDRESS, TOKEN, SOLUTIONS, PID = sys.argv[1:]
os.environ |= dict.fromkeys(("OPENREWARD_SESSION_URL", "OPENREWARD_API_URL"), ADDRESS)
os.environ["OPENREWARD_DISABLE_UPDATE_CHECK"] = "1"
solutions: dict[str, str] = json.loads(Path(SOLUTIONS).read_text())


async def play(env: Any, task: Any) -> dict[str, Any]:
    """Play one whole episode."""
    async with env.session(task=task) as session:
        (prompt,) = await session.get_prompt()
        messages = await session.get_messages(format="openai")
        tools = await session.list_tools(format="openai")
        solution = solutions[task.task_spec["task_id"].partition("-fresh-")[0]]
        outputs = [await session.call_tool("run_code", {"code": code}) for code in ("print('hello   you')", solution)]
        outputs.append(await session.call_tool("submit"))
        wrong = []
        for name, arguments in (("jump", {}), ("run_code", {"script": "1"})):
            try:
                await session.call_tool(name, arguments)
            except ToolCallError as error:
                wrong.append(error.reason)
        last = await session.call_tool("finish", {})
        try:
            await session.call_tool("submit")
        except ToolCallError as error:
            wrong.append(error.reason)
        return {
            "prompt": prompt.text,
            "messages": messages,
            "tools": [tool["name"] for tool in tools],
            "texts": [output.blocks[0].text for output in outputs],
            "before": [[output.reward, output.finished] for output in outputs],
            "wrong": wrong,
            "last": [last.reward, last.finished, last.metadata],
        }


async def stop_server(env: Any, split: str) -> list[str]:
    """Stop the server while a script runs, and return what the call and the next one raise."""
    raised = []
    async with env.session(split=split, index=0) as session:
        running = asyncio.create_task(session.call_tool("run_code", {"code": "import time; time.sleep(25)"}))
        await asyncio.sleep(2)
        os.kill(int(PID), signal.SIGTERM)
        for call in (running, session.call_tool("finish", {})):
            try:
                raised.append(str(await call))
            except (ToolFailed, SessionTerminatedError) as error:
                raised.append(f"{type(error).__name__}: {error}")
    return raised


async def main() -> None:
    client = AsyncOpenReward(api_key=TOKEN)
    env = client.environments.get("small")
    splits = await env.list_splits()
    listed = {split: await env.list_tasks(split) for split in splits if "endless" not in split}
    tasks = [task for split in listed.values() for task in split]
    endless = await env.get_task_range("train-endless", 0, 2)
    played = await asyncio.gather(*(play(env, task) for task in (*tasks, endless[0])))
    seen = {
        "splits": splits,
        "numbers": {split: await env.num_tasks(split) for split in splits},
        "specs": [task.task_spec for task in tasks],
        "endless": [task.task_spec for task in endless],
        "same": (await env.get_task("train-endless", 1)).task_spec == endless[1].task_spec,
        "tools": [tool.name for tool in await env.list_tools()],
        "variant": await client.environments.get("someone/other", variant="small").list_splits(),
        "played": played,
        "terminal": await env.terminal_tool(),
        "groups": await env.supports_score_group(),
    }
    seen["stopped"] = await stop_server(env, splits[0])
    await client.environments.aclose()
    print(json.dumps(seen))


asyncio.run(main())
