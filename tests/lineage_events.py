"""Events as a receiver sees them: read back strictly through the classes of the OpenLineage library."""

import inspect
import json
import pkgutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any

import openlineage.client.generated as generated
from openlineage.client import event_v2 as ol

FACETS = {
    name: found
    for module in pkgutil.iter_modules(generated.__path__)
    for name, found in inspect.getmembers(import_module(f"{generated.__name__}.{module.name}"), inspect.isclass)
    if name.endswith("Facet")
}


def read_event(text: str | bytes) -> dict[str, Any]:
    """Return an event as plain data, after every part of it was accepted by its class."""
    event: dict[str, Any] = json.loads(text)
    ol.RunEvent(
        eventTime=event["eventTime"],
        eventType=ol.RunState[event["eventType"]],
        run=ol.Run(runId=event["run"]["runId"], facets=_facets(event["run"]["facets"])),
        job=ol.Job(**{**event["job"], "facets": _facets(event["job"]["facets"])}),
        inputs=[ol.InputDataset(**_with_facets(one, "facets", "inputFacets")) for one in event["inputs"]],
        outputs=[ol.OutputDataset(**_with_facets(one, "facets", "outputFacets")) for one in event["outputs"]],
        producer=event["producer"],
    )
    return event


def _with_facets(dataset: dict[str, Any], *places: str) -> dict[str, Any]:
    return {**dataset, **{place: _facets(dataset[place]) for place in places}}


def _facets(given: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Make each facet by the class that its schema names. A missing or unknown field raises TypeError."""
    made = {}
    for name, content in given.items():
        known = FACETS[content["_schemaURL"].rpartition("/")[2]]
        made[name] = known(**{key: value for key, value in content.items() if not key.startswith("_")})
    return made


@dataclass
class Receiver:
    """An HTTP server that keeps what it is sent."""

    address: str = ""
    status: int = 201
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    """Answers wait for it. It is set unless a test clears it."""

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events, read back strictly."""
        return [read_event(body) for body in self.bodies]


@contextmanager
def receive() -> Iterator[Receiver]:
    """Run a receiver while the block runs."""
    receiver = Receiver()
    receiver.release.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            receiver.paths.append(self.path)
            receiver.keys.append(self.headers["Authorization"])
            receiver.release.wait(60)
            self.send_response(receiver.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.release.set()
        server.shutdown()
        server.server_close()
