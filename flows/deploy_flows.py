"""Deploy prefect.yaml, and keep schedules as operators left them. Run from the root: python -m flows.deploy_flows."""

import os
import subprocess
import sys
from pathlib import Path

from httpx import TransportError
from prefect.settings import PREFECT_API_URL

from tasks.schedules import keep_schedules

DEPLOY = (sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all")
FLOWS = ("build-release", "audit-release", "refresh-curriculum")


def main() -> int:
    """Return the exit code of `prefect deploy`."""
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
