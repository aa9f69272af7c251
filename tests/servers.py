"""Servers for tests: in this process over a box that obeys words, and as the real command in a process of its own."""

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.serve.app import make_app
from sandmill.serve.queue import RunQueue
from sandmill.serve.runs import RunService
from sandmill.serve.serve import listen, server_config
from sandmill.serve.settings import ServerSettings
from sandmill.serve.tasks import ServedTasks

TOKEN = "the-token-of-the-tests"


@dataclass
class WordBox:
    """Runs lines such as `print WORD`, `sleep SECONDS`, `submit TEXT`, `write NAME TEXT`, `remove NAME`, `crash`."""

    backend: str = "warm"
    isolation: Isolation = Isolation.WARM
    limits: RunLimits = field(default_factory=RunLimits)
    runs: list[dict[str, Any]] = field(default_factory=list)

    def with_limits(self, limits: RunLimits) -> "WordBox":
        other = copy(self)
        other.limits = limits
        return other

    def run(self, code: str, *, public: Path, scratch: Path | None, timeout: float, cancel: threading.Event):
        self.runs.append({"code": code, "timeout": timeout, "limits": self.limits, "scratch": scratch})
        stdout, submission = "", None
        for line in code.splitlines():
            word, _, rest = line.partition(" ")
            match word:
                case "print":
                    stdout += f"{rest}\n"
                case "list":
                    stdout += " ".join(sorted(path.name for path in (scratch or public).iterdir())) + "\n"
                case "sleep":
                    cancel.wait(float(rest))
                case "submit":
                    submission = rest.replace("\\n", "\n").encode()
                case "write":
                    name, _, text = rest.partition(" ")
                    (scratch / name).write_text(text)
                case "remove":
                    (scratch / rest).unlink()
                case "crash":
                    raise RuntimeError("the box broke")
        outcome = Outcome.OK if submission is not None else Outcome.NO_SUBMISSION
        return RunResult(outcome=outcome, isolation=self.isolation, stdout=stdout, submission=submission)


@dataclass
class Site:
    """A running server and a client of it."""

    port: int
    service: RunService
    box: WordBox
    is_stopping: bool = False

    def begin(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None):
        """Send a request with the token. Returns the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"} | (headers or {})
        connection.request(method, path, data, {name: value for name, value in sent.items() if value})
        return connection

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None):
        """Send a request with the token. Returns the status, the decoded body and the headers."""
        connection = self.begin(method, path, body, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text) if text else None, response.headers

    def run(self, *runs: dict[str, Any]):
        """Send runs. Returns their results."""
        status, body, _ = self.ask("POST", "/v1/runs", {"runs": runs})
        assert status == 200, body
        return body["results"]


class Sites:
    """Servers in this process, each on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: list[tuple[uvicorn.Server, threading.Thread, RunQueue]] = []

    def open(
        self,
        *sources: Path | str,
        concurrency: int = 2,
        queue: int = 4,
        limits: RunLimits | None = None,
        connections: int = 1000,
        token: str | None = TOKEN,
        **settings: Any,
    ) -> Site:
        state = self._folder / f"state-{len(self._open)}"
        state.mkdir()
        box = WordBox(limits=limits or RunLimits())
        runs = RunQueue(concurrency, queue)
        tasks = ServedTasks([str(source) for source in sources])
        service = RunService(box, tasks, runs, ServerSettings(**settings), state)  # type: ignore[arg-type]
        listener = listen("127.0.0.1", 0)
        site = Site(listener.getsockname()[1], service, box)
        app = make_app(service, token, lambda: site.is_stopping)
        config = server_config(app, connections)
        config.timeout_graceful_shutdown = 1
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        self._open.append((server, thread, runs))
        return site

    def close(self) -> None:
        for server, thread, runs in self._open:
            server.should_exit = True
            runs.close()
            thread.join(20)
            assert not thread.is_alive()


class Command:
    """`sandmill serve` in a process of its own, as a user starts it."""

    def __init__(
        self, folder: Path, *arguments: object, temporary: Path | None = None, descriptors: int | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.temporary = temporary or folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        token = folder / "token"
        token.touch(0o600)
        token.write_text(f"{TOKEN}\n")
        self.output, self.errors = folder / "out", folder / "err"
        limit = f"import resource as r; r.setrlimit(r.RLIMIT_NOFILE, ({descriptors},) * 2); " if descriptors else ""
        code = f"{limit}from sandmill.cli import main; main()"
        command = [sys.executable, "-c", code, "serve", "--port", "0", "--token-file", token, *arguments]
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        with self.output.open("w") as output, self.errors.open("w") as errors:
            self.process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=errors, env=environment)

    def wait(self, seconds: float = 90) -> "Command":
        """Wait until it listens."""
        deadline = time.monotonic() + seconds
        while not (found := re.search(r"on (http://\S+) ", self.output.read_text())):
            assert self.process.poll() is None, self.errors.read_text()
            assert time.monotonic() < deadline, "it does not listen"
            time.sleep(0.05)
        self.address = found[1]
        return self

    def health(self) -> dict[str, Any]:
        """Return what it says about itself."""
        port = int(self.address.rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/health")
        return json.loads(connection.getresponse().read())

    def end(self) -> None:
        """End it at once."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
