"""A scripted server with the chat interface that LiteLLM speaks: a function of the request decides on the answer."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What is sent back for one request, and how."""

    text: str = "{}"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    refusal: str | None = None
    wait_s: float = 0.0
    """Before the first byte."""
    drip_s: float = 0.0
    """Between two bytes of the body, as a server that is stuck does."""
    tokens: tuple[int, int] | None = (100, 50)
    """Of the prompt and of the answer; none: the server does not say."""
    raw: bytes | None = None
    """The whole body, for servers that speak something else."""


def good(value: object, **how: Any) -> Answer:
    """Answer with JSON that may be right."""
    return Answer(text=json.dumps(value), **how)


def error(status: int, message: str = "no", retry_after: str | None = None) -> Answer:
    """Answer with an error as OpenAI words it."""
    headers = () if retry_after is None else (("Retry-After", retry_after),)
    body = {"error": {"message": message, "type": "error", "code": str(status)}}
    return Answer(status=status, headers=headers, raw=json.dumps(body).encode())


@dataclass
class Received:
    """One request as it came."""

    body: Body
    headers: dict[str, str]

    @property
    def prompt(self) -> str:
        """All messages, one after the other."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @property
    def form(self) -> str:
        """How the answer was asked to look."""
        return str(self.body.get("response_format", {}).get("type", "text"))


Script = Callable[[Received], Answer]


@dataclass
class LlmServer:
    """Listens on a port of its own in a thread of its own, and keeps every request."""

    script: Script
    port: int = 0
    received: list[Received] = field(default_factory=list)
    busiest: int = 0
    """Most requests that were open at once."""
    _open: int = 0

    @property
    def base(self) -> str:
        """What a client is given as `api_base`."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
        received = Received(body, headers)
        self.received.append(received)
        self._open += 1
        self.busiest = max(self.busiest, self._open)
        try:
            answer = self.script(received)
            await asyncio.sleep(answer.wait_s)
        finally:
            self._open -= 1
        content = _body(answer, body) if answer.raw is None else answer.raw
        lines = [f"HTTP/1.1 {answer.status} X", "Content-Type: application/json", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        if answer.drip_s:
            for byte in content:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(answer.drip_s)
        else:
            writer.write(content)
        await writer.drain()
        return True


def _body(answer: Answer, asked: Body) -> bytes:
    message = {"role": "assistant", "content": answer.text}
    if answer.refusal is not None:
        message |= {"content": None, "refusal": answer.refusal}  # type: ignore[dict-item]
    body: Body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
    }
    if answer.tokens is not None:
        prompt, answered = answer.tokens
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": answered, "total_tokens": prompt + answered}
    return json.dumps(body).encode()


def in_turn(answers: Sequence[Answer]) -> Script:
    """Give one answer after the other, the last one for ever."""
    lock, left = threading.Lock(), list(answers)

    def script(_: Received) -> Answer:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


@contextmanager
def serve(script: Script | Sequence[Answer]) -> Iterator[LlmServer]:
    """Run a server while the block runs."""
    server = LlmServer(script if callable(script) else in_turn(script))
    loop, is_up = asyncio.new_event_loop(), threading.Event()

    async def start() -> None:
        listening = await asyncio.start_server(server._serve, "127.0.0.1", 0, backlog=512)
        server.port = listening.sockets[0].getsockname()[1]

    def run() -> None:
        loop.run_until_complete(start())
        loop.call_soon(is_up.set)  # a stop that comes before the loop runs for ever would be lost
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    is_up.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
