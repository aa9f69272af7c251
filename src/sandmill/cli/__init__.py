"""The console script `sandmill`: show, pull, run, grade and verify. Building needs a clone."""

import os
import sys


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a fact does not hold, 2 a bad argument or reference, 130 Ctrl-C."""
    code: object = 0
    try:
        from sandmill.cli.app import app

        app(prog_name="sandmill")
    except KeyboardInterrupt:
        code = 130
    except SystemExit as ending:
        code = ending.code
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of native libraries sometimes abort the interpreter as it shuts down, and with it the exit code.
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
