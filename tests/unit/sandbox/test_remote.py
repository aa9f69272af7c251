"""The remote sandbox against servers with real sockets: honest ones, dead ones, and ones that answer nonsense."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import sandmill
from sandmill.errors import InputError, SandboxUnavailable
from sandmill.models.remote import API, PublicUpload, ServerInfo
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits
from sandmill.sandbox import AsyncSandbox, RemoteSandbox, remote, remote_server
from sandmill.sandbox.public_folder import digest_of, read_folder
from sandmill.sandbox.wire import PIECE_BYTES, json_pieces
from tests.processes import wait_until
from tests.servers import TOKEN, Site, Sites

Answer = tuple[int, bytes, dict[str, str]] | Callable[[BaseHTTPRequestHandler], None]
INFO = ServerInfo(
    api=API,
    version="0.1.0",
    backend="warm",
    isolation=Isolation.WARM,
    limits=RunLimits(),
    timeout=300,
    concurrency=1,
    queue=1,
    max_request_bytes=256 << 20,
    tasks=0,
)


def result(**changes: object) -> bytes:
    return json.dumps({"results": [{"outcome": "ok", "isolation": "warm", **changes}]}).encode()


class Scripted:
    """A server that gives one answer to all runs, and counts them."""

    def __init__(self, answer: Answer, info: ServerInfo = INFO) -> None:
        scripted = self
        self.answer, self.asked = answer, 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.send(200, info.model_dump_json().encode(), {})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                scripted.asked += 1
                if callable(scripted.answer):
                    scripted.answer(self)
                else:
                    self.send(*scripted.answer)

            def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {"content-length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Answer half, then break the connection, as a killed process does."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n")
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def stay_silent(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(3)
    handler.close_connection = True


def flood(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n{")
    try:
        while True:
            handler.wfile.write(b"x" * (1 << 20))
    except OSError:
        handler.close_connection = True


def hang(beat: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Send white space for ever, as a server whose run never starts or never ends."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(100):
                handler.wfile.write(b"1\r\n" + beat + b"\r\n")
                time.sleep(0.1)
        except OSError:
            handler.close_connection = True

    return answer


FAULTS: dict[str, Answer] = {
    "connection broken": reset,
    "no answer": stay_silent,
    "too much": flood,
    "HTTP 500": (500, b'{"detail": "oops"}', {}),
    "HTTP 502, not JSON": (502, b"<html>", {}),
    "HTTP 503": (503, b'{"detail": "the server is stopping"}', {"retry-after": "30"}),
    "HTTP 422": (422, b'{"detail": "limits"}', {}),
    "token refused": (401, b'{"detail": "no"}', {}),
    "not JSON": (200, b"hello", {}),
    "empty": (200, b"", {}),
    "no results": (200, b'{"results": []}', {}),
    "two results": (200, b'{"results": [%b, %b]}' % ((result()[13:-2],) * 2), {}),
    "unknown outcome": (200, result(outcome="gold"), {}),
    "unknown field": (200, result(reward=1.0), {}),
    "infra_error": (200, result(outcome="infra_error", detail="no memory"), {}),
    "path that leaves the folder": (
        200,
        result(scratch={"written": [{"path": "../up", "content": ""}], "removed": []}),
        {},
    ),
}


@pytest.fixture
def public(tmp_path) -> Path:
    folder = tmp_path / "lamps" / "public"
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text("id\n1\n")
    return folder


@pytest.fixture
def sites(tmp_path) -> Iterator[Sites]:
    opened = Sites(tmp_path)
    yield opened
    opened.close()


def address(site: Site) -> str:
    return f"http://127.0.0.1:{site.port}"


def connect(*servers: Site | Scripted | str, **settings: object) -> RemoteSandbox:
    listed = [address(one) if isinstance(one, Site) else getattr(one, "address", one) for one in servers]
    return RemoteSandbox(listed, token=TOKEN, **settings)


def test_a_run_gives_the_result_of_the_server(sites, public):
    site = sites.open()
    with sandmill.RemoteSandbox([address(site)], token=TOKEN) as box:
        assert (box.backend, box.isolation, box.limits) == ("remote", Isolation.WARM, RunLimits())
        ran = box.run("list\nsubmit id,x\\n", public=public, timeout=5)
    assert (ran.outcome, ran.stdout, ran.submission) == (Outcome.OK, "train.csv\n", b"id,x\n")
    assert site.box.runs == [{"code": "list\nsubmit id,x\\n", "timeout": 5.0, "limits": RunLimits(), "scratch": None}]


def test_a_public_folder_is_uploaded_once_and_again_when_it_changes(sites, public):
    site = sites.open()
    box = connect(site)
    for _ in range(3):
        box.run("list", public=public)
    assert len(site.service.publics._sizes) == 1
    (public / "more.csv").write_text("x")
    assert box.run("list", public=public).stdout == "more.csv train.csv\n"
    assert len(site.service.publics._sizes) == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_of_a_faulty_server_is_repeated_on_another(fault, sites, public, monkeypatch):
    monkeypatch.setattr(remote_server, "SILENCE_S", 0.5)
    bad, good = Scripted(FAULTS[fault]), sites.open()
    box = connect(bad, good, scratch_mb=1, limits=RunLimits(submission_mb=1))
    for _ in range(4):
        assert box.run("print fine", public=public).stdout == "fine\n"
    # The faulty server is left out after its first failure, unless the code of one task alone could be the cause.
    assert bad.asked == 1 or (fault == "infra_error" and bad.asked <= 4)


@pytest.mark.parametrize("fault", ["connection broken", "too much", "HTTP 500", "not JSON", "infra_error"])
def test_if_all_servers_are_faulty_the_result_is_masked_and_names_the_fault(fault, public, monkeypatch):
    monkeypatch.setattr(remote_server, "SILENCE_S", 0.5)
    first, second = Scripted(FAULTS[fault]), Scripted(FAULTS[fault])
    box = connect(first, second, scratch_mb=1, limits=RunLimits(submission_mb=1))
    ran = box.run("print fine", public=public)
    assert (ran.outcome, ran.submission) == (Outcome.INFRA_ERROR, None)
    assert ran.detail == "no memory" if fault == "infra_error" else "all servers failed" in ran.detail
    assert (first.asked, second.asked) == (1, 1)


def test_a_run_that_never_ends_on_its_server_is_repeated_on_another(sites, public, monkeypatch):
    monkeypatch.setattr(remote, "_GRACE_S", 0.5)
    bad, good = Scripted(hang(b"\n")), sites.open()
    box = connect(bad, good)
    started = time.monotonic()
    assert box.run("print fine", public=public, timeout=1).stdout == "fine\n"
    assert box.run("print fine", public=public, timeout=1).stdout == "fine\n"
    assert 1.5 < time.monotonic() - started < 10


def lose(body: bytes = b"") -> Callable[[BaseHTTPRequestHandler], None]:
    """Send that the run has started, then a body, and break the connection."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        content = b"\n" + body
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + content)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    return answer


