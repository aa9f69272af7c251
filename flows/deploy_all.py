"""Deploy prefect.yaml and keep schedules as operators left them. Run from the root: python -m flows.deploy_all."""

import subprocess
import sys

from httpx import TransportError
from prefect.settings import PREFECT_API_URL

from tasks.schedules import keep_schedules

DEPLOY = (sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all")


def main() -> int:
    """Run `prefect deploy --all`; give its exit code."""
    try:
        with keep_schedules("build-release"):
            return subprocess.run(DEPLOY, check=False).returncode
    except TransportError as error:
        print(
            f"No Prefect server answers at {PREFECT_API_URL.value()}: {error}. Start one: make server", file=sys.stderr
        )
        return 1


if __name__ == "__main__":
    sys.exit(main())
