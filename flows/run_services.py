"""Start and stop server and worker in the background. Run from the root: python -m flows.run_services start|stop."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from prefect.settings import PREFECT_HOME

from sandmill.errors import SandmillError
from tasks.services import ServiceError, services, start_server, start_worker


def main() -> int:
    """Run one command; give its exit code."""
    parser = argparse.ArgumentParser(prog="python -m flows.run_services", description=__doc__)
    parser.add_argument("command", choices=("start", "stop"))
    parser.add_argument("--port", type=int, default=4200, help="port of the server (default: 4200)")
    given = parser.parse_args()
    folder = Path(PREFECT_HOME.value()) / "services"
    try:
        return start(folder, given.port) if given.command == "start" else stop(folder)
    except SandmillError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def start(folder: Path, port: int) -> int:
    """Start the server, deploy, start the worker, and print the address."""
    server, worker = services(folder)
    address = start_server(server, port)
    start_worker(worker, address)
    environment = {**os.environ, "PREFECT_API_URL": f"{address}/api"}
    if code := subprocess.run((sys.executable, "-m", "flows.deploy_all"), env=environment, check=False).returncode:
        raise ServiceError(f"server and worker run, but prefect.yaml was not deployed (exit code {code})")
    print(f"Prefect runs at {address} (logs: {server.log}, {worker.log}). End it with: make stop")
    return 0


def stop(folder: Path) -> int:
    """End the worker first, which says goodbye to its server, and then the server."""
    server, worker = services(folder)
    ended = [service.name for service in (worker, server) if service.stop()]
    print(f"Ended: {' and '.join(ended)}." if ended else "Nothing of make serve runs here.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