LOST: dict[str, Answer] = {
    "connection broken": lose(),
    "half a reply": lose(result()[:9]),
    "not JSON": (200, b"\nhello", {}),
    "too much": (200, b"\n" + b" " * 100 + b"x" * (8 << 20), {}),
    "too large a submission": (200, b"\n" + result(submission="QUFB" * 400_000), {}),
}


@pytest.mark.parametrize("fault", LOST)
def test_a_run_that_two_servers_lose_after_its_start_is_a_failure_of_the_agent(fault, public, caplog):
    first, second, third = (Scripted(LOST[fault]) for _ in range(3))
    box = connect(first, second, third, limits=RunLimits(submission_mb=1))
    ran = box.run("print fine", public=public)
    assert (ran.outcome, "counts as failed" in ran.detail) == (Outcome.RUNTIME_ERROR, True)
    assert sorted([first.asked, second.asked, third.asked]) == [0, 1, 1]
    assert caplog.text.count("lost a run that had started") == 2


def test_a_server_that_loses_runs_stays_in_use_if_no_other_is_left(public):
    answers = iter([lose(), lose(), (500, b"{}", {}), (200, result(stdout="fine"), {})])

    def answer_next(handler: BaseHTTPRequestHandler) -> None:
        answer = next(answers)
        answer(handler) if callable(answer) else handler.send(*answer)

    box = connect(Scripted(answer_next))
    outcomes = [box.run("x", public=public).outcome for _ in range(3)]
    assert outcomes == [Outcome.RUNTIME_ERROR, Outcome.INFRA_ERROR, Outcome.OK]


