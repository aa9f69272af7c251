"""An HTTP proxy in front of an S3 server that throttles, cuts, delays, and drops headers, by a plan from a seed."""

import http.client
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from urllib.parse import urlsplit

import pytest

SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>"
)


class Fault(StrEnum):
    NONE = "none"
    SLOW_DOWN = "503 SlowDown"
    CUT_BEFORE = "cut before the request reaches the server"
    CUT_UPLOAD = "cut in the middle of the request's body"
    CUT_AFTER = "cut before the answer, after the server did its work"
    CUT_BODY = "cut in the middle of the answer's body"
    DELAY = "delay"


Plan = Callable[[str, str, int], Fault]
"""Fault of a request, by method, path and the number of requests with both before it."""


def no_faults(method: str, path: str, number: int) -> Fault:
    return Fault.NONE


def burst(fault: Fault, length: int) -> Plan:
    """The first requests of each method and path fail."""
    return lambda method, path, number: fault if number < length else Fault.NONE


def always(fault: Fault, *methods: str) -> Plan:
    return lambda method, path, number: fault if not methods or method in methods else Fault.NONE


def random_faults(seed: int, chance: float, faults: tuple[Fault, ...] = tuple(Fault)[1:]) -> Plan:
    """Faults by chance, the same for the same seed, whatever the order of requests; at most two in a row."""

    def draw(method: str, path: str, number: int) -> Fault:
        rng = Random(f"{seed} {method} {path} {number}")
        return rng.choice(faults) if number % 3 < 2 and rng.random() < chance else Fault.NONE

    return draw


@dataclass
class FaultyS3:
    """Counts and the plan of a running proxy. Both may be changed at any time."""

    plan: Plan = no_faults
    dropped: frozenset[str] = frozenset()
    """Names of headers that are not passed on, in small letters."""
    delay_s: float = 0.05
    requests: list[tuple[str, str]] = field(default_factory=list)
    faults: Counter[Fault] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    """Bytes of answers by path."""
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_fault(self, method: str, path: str) -> Fault:
        with self._lock:
            self.requests.append((method, path))
            fault = self.plan(method, path, self._seen[method, path])
            self._seen[method, path] += 1
            self.faults[fault] += 1
            return fault

    def forget(self, plan: Plan = no_faults) -> None:
        """Begin counting again, with another plan."""
        with self._lock:
            self.plan = plan
            for counted in (self.faults, self.sent, self._seen, self.requests):
                counted.clear()


def dies_after(faulty: FaultyS3, last: int) -> Plan:
    """All requests but the first ones fail."""
    return lambda method, path, number: Fault.CUT_BEFORE if len(faulty.requests) > last else Fault.NONE


@contextmanager
def faulty_s3(endpoint: str) -> Iterator[tuple[FaultyS3, str]]:
    """Run a proxy before an S3 server, and give it with its own address."""
    faulty, upstream = FaultyS3(), urlsplit(endpoint)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_any(self) -> None:
            fault = faulty.next_fault(self.command, self.path)
            length = int(self.headers.get("Content-Length") or 0)
            if fault in (Fault.CUT_BEFORE, Fault.CUT_UPLOAD):
                self.rfile.read(length // 2 if fault is Fault.CUT_UPLOAD else 0)
                self.close_connection = True
                return
            body = self.rfile.read(length)
            if fault is Fault.SLOW_DOWN:
                self._answer(503, {"Content-Type": "application/xml", "Content-Length": str(len(SLOW_DOWN))}, SLOW_DOWN)
                return
            if fault is Fault.DELAY:
                time.sleep(faulty.delay_s)
            status, headers, content = self._forward(body)
            if fault is Fault.CUT_AFTER:
                self.close_connection = True
                return
            if fault is Fault.CUT_BODY:
                self._answer(status, headers, content[: len(content) // 2])
                self.close_connection = True
                return
            self._answer(status, headers, content)

        def _forward(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
            connection = http.client.HTTPConnection(upstream.hostname or "", upstream.port, timeout=60)
            left_out = faulty.dropped | {"connection", "expect"}
            headers = {name: value for name, value in self.headers.items() if name.lower() not in left_out}
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            content = response.read()
            kept = {
                name: value
                for name, value in response.getheaders()
                if name.lower() not in ("connection", "transfer-encoding", "date", "server")
            }
            if self.command != "HEAD":
                kept = {name: value for name, value in kept.items() if name.lower() != "content-length"}
                kept["Content-Length"] = str(len(content))
            connection.close()
            return response.status, kept, content

        def _answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
                with faulty._lock:
                    faulty.sent[self.path] += len(content)

        def log_message(self, *args: object) -> None:
            pass

    for method in ("GET", "PUT", "HEAD", "POST", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.handle_any)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *args: object) -> None:
            pass  # the client may have cut the connection, too

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield faulty, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def faulty(s3_root: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyS3]:
    """Put a proxy before the S3 server of the tests, for this process and those that it starts."""
    with faulty_s3(os.environ["AWS_ENDPOINT_URL"]) as (proxy, address):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        yield proxy


@pytest.fixture
def quick_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the number of attempts, and wait hardly at all between them."""
    from botocore.retries.standard import ExponentialBackoff

    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda self, context: 0.01)
