import http.client
from base64 import b64encode

import pytest

from tests.servers import TOKEN

WRONG = (
    "",
    TOKEN,
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    "Bearer",
    f"Basic {b64encode(TOKEN.encode()).decode()}",
    "Bearer é",
)


@pytest.mark.parametrize("path", ["/v1/info", "/v1/runs", "/openapi.json", "/health/../v1/info", "/nothing"])
def test_without_the_token_nothing_answers(site, path):
    for header in WRONG:
        status, body, headers = site.ask("GET", path, headers={"Authorization": header.encode().decode("latin-1")})
        assert (status, body["detail"]) == (401, "the token is missing or wrong"), header
        assert headers["www-authenticate"] == "Bearer", header


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer {TOKEN}"])
def test_the_token_opens(site, header):
    status, body, _ = site.ask("GET", "/v1/info", headers={"Authorization": header})
    assert (status, body["tasks"], body["concurrency"], body["queue"]) == (200, 1, 2, 4)


def test_health_needs_no_token_and_names_no_task(site):
    status, body, _ = site.ask("GET", "/health", headers={"Authorization": ""})
    assert (status, body) == (
        200,
        {"status": "ok", "version": "0.1.0", "isolation": "warm", "running": 0, "queued": 0, "runs": 0, "abandoned": 0},
    )


def test_a_request_that_is_too_large_is_refused_unread(open_site, pulled):
    site = open_site(pulled, max_request_bytes=1000)
    status, body, _ = site.ask("POST", "/v1/runs", b"", headers={"Content-Length": "1001"})
    assert (status, body["detail"]) == (413, "the request is larger than 1000 bytes")
    assert site.run({"task_id": "lamps", "code": "print small"})[0]["stdout"] == "small\n"


def test_a_request_of_unknown_length_is_refused_at_the_limit(open_site, pulled):
    site = open_site(pulled, max_request_bytes=1000)
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    pieces = (b" " * 400 for _ in range(3))
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/runs", pieces, headers, encode_chunked=True)
    assert connection.getresponse().status == 413


def test_a_stopping_server_refuses_new_work_and_says_so_in_its_health(site):
    site.is_stopping = True
    status, body, headers = site.ask("POST", "/v1/runs", {"runs": [{"task_id": "lamps", "code": "print x"}]})
    assert (status, body["detail"], headers["retry-after"]) == (503, "the server is stopping", "30")
    status, body, _ = site.ask("GET", "/health")
    assert (status, body["status"]) == (503, "stopping")
    assert site.box.runs == []
