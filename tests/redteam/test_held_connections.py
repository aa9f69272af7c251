"""Clients that open connections and send no request, or never the end of one."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

import sandmill
from sandmill.models.reports import Outcome
from sandmill.serve import gate
from tests.sandbox_corpus import write_public
from tests.servers import TOKEN, Command, Site, Sites

HALF = b"POST /v1/runs HTTP/1.1\r\nHost: x\r\n"
LATE = f"{HALF.decode()}Authorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n\r\n{{".encode()
HELD = {
    "nothing": b"",
    "half of the headers": HALF,
    "a body without the token": HALF + b"Content-Length: 100\r\n\r\n{",
    "a body for a path that needs no token": b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    "a path that needs no token": b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.fixture
def open_site(tmp_path) -> Iterator[Callable[..., Site]]:
    sites = Sites(tmp_path)
    public = tmp_path / "pulled" / "lamps" / "public"
    public.mkdir(parents=True)
    (public / "description.md").write_text("Lamps.")
    yield lambda **settings: sites.open(tmp_path / "pulled", **settings)
    sites.close()


def connect(port: int, sent: bytes = b"") -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port), 30)
    opened.sendall(sent)
    return opened


def end_of(held: socket.socket) -> bytes:
    """Return what the server sends until it closes the connection. It is an error if it does not."""
    received = b""
    try:
        while piece := held.recv(1 << 16):
            received += piece
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("name", HELD)
def test_a_connection_without_the_token_is_closed(name, open_site, monkeypatch):
    monkeypatch.setattr(gate, "_REQUEST_S", 0.2)
    with closing(connect(open_site().port, HELD[name])) as held:
        end_of(held)


def test_bytes_that_trickle_in_do_not_keep_it_open(open_site, monkeypatch):
    monkeypatch.setattr(gate, "_REQUEST_S", 0.5)
    with closing(connect(open_site().port, HALF + b"X: ")) as held:
        held.settimeout(0.05)
        for _ in range(600):
            try:
                held.sendall(b"x")
                assert not held.recv(1)
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("the connection is still open")


def test_a_body_that_does_not_end_is_refused(open_site, monkeypatch):
    monkeypatch.setattr(gate, "_BODY_S", 0.2)
    with closing(connect(open_site().port, LATE)) as held:
        assert b" 408 " in held.recv(1 << 16)


def test_a_long_run_with_the_token_is_not_cut_off(open_site, monkeypatch):
    monkeypatch.setattr(gate, "_REQUEST_S", 1)
    monkeypatch.setattr(gate, "_BODY_S", 1)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", open_site().port, timeout=30)) as client:
        for code in ("print first", "sleep 2\nprint second"):
            client.request("POST", "/v1/runs", json.dumps({"runs": [{"task_id": "lamps", "code": code}]}), headers)
            assert code.split()[-1] in client.getresponse().read().decode()


def test_at_the_limit_the_one_that_waits_longest_makes_room(open_site):
    site = open_site(connections=4)
    results: list[dict] = []
    code = "sleep 2\nprint done"
    runner = threading.Thread(target=lambda: results.extend(site.run({"task_id": "lamps", "code": code})))
    runner.start()
    while not site.service.queue.running:
        time.sleep(0.01)
    with ExitStack() as stack:
        held = [stack.enter_context(closing(connect(site.port, HALF))) for _ in range(20)]
        assert [end_of(one) for one in held[:16]] == [b""] * 16
        assert site.ask("GET", "/health", headers={"Authorization": ""})[0] == 200
    runner.join()
    assert results[0]["stdout"] == "done\n"


@pytest.mark.slow
def test_hundreds_of_half_open_requests_leave_room_for_an_honest_client(agent_env, tmp_path):
    (tmp_path / "task").mkdir()
    public = write_public(tmp_path / "task")
    server = Command(tmp_path / "server", "--concurrency", "2", descriptors=256)
    try:
        port = int(server.wait().address.rsplit(":", 1)[1])
        opened = Path(f"/proc/{server.process.pid}/fd")
        with ExitStack() as stack:
            for _ in range(3):
                for _ in range(200):
                    stack.enter_context(closing(connect(port, HALF)))
                with sandmill.RemoteSandbox([server.address], token=TOKEN) as box:
                    result = box.run("open('submission.csv', 'w').write('x')", public=public)
                assert (result.outcome, result.submission) == (Outcome.OK, b"x"), result
                assert server.health()["status"] == "ok"
                assert len(list(opened.iterdir())) < 256 - 2 * 16
        assert server.errors.read_text() == ""
    finally:
        server.end()
