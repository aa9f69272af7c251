"""Checks of sandmill doctor: a root that holds datasets, and a Prefect server.

The check of conditional writes creates one small object and removes it. The server is asked over HTTP: the library does
not import Prefect.
"""

import json
import os
import socket
from collections.abc import Iterator
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from sandmill.cli.doctor import CheckResult
from sandmill.errors import SandmillError, StoreError, count, shorten
from sandmill.store.catalogue import find_datasets
from sandmill.store.files import AccessDenied, Store
from sandmill.store.release import load
from sandmill.store.secret import SECRET_PATH
from sandmill.store.versions import list_versions

PROBE = "sandmill-doctor/conditional-write"
"""Object that is created and removed. One name for all runs, so that at most one object can be left behind."""

_CONNECT_S = 5.0
_SHOWN = 200
"""Characters of an error that a line of the table shows."""

VARIABLE = "PREFECT_API_URL"
_ANSWER_S = 10.0
_MOST_BYTES = 2_000_000
_SQLALCHEMY = "in the server's environment: pip install 'sqlalchemy[asyncio]<2.1', then restart it"


def check_root(root: str) -> Iterator[CheckResult]:
    """Check a local root or one on S3. Later checks are left out if an earlier one fails."""
    if "://" not in root:
        yield from _check_local(Path(root).expanduser())
        return
    yield from _check_bucket(root)


def _check_local(folder: Path) -> Iterator[CheckResult]:
    what = "root"
    if not folder.exists():
        yield CheckResult(what, "info", f"{folder} does not exist; a build creates it")
        return
    if not folder.is_dir():
        yield CheckResult(what, "bad", f"{folder} is no folder", f"mv {folder} {folder}.other")
        return
    if not os.access(folder, os.R_OK | os.X_OK):
        yield CheckResult(what, "bad", f"{folder} is not readable", f"chmod u+rx {folder}")
        return
    can_write = os.access(folder, os.W_OK)
    yield CheckResult(
        what, "ok", f"{folder}, {'readable and writable' if can_write else 'readable; a build needs to write'}"
    )
    yield from _check_halves(str(folder))


def _check_bucket(root: str) -> Iterator[CheckResult]:
    if find_spec("s3fs") is None:
        yield CheckResult("S3", "bad", "s3fs is not installed", "pip install 'sandmill[s3]'")
        return
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint and (problem := _connect(endpoint)):
        yield CheckResult("S3 endpoint", "bad", problem, "export AWS_ENDPOINT_URL=http://HOST:PORT")
        return
    try:
        names = Store(root).folders()
    except SandmillError as error:
        yield CheckResult("S3 root", "bad", shorten(str(error), _SHOWN), _remedy(error, root))
        return
    yield CheckResult("S3 root", "ok", f"{root} can be listed, {count(len(names), 'folder')}")
    yield _check_conditional_writes(root)
    yield from _check_halves(root)


def _remedy(error: SandmillError, root: str) -> str:
    bucket = root.partition("://")[2].partition("/")[0]
    if "no such bucket" in str(error):
        return f"aws s3 mb s3://{bucket}"
    if isinstance(error, AccessDenied):
        return f"allow s3:ListBucket on {bucket} for these credentials: docs/operating.md, section S3"
    return "export AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=...; AWS_ENDPOINT_URL for other servers than AWS"


def _connect(endpoint: str) -> str:
    """Return why the endpoint does not answer, or nothing. S3's client would try for minutes."""
    parts = urlsplit(endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), _CONNECT_S).close()
    except OSError as error:
        return f"{endpoint} does not answer: {error.strerror or error}"
    return ""


def _check_conditional_writes(root: str) -> CheckResult:
    """Create an object twice. The server must refuse the second write, or two runs could publish one number."""
    what, store = "S3 conditional writes", Store(root)
    try:
        store.create(PROBE, b"made by sandmill doctor, may be removed")
    except AccessDenied:
        return CheckResult(what, "info", "not checked: these credentials may not write; enough for readers")
    except StoreError as error:
        found = CheckResult(
            what, "bad", shorten(str(error), _SHOWN), "use AWS S3, or a server that honours If-None-Match"
        )
    else:
        found = CheckResult(what, "ok", "honoured")
    try:
        store.remove(PROBE)
    except StoreError:
        return CheckResult(
            what, found.status, f"{found.saw}; the probe could not be removed", f"aws s3 rm {root}/{PROBE}"
        )
    return found


def _check_halves(root: str) -> Iterator[CheckResult]:
    """Say for each dataset which half can be read. Machines that agents use must not read the private one."""
    try:
        datasets = find_datasets(root)
    except SandmillError:
        yield CheckResult(
            "datasets", "info", "none here yet", f"python -m flows.build_release --name micro --root {root}"
        )
        return
    for store in datasets:
        name = store.root.rpartition("/")[2]
        what = f"dataset {shorten(name, 40)}"
        try:
            if not (versions := list_versions(store)):
                yield CheckResult(what, "info", "no published version", "run its build again")
                continue
            saw = f"{versions[-1]}: public half readable"
            if not load(f"{store.root}@{versions[-1]}").has_private:
                yield CheckResult(what, "ok", f"{saw}, private half not: agents may use this machine's credentials")
                continue
            secret = "and the secret " if _reads_secret(store) else ""
            yield CheckResult(what, "ok", f"{saw}, private half {secret}too: keep agents from these credentials")
        except SandmillError as error:
            yield CheckResult(what, "bad", shorten(str(error), _SHOWN), f"sandmill verify {store.root}")


def _reads_secret(store: Store) -> bool:
    try:
        return bool(store.read_start(SECRET_PATH, 1))
    except StoreError:
        return False


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