def test_losses_leave_a_server_out_for_a_short_time_and_faults_for_longer(public, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(remote, "monotonic", lambda: now[0])
    bad, good = Scripted(lose()), Scripted((200, result(stdout="fine"), {}))
    box = connect(bad, good)

    def asked_after(seconds: float) -> int:
        now[0] += seconds
        before = bad.asked
        for _ in range(2):
            assert box.run("x", public=public).stdout == "fine"
        return bad.asked - before

    assert [asked_after(seconds) for seconds in (0, 1, 3, 3)] == [1, 0, 1, 1]
    bad.answer = (500, b"{}", {})
    assert [asked_after(seconds) for seconds in (3, 3, 31)] == [1, 0, 1]


def test_a_client_keeps_its_own_limits_whatever_a_server_sends(public):
    answer = result(stdout="x" * (5 << 20) + "end", stderr="é" * (1 << 20), detail="\x1b[2J" * 5000, duration_s=1e300)
    ran = connect(Scripted((200, answer, {})), limits=RunLimits(output_kb=2)).run("x", public=public, timeout=1)
    assert (len(ran.stdout), ran.stdout[-3:], len(ran.stderr)) == (2048, "end", 2048)
    assert ran.detail.startswith("\\x1b[2J")
    assert (len(ran.detail) < 10_000, "\x1b" in ran.detail, ran.duration_s) == (True, False, 61.0)


def test_a_server_that_forgets_public_folders_is_asked_three_times(public):
    asked = []

    def forget(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        if handler.path == "/v1/runs":
            handler.send(404, b'{"detail": "unknown public folder"}', {})
        else:
            digest = digest_of(read_folder(public))
            handler.send(200, json.dumps({"public": digest}).encode(), {})

    ran = connect(Scripted(forget)).run("x", public=public)
    assert (ran.outcome, "does not keep the public folder" in ran.detail) == (Outcome.INFRA_ERROR, True)
    assert asked == ["/v1/runs", "/v1/public"] * 2 + ["/v1/runs"]


def test_names_that_take_much_json_are_not_carried_without_limit(sites, public, tmp_path):
    scratch = tmp_path / "scratch"
    folder = scratch / Path(*["\x01" * 250] * 7)
    folder.mkdir(parents=True)
    for number in range(800):
        (folder / f"{number:04}").touch()
    ran = connect(sites.open()).run("print fine", public=public, scratch=scratch)
    assert (ran.stdout, "paths were not sent" in ran.detail) == ("fine\n", True)


def test_time_in_the_queue_does_not_count_as_time_of_the_run(sites, public, monkeypatch):
    monkeypatch.setattr(remote, "_GRACE_S", 0.5)
    box = connect(sites.open(concurrency=1))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(box.run, "sleep 2", public=public, timeout=3)
        time.sleep(0.5)
        assert box.run("print fine", public=public, timeout=0.2).stdout == "fine\n"
        first.result()


def test_a_full_server_is_left_alone_and_the_other_takes_the_run(sites, public):
    full, free = Scripted((429, b"{}", {"retry-after": "7"})), sites.open()
    box = connect(full, free)
    for _ in range(4):
        assert box.run("print fine", public=public).stdout == "fine\n"
    assert full.asked == 1


def test_full_servers_are_asked_again_after_the_time_that_they_name(public):
    server = Scripted((429, b"{}", {"retry-after": "1"}))
    box = connect(server)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(box.run, "x", public=public)
        time.sleep(0.5)
        assert server.asked == 1
        server.answer = (200, result(stdout="at last"), {})
        assert waiting.result(5).stdout == "at last"


def test_runs_are_spread_over_the_servers(sites, public):
    first, second, third = (sites.open(queue=100) for _ in range(3))
    box = connect(first, second, third)
    with ThreadPoolExecutor(12) as pool:
        runs = [pool.submit(box.run, f"sleep 0.1\nprint {number}", public=public) for number in range(60)]
        assert [run.result().stdout for run in runs] == [f"{number}\n" for number in range(60)]
    counts = [len(site.box.runs) for site in (first, second, third)]
    assert sum(counts) == 60
    assert min(counts) >= 12


def test_a_wrong_token_is_an_error_at_the_start(sites):
    with pytest.raises(InputError, match="refuses it: the token is missing or wrong"):
        RemoteSandbox([address(sites.open())], token="x" * 20).start()


def test_servers_that_do_not_answer_are_named(sites, public):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(SandboxUnavailable, match=f"{dead}: saw Connection refused"):
        connect(dead).start()
    box = connect(dead, sites.open())
    box.start()
    assert box.run("print fine", public=public).stdout == "fine\n"


def test_a_server_with_another_protocol_is_left_out():
    with pytest.raises(SandboxUnavailable, match=f"version {API - 1} of the protocol.*: install one version"):
        connect(Scripted((200, b"", {}), INFO.model_copy(update={"api": API - 1}))).start()


@pytest.mark.parametrize(
    ("addresses", "token", "problem"),
    [
        ([], TOKEN, "at least one address"),
        (["10.0.0.1:8700"], TOKEN, "saw '10.0.0.1:8700'"),
        (["ftp://a"], TOKEN, "saw 'ftp://a'"),
        (["http://"], TOKEN, "saw 'http://'"),
        (["http://a:99999"], TOKEN, "Port out of range"),
        (["http://user:secret@a"], TOKEN, "an address with a user or password"),
        ([7], TOKEN, "an object of type int"),
        (["http://a", "http://a/"], TOKEN, "http://a twice"),
        (["http://a"], "short", "a value that no server accepts"),
        (["http://a"], None, "a value that no server accepts"),
        (["http://a"], "with space and more", "a value that no server accepts"),
        (["http://a"], "line\r\nX-Header: injected", "a value that no server accepts"),
    ],
)
def test_wrong_addresses_and_tokens_are_refused(addresses, token, problem):
    with pytest.raises(InputError) as caught:
        RemoteSandbox(addresses, token=token)
    assert problem in str(caught.value)
    assert "secret" not in str(caught.value)


def test_limits_are_the_smallest_of_all_servers_and_travel_with_each_run(sites, public):
    small, large = sites.open(limits=RunLimits(memory_mb=300)), sites.open(limits=RunLimits(processes=9, cores=1))
    box = connect(small, large)
    assert box.limits == RunLimits(memory_mb=300, processes=9, cores=1)
    for _ in range(2):
        box.run("print a", public=public)
    assert [site.box.runs[0]["limits"] for site in (small, large)] == [box.limits] * 2


def test_limits_above_those_of_a_server_are_an_error_at_the_start(sites):
    site = sites.open(limits=RunLimits(memory_mb=300, cores=2))
    with pytest.raises(InputError) as caught:
        connect(site, limits=RunLimits(memory_mb=400)).start()
    assert [problem.saw for problem in caught.value.problems] == ["memory_mb 400", "cores None"]
    with pytest.raises(InputError, match="scratch_mb"):
        connect(site, scratch_mb=4096).start()


def test_arguments_are_checked_as_the_local_sandbox_checks_them(sites, public, tmp_path):
    box = connect(sites.open(timeout_s=50.0))
    for arguments, problem in (
        ({"timeout": 51}, "at most 50"),
        ({"timeout": 0}, "above 0"),
        ({"public": tmp_path / "none"}, "which does not exist"),
        ({"public": public.parent}, None),
        ({"scratch": tmp_path / "none"}, "not a folder"),
    ):
        if problem:
            with pytest.raises(InputError, match=problem):
                box.run("x", **{"public": public, **arguments})
    (public / "answers.csv").touch()
    with pytest.raises(InputError, match="a name of private files"):
        box.run("x", public=public)
    (public / "answers.csv").unlink()
    (public / "with space.csv").touch()
    with pytest.raises(InputError, match="not a plain relative path"):
        box.run("x", public=public)


def test_a_scratch_folder_travels_there_and_back(sites, public, tmp_path):
    scratch = tmp_path / "scratch"
    (scratch / "models").mkdir(parents=True)
    for name in ("kept", "gone", "models/a.bin"):
        (scratch / name).write_text(name)
    (scratch / "link").symlink_to("/etc/passwd")
    box = connect(sites.open())
    ran = box.run("list\nremove gone\nwrite kept changed\nwrite new 1", public=public, scratch=scratch)
    assert (ran.stdout, ran.detail) == ("gone kept models\n", "")
    assert sorted(path.name for path in scratch.iterdir()) == ["kept", "link", "models", "new"]
    assert (scratch / "kept").read_text() == "changed"
    assert (scratch / "models" / "a.bin").read_text() == "models/a.bin"
    assert (scratch / "link").is_symlink()


def test_a_server_removes_no_files_that_were_not_sent_and_writes_through_no_link(public, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "folder").symlink_to(outside)
    (scratch / "large").write_bytes(bytes(2 << 20))
    written = [{"path": name, "content": "aGE="} for name in ("folder/mine", "folder/new")]
    answer = result(scratch={"written": written, "removed": ["folder/mine", "large"]})
    ran = connect(Scripted((200, answer, {})), scratch_mb=1).run("x", public=public, scratch=scratch)
    assert (outside / "mine").read_text() == "mine"
    assert sorted(path.name for path in outside.iterdir()) == ["mine"]
    assert (scratch / "large").exists()
    assert ran.detail == "1 path was not sent, first large; 2 paths were not written, first folder/mine"


def test_a_cancelled_run_ends_here_and_on_the_server(sites, public):
    site = sites.open()
    box = connect(site)
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    started = time.monotonic()
    ran = box.run("sleep 30", public=public, cancel=cancel)
    assert (ran.outcome, ran.detail) == (Outcome.INFRA_ERROR, "cancelled")
    assert wait_until(lambda: site.service.queue.is_idle, 5)
    assert time.monotonic() - started < 5


def test_coroutines_over_a_remote_sandbox(sites, public):
    site = sites.open(concurrency=8)

    async def many() -> list[str]:
        async with AsyncSandbox.over(connect(site), concurrency=8) as box:
            assert (box.backend, box.limits) == ("remote", RunLimits())
            runs = [box.run(f"sleep 0.2\nprint {number}", public=public) for number in range(8)]
            ended = await asyncio.gather(*runs)
            task = asyncio.create_task(box.run("sleep 30", public=public))
            await asyncio.sleep(0.3)
            task.cancel()
            return [one.stdout for one in ended]

    assert asyncio.run(many()) == [f"{number}\n" for number in range(8)]


@pytest.mark.parametrize("sizes", [(), (0,), (1, 0, 5), (PIECE_BYTES,), (1_000_003, 7, 2 * PIECE_BYTES + 1)])
def test_messages_of_any_size_travel_in_small_pieces(sizes):
    files = {f"{number}.csv": bytes([number]) * size for number, size in enumerate(sizes)}
    message = PublicUpload(files=files)
    text = list(json_pieces(message))
    assert max(map(len, text)) < 2 * PIECE_BYTES
    assert PublicUpload.model_validate_json(b"".join(text)) == message
