"""Ask a Prefect server over HTTP whether it would run what is scheduled. The library does not import Prefect."""

import json
import os
from collections.abc import Iterator
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from sandmill.cli.checks.base import CheckResult
from sandmill.errors import count, shorten

VARIABLE = "PREFECT_API_URL"

_ANSWER_S = 10.0
_MOST_BYTES = 2_000_000
_SQLALCHEMY = "in the server's environment: pip install 'sqlalchemy[asyncio]<2.1', then restart it"


class _NoAnswer(Exception):
    """The server did not answer a question; the message says why."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def check_server(pool: str) -> Iterator[CheckResult]:
    """Check the server that `PREFECT_API_URL` names: versions, the pool and its workers, schedules."""
    api = os.environ.get(VARIABLE, "").rstrip("/")
    if not api:
        saw = f"{VARIABLE} is not set; each build starts a server of its own"
        yield CheckResult("Prefect server", "info", saw, f"make serve; export {VARIABLE}=http://127.0.0.1:4200/api")
        return
    if not api.startswith(("http://", "https://")):
        saw = f"{VARIABLE}={shorten(api)} is no address"
        yield CheckResult("Prefect server", "bad", saw, f"export {VARIABLE}=http://127.0.0.1:4200/api")
        return
    try:
        yield _check_version(api, str(_ask(api, "admin/version")))
        yield from _check_pool(api, pool)
        yield from _check_schedules(api)
    except _NoAnswer as error:
        if error.status in (401, 403):
            yield CheckResult(
                "Prefect server", "info", f"{shorten(api)} wants a login, so it was not asked", "prefect config view"
            )
            return
        do = f"make serve, or export {VARIABLE}=http://HOST:4200/api, or unset {VARIABLE}"
        yield CheckResult("Prefect server", "bad", f"{shorten(api)}: {error}", do)


def _check_version(api: str, served: str) -> CheckResult:
    """Compare the server with the client that flows use here."""
    seen = f"{shorten(api)} runs {shorten(served, 20)}"
    try:
        installed = version("prefect")
    except PackageNotFoundError:
        return CheckResult("Prefect server", "ok", f"{seen}; no Prefect is installed here")
    if installed != served:
        saw = f"{seen}, but {installed} is installed here"
        return CheckResult(
            "Prefect server", "bad", saw, f"pip install 'prefect=={shorten(served, 20)}', or the same on the server"
        )
    return CheckResult("Prefect server", "ok", f"{seen}, as installed here")


def _check_pool(api: str, pool: str) -> Iterator[CheckResult]:
    """Check that the pool exists, is not paused, and has a worker."""
    what = f"work pool {shorten(pool, 40)}"
    try:
        found = _ask(api, f"work_pools/{pool}")
    except _NoAnswer as error:
        if error.status != 404:
            raise
        yield CheckResult(what, "info", "does not exist on this server", "make deploy")
        return
    if found.get("is_paused"):
        yield CheckResult(what, "info", "paused: no run starts", f"prefect work-pool resume {shorten(pool, 40)}")
        return
    workers = _ask(api, f"work_pools/{pool}/workers/filter", {})
    online = [worker for worker in workers if worker.get("status") == "ONLINE"]
    if not online:
        yield CheckResult(what, "bad", "no worker is online: scheduled runs wait", "make worker")
        return
    yield CheckResult(what, "ok", f"{count(len(online), 'worker')} online")


def _check_schedules(api: str) -> Iterator[CheckResult]:
    """List schedules. One that is on must have runs waiting, else the server's scheduler does not work."""
    found = _ask(api, "deployments/filter", {})
    if not found:
        yield CheckResult("schedules", "info", "no deployments", "make deploy")
        return
    flows = {flow.get("id"): flow.get("name") for flow in _ask(api, "flows/filter", {})}
    off = []
    for deployment in found:
        # Commands of Prefect take a deployment by the name of its flow and its own.
        name = shorten(f"{flows.get(deployment.get('flow_id'), 'FLOW')}/{deployment.get('name')}", 80)
        schedules = deployment.get("schedules") or []
        is_on = any(schedule.get("active") for schedule in schedules) and not deployment.get("paused")
        if is_on:
            yield _check_waiting(api, name, str(deployment.get("id")))
        elif schedules:
            off.append(name)
    if off:
        command, first = "prefect deployment schedule", min(off)
        do = f"{command} ls {first}, then {command} resume {first} ID"
        yield CheckResult("schedules off", "info", ", ".join(sorted(off)), do)


def _check_waiting(api: str, name: str, id: str) -> CheckResult:
    wanted = {
        "deployments": {"id": {"any_": [id]}},
        "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
    }
    waiting = int(_ask(api, "flow_runs/count", wanted))
    if not waiting:
        saw = "on, but no run is planned: right after deploying wait a minute, else the scheduler does not work"
        return CheckResult(f"schedule of {name}", "bad", saw, _SQLALCHEMY)
    return CheckResult(f"schedule of {name}", "ok", f"on, {count(waiting, 'run')} planned")


def _ask(api: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Send one request: GET, or POST with a body. Raises `_NoAnswer` for everything but a JSON answer."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"{api}/{path}", data, {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=_ANSWER_S) as answer:
            return json.loads(answer.read(_MOST_BYTES))
    except HTTPError as error:
        raise _NoAnswer(f"status {error.code} for {path}", error.code) from None
    except URLError as error:
        raise _NoAnswer(f"does not answer ({error.reason})") from None
    except (OSError, HTTPException, ValueError) as error:
        raise _NoAnswer(f"no valid answer to {path} ({type(error).__name__})") from None
