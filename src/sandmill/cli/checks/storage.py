"""Check a root that holds datasets: reachable, readable, safe for publishing, and which half this reader sees.

The check of conditional writes creates one small object and removes it.
"""

import os
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from sandmill.cli.checks.base import CheckResult
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
