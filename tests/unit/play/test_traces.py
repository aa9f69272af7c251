"""Spans of episodes as a collector receives them over OTLP, and nothing where nobody listens."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import sandmill
from sandmill.models.rollout import Act, RewardParts
from sandmill.play import traces
from tests.data import SCRIPTS
from tests.unit.export.tiny import BROKEN, PERFECT, SAMPLE, obey, publish_tiny

EXPORT = (SCRIPTS / "traces.txt").read_text("utf-8")
"""A trainer in a process of its own, since the provider of a process is set once."""


def play(ref: str) -> list[Any]:
    """Play one episode that the agent ends, and one that the trainer stops after a failed run."""
    release = sandmill.load(ref)
    task = release.task(release.task_ids[0])
    ends = []
    with sandmill.SyncMLEnv(task, sandbox=obey()) as env:
        for acts in ([Act.run(SAMPLE), Act.submit(), Act.run(PERFECT), Act.finish()], [Act.run(BROKEN)]):
            env.reset()
            for act in acts:
                env.step(act)
            ends.append(env.stop())
    return ends


@pytest.fixture(scope="module")
def ref(tmp_path_factory: pytest.TempPathFactory) -> str:
    return publish_tiny(tmp_path_factory.mktemp("release"))


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """Serve an OTLP collector over HTTP. Gives its address and what it received."""
    received: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()


def test_a_collector_gets_task_release_episode_and_reward_parts_of_each_step(ref):
    with collector() as (address, received):
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": address, "PYTHONPATH": str(Path.cwd())}
        command = [sys.executable, "-c", EXPORT, ref]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    first, second = json.loads(ran.stdout.splitlines()[-1])
    spans = [
        span
        for request in received
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    (outer,) = [span for span in spans if span.name == "training step"]
    steps = sorted((span for span in spans if span is not outer), key=lambda span: span.start_time_unix_nano)
    run, submit, finish = "execute_tool run_code", "execute_tool submit", "execute_tool finish"
    assert [span.name for span in steps] == [run, submit, run, finish, run, "end_episode"]
    assert {span.parent_span_id for span in steps} == {outer.span_id}
    values = [{one.key: _value(one.value) for one in span.attributes} for span in steps]
    for place, found in enumerate(values):
        episode = first if place < 4 else second
        assert found["gen_ai.conversation.id"] == episode["episode_id"] != ""
        assert (found["sandmill.task.id"], found["sandmill.release"]) == (episode["task_id"], episode["release"])
        assert episode["release"] == sandmill.load(ref).ref
    assert first["episode_id"] != second["episode_id"]
    assert [found.get("sandmill.step.number") for found in values] == [1, 2, 3, 4, 1, None]
    assert [found.get("error.type") for found in values] == [None] * 4 + ["runtime_error", None]
    assert values[3].items() >= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "finish"}.items()
    paid = {"gen_ai.evaluation.name": "ladder", "gen_ai.evaluation.score.value": 1.0, "sandmill.reward.ladder": 1.0}
    assert values[3].items() >= paid.items()
    assert values[5]["sandmill.reward.ladder"] == 0.0
    assert not any("reward" in key for place in (0, 1, 2, 4) for key in values[place])
    sent = b"".join(request.SerializeToString() for request in received)
    assert not any(script.encode() in sent for script in (SAMPLE, PERFECT, BROKEN))


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


def test_without_opentelemetry_episodes_are_played_as_before(ref, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    traces._tracer.cache_clear()
    try:
        first, second = play(ref)
        assert traces._tracer() is None
    finally:
        traces._tracer.cache_clear()
    assert (first.reward.total, second.reward.total) == (1.0, 0.0)


def test_importing_sandmill_imports_no_opentelemetry():
    code = "import sys, sandmill.play.env; print([name for name in sys.modules if name.startswith('opentelemetry')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"


def test_every_episode_of_an_environment_has_another_name(ref):
    first, second = play(ref)
    assert len(first.episode_id) == len(second.episode_id) == 32
    assert first.episode_id != second.episode_id


@pytest.mark.parametrize("reward", [None, RewardParts(preset="gap", parts={}, mask=True)])
def test_columns_of_a_rollout_without_a_reward_are_zero(reward):
    assert traces.reward_columns(reward, ("gap", "format")) == {"reward/gap": 0.0, "reward/format": 0.0}
