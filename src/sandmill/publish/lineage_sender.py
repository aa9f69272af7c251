"""Delivery of OpenLineage events to a file, an HTTP receiver or S3, without ever failing or holding up a run."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sandmill.llm.redact import redact
from sandmill.store.files import Store

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

LIMIT_S = 5.0
"""Seconds that a run waits for the delivery of one event at most."""
KEY = "OPENLINEAGE_API_KEY"
"""Variable with the key of an HTTP receiver, as OpenLineage's own clients name it."""
ENDPOINT = "api/v1/lineage"
"""Path of a receiver that is named by its host alone."""


@dataclass
class LineageSender:
    """Sends events to one place. A place that does not take them is reported once and costs a few seconds at most."""

    place: str
    warn: Callable[[str], object]
    limit_s: float = LIMIT_S
    _has_warned: bool = field(init=False, default=False)

    def send(self, event: "RunEvent") -> bool:
        """Deliver one event. Returns whether the receiver took it; never raises.

        Delivery has a thread of its own: time limits of HTTP clients are for each read, so a receiver that sends a byte
        now and then could hold a request for hours.
        """
        faults: list[str] = []
        thread = threading.Thread(target=self._deliver, args=(event, faults), daemon=True, name="lineage")
        thread.start()
        thread.join(self.limit_s)
        if thread.is_alive():
            faults.append(f"no answer within {self.limit_s:g} seconds")
        if faults and not self._has_warned:
            self._has_warned = True
            self.warn(f"OpenLineage events are lost: {redact(self.place)}: {faults[0]}. The run goes on without them.")
        return not faults

    def _deliver(self, event: "RunEvent", faults: list[str]) -> None:
        try:
            deliver(event, self.place, self.limit_s)
        except Exception as error:  # noqa: BLE001  whatever a receiver does, the run goes on
            faults.append(redact(f"{type(error).__name__}: {error}"))


def deliver(event: "RunEvent", place: str, limit_s: float) -> None:
    """Deliver one event; raises whatever the file system or the receiver raises."""
    from openlineage.client.serde import Serde

    parts = urlsplit(place)
    if parts.scheme == "file":
        _append(Path(unquote(parts.path)), f"{Serde.to_json(event)}\n".encode())
    elif parts.scheme == "s3":
        name = f"{event.eventTime}-{event.run.runId}-{event.eventType.value if event.eventType else ''}.json"
        Store(place).write(name.replace(":", "-").replace("+", "-"), Serde.to_json(event).encode())
    else:
        _post(event, place, limit_s)


def _append(path: Path, line: bytes) -> None:
    """Append a line by one system call, so that lines of several runs do not mix. The library's own file does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _post(event: "RunEvent", place: str, limit_s: float) -> None:
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    parts = urlsplit(place)
    settings: dict[str, object] = {
        "url": f"{parts.scheme}://{parts.netloc}",
        "endpoint": parts.path.strip("/") or ENDPOINT,
        "timeout": limit_s,
        "retry": {"total": 0},
    }
    if key := os.environ.get(KEY):
        settings["auth"] = {"type": "api_key", "apiKey": key}
    transport = HttpTransport(HttpConfig.from_dict(settings))
    try:
        transport.emit(event)
    finally:
        transport.close()
