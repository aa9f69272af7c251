"""Background processes: started once, ended by their recorded identity, and no other process is ever touched."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tasks import services
from tasks.services import Service, ServiceError, start_server

SLEEP = (sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
)


@pytest.fixture
def service(tmp_path):
    service = Service("worker", tmp_path / "services")
    yield service
    service.stop()


def _wait_until_up(service: Service) -> None:
    deadline = time.monotonic() + 60
    while "up" not in service.log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_service_starts_once_and_ends(service):
    service.start(SLEEP, {})
    pid = service.pid
    assert pid is not None
    service.start(SLEEP, {})
    assert service.pid == pid
    assert service.stop()
    assert service.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not service.stop()


def test_a_service_that_ignores_sigterm_is_killed(service, monkeypatch):
    monkeypatch.setattr(services, "_STOP_S", 0.5)
    service.start(STUBBORN, {})
    _wait_until_up(service)
    assert service.stop()
    assert service.pid is None


def test_another_process_with_the_recorded_id_is_left_alone(service):
    other = subprocess.Popen(SLEEP, stdout=subprocess.DEVNULL)
    # Identities tell two processes apart by their start, in ticks of 10 ms.
    time.sleep(0.05)
    try:
        service.start(SLEEP, {})
        real, path = service.pid, service.folder / "worker.pid"
        noted = json.loads(path.read_text())
        path.write_text(json.dumps({**noted, "pid": other.pid}))
        assert service.pid is None
        assert not service.stop()
        assert other.poll() is None
        os.kill(real, signal.SIGKILL)
        os.waitpid(real, 0)
    finally:
        other.kill()
        other.wait()


def test_a_server_on_another_port_must_be_ended_first(tmp_path):
    server = Service("server", tmp_path)
    server.start(SLEEP, {})
    try:
        (tmp_path / "address").write_text("http://127.0.0.1:4200")
        with pytest.raises(ServiceError, match=r"runs at http://127.0.0.1:4200 already.*make stop"):
            start_server(server, 4300)
    finally:
        server.stop()


def test_a_server_that_ends_at_once_is_an_error_that_names_its_log(tmp_path, monkeypatch):
    monkeypatch.setattr(services, "_PREFECT", (sys.executable, "-c", "raise SystemExit(1)"))
    server = Service("server", tmp_path)
    with pytest.raises(ServiceError, match=r"server\.log|ended at once"):
        start_server(server, 1)
