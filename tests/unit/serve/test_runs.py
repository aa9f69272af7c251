import re
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandmill.models.run import RunLimits
from sandmill.sandbox.public_folder import digest_of
from sandmill.serve.queue import RUN_BYTES
from tests.processes import wait_until


def run(code: str, **more: object) -> dict[str, object]:
    return {"task_id": "lamps", "code": code, **more}


def test_results_come_in_the_order_of_the_runs(site):
    first, second, third = site.run(run("sleep 0.5\nprint a"), run("submit x\\n"), run("list"))
    assert (first["stdout"], first["outcome"], first["submission"]) == ("a\n", "no_submission", None)
    assert (second["outcome"], second["submission"]) == ("ok", b64encode(b"x\n").decode())
    assert third["stdout"] == "description.md train.csv\n"


def test_a_run_without_a_timeout_gets_the_longest(open_site, pulled):
    site = open_site(pulled, timeout_s=7.0)
    site.run(run("print a"), run("print b", timeout=2))
    assert sorted(one["timeout"] for one in site.box.runs) == [2.0, 7.0]


def test_all_problems_of_a_request_are_named_and_nothing_runs(open_site, pulled):
    site = open_site(pulled, limits=RunLimits(memory_mb=512))
    runs = [
        run("print a"),
        {"task_id": "unknown", "code": "print b", "timeout": 301},
        run("print c", limits={"memory_mb": 600}),
    ]
    status, body, _ = site.ask("POST", "/v1/runs", {"runs": runs})
    assert status == 422
    assert body["problems"] == [
        "runs.1.task_id: saw 'unknown'; expected a task of this server (lamps).",
        "runs.1.timeout: saw 301; expected at most 300 seconds.",
        "runs.2.limits: saw memory_mb 600; expected at most the limits of the server: memory_mb 512.",
    ]
    assert site.box.runs == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"[", "JSON"),
        (b"{}", "runs: Field required"),
        ({"runs": []}, "runs: Tuple should have at least 1 item"),
        ({"runs": [run("x", extra=1)]}, "runs.0.extra: Extra inputs"),
        ({"runs": [{"code": "x"}]}, "expected either task_id or public"),
        ({"runs": [run("x", public="0" * 64)]}, "expected either task_id or public"),
        ({"runs": [run("x", scratch=[{"path": "../up"}])]}, "runs.0.scratch.0.path"),
        ({"runs": [run("x", scratch=[{"path": "../up", "content": ""}])]}, "without . and .."),
        ({"runs": [run("x", scratch=[{"path": "/etc/x", "content": ""}])]}, "without . and .."),
        ({"runs": [run("x", scratch=[{"path": "a", "content": "?"}])]}, "not base64"),
        ({"runs": [run("x", timeout=0)]}, "runs.0.timeout"),
        ({"runs": [run("x", timeout=float("nan"))]}, "runs.0.timeout"),
        ({"runs": [run("x")] * 257}, "at most 256"),
    ],
)
def test_a_wrong_request_is_refused_with_its_fields(site, body, problem):
    status, answer, _ = site.ask("POST", "/v1/runs", body)
    assert status == 422
    assert problem in " ".join(answer["problems"])
    assert site.box.runs == []


def test_limits_of_a_run_are_those_that_it_asks_for(site):
    site.run(run("print a", limits={"memory_mb": 200}))
    assert site.box.runs[0]["limits"] == RunLimits(memory_mb=200)


def test_a_fault_of_the_server_is_a_masked_result_and_ends_no_batch(site):
    broken, fine = site.run(run("crash"), run("print fine"))
    assert (broken["outcome"], broken["detail"]) == ("infra_error", "the server failed: RuntimeError")
    assert fine["stdout"] == "fine\n"


def test_a_full_queue_answers_429_and_a_batch_that_never_fits_422(site):
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(site.run, *[run("sleep 1")] * 6)
        assert wait_until(lambda: site.service.queue.running == 2)
        assert site.ask("GET", "/health")[1] | {"version": ""} == {
            "status": "ok",
            "version": "",
            "isolation": "warm",
            "running": 2,
            "queued": 4,
            "runs": 2,
            "abandoned": 0,
        }
        status, _, headers = site.ask("POST", "/v1/runs", {"runs": [run("print no")]})
        assert (status, int(headers["retry-after"]) >= 1) == (429, True)
        assert len(waiting.result()) == 6
    status, body, _ = site.ask("POST", "/v1/runs", {"runs": [run("print no")] * 7})
    assert (status, body["detail"]) == (422, "7 runs in one request; this server takes at most 6 at a time")
    assert site.run(run("print again"))[0]["stdout"] == "again\n"
    assert not any("no" in one["code"] for one in site.box.runs)


def test_runs_of_a_client_that_goes_away_are_cancelled(site):
    connection = site.begin("POST", "/v1/runs", {"runs": [run("sleep 60")] * 3})
    assert wait_until(lambda: site.service.queue.running == 2)
    connection.sock.close()
    connection.close()
    assert wait_until(lambda: site.service.queue.is_idle)
    assert len(site.box.runs) == 2
    assert wait_until(lambda: site.service.queue.abandoned == 2)
    assert site.service.queue.replies._held == site.service.queue.requests._held == 0


