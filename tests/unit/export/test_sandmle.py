"""The export for SandMLE against its contract: evaluator.py runs as their trainer runs it, and answers stay outside."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from sandmill.export.export import export as export_release
from sandmill.export.sandmle import export
from tests.export_tasks import HIGHER, LOWER, MANIFEST, Exported, make_exported, secret_texts, write_export
from tests.publishing import published
from tests.servers import TOKEN as SERVER_TOKEN
from tests.servers import Sites

TOKEN = "a-token-of-the-trainer"
KEYS = {"score", "is_lower_better", *(f"{name}_threshold" for name in ("gold", "silver", "bronze", "median"))}


def write_task(one: Exported, folder: Path) -> Path:
    """Write the export of one task, and return its public folder."""
    write_export(export([one.task], MANIFEST), folder)
    return folder / one.task.task_id / "prepared" / "public"


def evaluate(public: Path, submission: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the evaluator as SandMLE does: `python evaluator.py`, in the public folder, both streams captured."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and "SANDMILL" not in name}
    command = [sys.executable, "evaluator.py", "--submission_path", str(submission)]
    return subprocess.run(command, cwd=public, env=clean | environment, capture_output=True, text=True, check=False)


class Server:
    """A server with the grade endpoint of `sandmill serve`."""

    def __init__(self, one: Exported) -> None:
        self.one, self.statuses = one, list[int]()
        """Status codes of the next answers, instead of a grade."""
        self.requests: list[tuple[str, str, bytes]] = []
        self.location = ""
        self.reply: bytes | None = None

    def answer(self, path: str, token: str, body: bytes) -> tuple[int, bytes]:
        self.requests.append((path, token, body))
        if self.statuses:
            return self.statuses.pop(0), b"{}"
        if token != f"Bearer {TOKEN}":
            return 401, b"{}"
        if path != f"/v1/grade/{self.one.task.task_id}":
            return 422, b'{"detail": "unknown task"}'
        report = self.one.grade(body).model_dump_json(exclude={"feedback_score"}).encode()
        return 200, report if self.reply is None else self.reply


@contextmanager
def serving(server: Server) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            status, reply = server.answer(self.path, self.headers.get("Authorization", ""), body)
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", server.location)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def do_GET(self):
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


@pytest.fixture
def token_file(tmp_path) -> str:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return str(path)


@pytest.fixture
def one() -> Exported:
    return make_exported()


@pytest.fixture
def public(one, tmp_path) -> Path:
    return write_task(one, tmp_path / "out")


@pytest.fixture
def submission(one, tmp_path) -> Path:
    """An honest submission."""
    path = tmp_path / "submission.csv"
    path.write_bytes(one.honest)
    return path


def assert_one_object(done: subprocess.CompletedProcess[str], one: Exported, content: bytes) -> None:
    assert (done.returncode, done.stderr) == (0, "")
    metrics, grade = json.loads(done.stdout), one.grade(content)
    assert set(metrics) == KEYS
    assert metrics["score"] == pytest.approx(grade.score, abs=1.01e-5)
    assert metrics["is_lower_better"] is grade.is_lower_better
    assert {name: metrics[f"{name}_threshold"] for name in grade.thresholds.model_dump()} == (
        grade.thresholds.model_dump()
    )


def test_the_files_are_those_of_sandmle_without_the_answers(one, public):
    assert {path.name for path in public.iterdir()} == {*one.task.public, "evaluator.py"}


def test_nothing_of_the_private_half_is_anywhere_in_the_export(tmp_path):
    tasks = [make_exported(pair) for pair in (HIGHER, LOWER)]
    write_export(export([one.task for one in tasks], MANIFEST), tmp_path)
    text = b"\n".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not [secret for one in tasks for secret in secret_texts(one) if secret in text]
    assert b'"median"' in text
    assert not re.search(rb"(?<![\w.)])/(home|tmp|work|root|usr)/", text)


def test_the_lists_separate_training_from_evaluation_which_has_at_most_64_ids(tmp_path):
    splits = ["train"] * 3 + ["held_out_domain"] * 40 + ["validation"] * 30 + ["held_out_motif"] * 5
    tasks = [make_exported(seed=seed, split=split).task for seed, split in enumerate(splits)]
    write_export(export(tasks, MANIFEST), tmp_path)
    train = json.loads((tmp_path / "ok_competitions_sanity.json").read_text())
    held_back = json.loads((tmp_path / "ok_competitions_sanity_random_64.json").read_text())
    ids = {split: {task.task_id for task in tasks if task.record.split == split} for split in splits}
    assert train == sorted(ids["train"])
    assert held_back == sorted(held_back)
    assert len(set(held_back)) == 64
    assert ids["validation"] <= set(held_back)
    assert not ids["train"] & set(held_back)
    for name in (*train, *held_back):
        assert "python" not in name
        assert re.fullmatch(r"\S+", name)
        assert (tmp_path / name / "prepared" / "public" / "description.md").is_file()


@pytest.mark.parametrize("pair", [HIGHER, LOWER], ids="-".join)
def test_the_evaluator_asks_the_server_and_prints_one_object(pair, tmp_path, token_file):
    one = make_exported(pair)
    public = write_task(one, tmp_path / "out")
    submission = tmp_path / "submission.csv"
    with serving(server := Server(one)) as address:
        for content in (one.honest, one.sample):
            submission.write_bytes(content)
            done = evaluate(public, submission, SANDMILL_SERVER=address + "/", SANDMILL_TOKEN_FILE=token_file)
            assert_one_object(done, one, content)
    assert server.requests[0] == (f"/v1/grade/{one.task.task_id}", f"Bearer {TOKEN}", one.honest)


def test_an_invalid_submission_ends_with_1_and_a_short_reason(one, public, submission, tmp_path, token_file):
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "token")
    with serving(server := Server(one)) as address:
        for content in list(one.invalid().values())[:2]:
            submission.write_bytes(content)
            done = evaluate(public, submission, SANDMILL_SERVER=address, SANDMILL_TOKEN_FILE=token_file)
            assert_invalid(done)
        sent = len(server.requests)
        for path in (tmp_path / "nowhere.csv", tmp_path, link):
            assert_invalid(evaluate(public, path, SANDMILL_SERVER=address, SANDMILL_TOKEN_FILE=token_file))
        assert len(server.requests) == sent


def test_an_agent_cannot_read_other_files_through_the_evaluator(one, public, tmp_path, token_file):
    with serving(server := Server(one)) as address:
        done = evaluate(public, Path(token_file), SANDMILL_SERVER=address, SANDMILL_TOKEN_FILE=token_file)
        assert_invalid(done)
        as_csv = shutil.copy(token_file, tmp_path / "token.csv")
        again = evaluate(public, Path(as_csv), SANDMILL_SERVER=address, SANDMILL_TOKEN_FILE=str(as_csv))
        assert_invalid(again, code=2)
    assert TOKEN not in done.stderr + again.stderr
    assert server.requests == []


def assert_invalid(done: subprocess.CompletedProcess[str], code: int = 1) -> None:
    assert (done.returncode, done.stdout) == (code, "")
    assert 5 < len(done.stderr) <= 2001
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "fault", ["no settings", "no token file", "wrong token", "no server", "unknown task", "no JSON"]
)
def test_a_fault_of_the_set_up_ends_with_2_and_is_not_blamed_on_the_submission(
    fault, one, public, submission, tmp_path, token_file
):
    server = Server(make_exported(LOWER) if fault == "unknown task" else one)
    server.reply = b"<html>" if fault == "no JSON" else None
    with serving(server) as address:
        environment = {"SANDMILL_SERVER": address, "SANDMILL_TOKEN_FILE": token_file}
        if fault == "no settings":
            environment = {}
        elif fault == "no token file":
            environment["SANDMILL_TOKEN_FILE"] = str(tmp_path / "nowhere")
        elif fault == "wrong token":
            Path(token_file).write_text("wrong\n")
        elif fault == "no server":
            environment["SANDMILL_SERVER"] = "file:///etc/passwd"
        done = evaluate(public, submission, **environment)
    assert_invalid(done, code=2)
    assert done.stderr.startswith("The submission was not graded: ")
    assert TOKEN not in done.stderr


def test_a_busy_server_is_asked_again(one, public, submission, token_file):
    server = Server(one)
    server.statuses = [429]
    with serving(server) as address:
        done = evaluate(public, submission, SANDMILL_SERVER=address, SANDMILL_TOKEN_FILE=token_file)
    assert_one_object(done, one, one.honest)
    assert len(server.requests) == 2


def test_a_redirect_to_another_server_does_not_get_the_token(one, public, submission, token_file):
    server, other = Server(one), Server(one)
    server.statuses = [302]
    with serving(other) as elsewhere, serving(server) as address:
        server.location = f"{elsewhere}/v1/grade/{one.task.task_id}"
        done = evaluate(public, submission, SANDMILL_SERVER=address, SANDMILL_TOKEN_FILE=token_file)
    assert done.returncode == 2
    assert TOKEN not in repr(other.requests)


def test_the_evaluator_gets_its_grade_from_the_real_server(tmp_path, token_file):
    release, submission = published(tmp_path / "micro", range(1)), tmp_path / "submission.csv"
    export_release(release, "sandmle", tmp_path / "out")
    public, sites = tmp_path / "out" / release.task_ids[0] / "prepared" / "public", Sites(tmp_path)
    Path(token_file).write_text(SERVER_TOKEN)
    try:
        address = f"http://127.0.0.1:{sites.open(tmp_path / 'micro').port}"
        settings = {"SANDMILL_SERVER": address, "SANDMILL_TOKEN_FILE": token_file}
        submission.write_bytes((public / "sample_submission.csv").read_bytes().replace(b"f0,0.5", b"f0,0.9"))
        done = evaluate(public, submission, **settings)
        assert (done.returncode, done.stderr) == (0, "")
        bars = {"gold": 0.85, "silver": 0.82, "bronze": 0.8, "median": 0.75}
        expected = {"score": 1.0, "is_lower_better": False, **{f"{name}_threshold": bar for name, bar in bars.items()}}
        assert json.loads(done.stdout) == expected
        submission.write_text("id,late\nc0,0.5\n")
        invalid = evaluate(public, submission, **settings)
        assert_invalid(invalid)
        assert invalid.stderr == "ids: saw 3 missing (d0, e0, f0); expected all 4 ids of the sample submission.\n"
        Path(token_file).write_text("another-token-of-the-tests")
        refused = evaluate(public, submission, **settings)
        assert_invalid(refused, code=2)
        assert "status 401" in refused.stderr
    finally:
        sites.close()
