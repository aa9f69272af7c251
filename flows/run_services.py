"""Server and worker in the background, and deployments. Run from the root: python -m flows.run_services --help."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from httpx import TransportError
from prefect.settings import PREFECT_API_URL, PREFECT_HOME

from sandmill.errors import SandmillError
from tasks.services import Service, ServiceError, keep_schedules, start_server, start_worker

DEPLOY = (sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all")
FLOWS = ("build-release", "audit-release", "refresh-curriculum")


def main() -> int:
    """Run one command; give its exit code."""
    parser = argparse.ArgumentParser(prog="python -m flows.run_services", description=__doc__)
    parser.add_argument("command", choices=("start", "stop", "deploy"))
    parser.add_argument("--port", type=int, default=4200, help="port of the server (default: 4200)")
    given = parser.parse_args()
    if given.command == "deploy":
        return deploy()
    folder = Path(PREFECT_HOME.value()) / "services"
    server, worker = Service("server", folder), Service("worker", folder)
    try:
        return start(server, worker, given.port) if given.command == "start" else stop(server, worker)
    except SandmillError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def start(server: Service, worker: Service, port: int) -> int:
    """Start the server, deploy, start the worker, and print the address."""
    address = start_server(server, port)
    start_worker(worker, address)
    environment = {**os.environ, "PREFECT_API_URL": f"{address}/api"}
    command = (sys.executable, "-m", "flows.run_services", "deploy")
    if code := subprocess.run(command, env=environment, check=False).returncode:
        raise ServiceError(f"server and worker run, but prefect.yaml was not deployed (exit code {code})")
    print(f"Prefect runs at {address} (logs: {server.log}, {worker.log}). End it with: make stop")
    return 0


def stop(server: Service, worker: Service) -> int:
    """End the worker first, which says goodbye to its server, and then the server."""
    ended = [service.name for service in (worker, server) if service.stop()]
    print(f"Ended: {' and '.join(ended)}." if ended else "Nothing of make serve runs here.")
    return 0


def deploy() -> int:
    """Deploy prefect.yaml, and keep schedules as operators left them."""
    os.environ.setdefault("SANDMILL_CLONE", str(Path.cwd()))
    try:
        with keep_schedules(FLOWS):
            return subprocess.run(DEPLOY, check=False).returncode
    except TransportError as error:
        where = PREFECT_API_URL.value()
        print(f"No Prefect server answers at {where}: {error}. Start one with make server.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
