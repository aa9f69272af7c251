"""The console script `sandmill`: look at releases, pull them, grade, verify. Building is done from the clone."""

import sys


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a fact does not hold, 2 a bad argument or reference, 130 Ctrl-C."""
    try:
        from sandmill.cli.app import app

        app(prog_name="sandmill")
    except KeyboardInterrupt:
        sys.exit(130)