def test_a_long_run_sends_white_space_while_it_goes_on(site):
    connection = site.begin("POST", "/v1/runs", {"runs": [run("sleep 1.3")]})
    # The first tells that the run has started, the last comes before the reply is encoded.
    assert re.match(rb' ?\n{3,}{"results"', connection.getresponse().read())


def test_a_scratch_folder_that_travels_comes_back_as_changes(site):
    entry = {"path": "kept", "content": b64encode(b"1").decode()}
    other = {"path": "gone", "content": b64encode(b"2").decode()}
    (result,) = site.run(run("list\nremove gone\nwrite new 3", scratch=[entry, other]))
    assert result["stdout"] == "gone kept\n"
    assert result["scratch"] == {"written": [{"path": "new", "content": b64encode(b"3").decode()}], "removed": ["gone"]}
    assert not site.box.runs[0]["scratch"].exists()


def test_runs_wait_for_room_for_their_replies_while_white_space_goes_on(open_site, pulled):
    site = open_site(pulled, concurrency=2)
    site.service.queue.replies._held = 2 * RUN_BYTES
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(site.run, run("print a"), run("print b"), run("print c"))
        assert not wait_until(lambda: site.box.runs, 1)
        site.service.queue.replies.give(2 * RUN_BYTES)
        assert [one["stdout"] for one in waiting.result()] == ["a\n", "b\n", "c\n"]
    assert wait_until(lambda: not site.service.queue.replies._held)


def test_a_batch_that_is_larger_than_all_room_is_answered(open_site, pulled):
    site = open_site(pulled, concurrency=2, queue=40)
    runs = [run(f"submit {number}", scratch=[], scratch_bytes=300 << 20) for number in range(20)]
    assert [one["submission"] for one in site.run(*runs)] == [
        b64encode(b"%d" % number).decode() for number in range(20)
    ]
    assert wait_until(lambda: not site.service.queue.replies._held)


def test_a_request_that_finds_no_room_is_read_and_refused(site):
    site.service.queue.requests._held = 2 * RUN_BYTES
    status, _, headers = site.ask("POST", "/v1/runs", {"runs": [run("#" * 500_000)]})
    assert (status, headers["retry-after"]) == (429, "2")
    # A large request has the chances of a small one.
    site.service.queue.requests._held = 2 * RUN_BYTES - 1
    assert site.run(run("#" * 500_000 + "\nprint a"))[0]["stdout"] == "a\n"
    assert wait_until(lambda: site.service.queue.requests._held == 2 * RUN_BYTES - 1)


def upload(site, files: dict[str, bytes]):
    return site.ask("POST", "/v1/public", {"files": {name: b64encode(data).decode() for name, data in files.items()}})


def test_an_uploaded_public_folder_is_used_by_its_digest(site):
    files = {"train.csv": b"id\n1\n", "images/a.png": b"\x89"}
    status, body, _ = upload(site, files)
    assert (status, body) == (200, {"public": digest_of(files)})
    assert upload(site, files)[1] == body
    assert site.run({"code": "list", "public": body["public"]})[0]["stdout"] == "images train.csv\n"


def test_an_unknown_public_folder_must_be_uploaded_first(site):
    status, body, _ = site.ask("POST", "/v1/runs", {"runs": [{"code": "list", "public": "0" * 64}]})
    assert (status, body["detail"]) == (404, "unknown public folder: upload it to /v1/public first")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../up.csv", "not a plain relative path"),
        ("/etc/passwd", "not a plain relative path"),
        ("a\\b", "not a plain relative path"),
        (".hidden", "not a plain relative path"),
        ("a/b/c/d/e.csv", "too long"),
        ("answers.csv", "a name of private files"),
        ("private/x.csv", "a name of private files"),
    ],
)
def test_a_public_folder_with_a_wrong_name_is_refused(site, name, problem):
    status, body, _ = upload(site, {"train.csv": b"", name: b""})
    assert status == 422
    assert problem in body["detail"]
    assert list((site.service.publics._root).iterdir()) == []


def test_old_public_folders_make_room_for_new_ones_but_not_while_they_are_used(open_site, pulled):
    site = open_site(pulled, public_bytes=100)
    used, idle, new = ({"data": bytes([number]) * 40} for number in range(3))
    digests = [upload(site, files)[1]["public"] for files in (used, idle)]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(site.run, {"code": "sleep 1\nlist", "public": digests[0]})
        assert wait_until(lambda: site.service.queue.running == 1)
        upload(site, new)
        assert site.ask("POST", "/v1/runs", {"runs": [{"code": "list", "public": digests[1]}]})[0] == 404
        assert running.result()[0]["stdout"] == "data\n"
    assert upload(site, {"data": b"x" * 101})[0] == 422


def test_runs_of_one_queue_start_in_the_order_of_their_arrival(open_site, pulled):
    site = open_site(pulled, concurrency=1)
    site.run(*[run(f"print {number}") for number in range(5)])
    assert [one["code"] for one in site.box.runs] == [f"print {number}" for number in range(5)]
