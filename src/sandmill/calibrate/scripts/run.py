"""Run generated scripts in this process."""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandmill.calibrate.threads import one_thread


@contextlib.contextmanager
def script_surroundings(folder: Path, out: Path) -> Iterator[None]:
    """Arguments, output and warnings as a script has them that runs by itself; one thread of linear algebra."""
    from sklearn import config_context

    arguments, variables = sys.argv, dict(os.environ)
    sys.argv = ["solution.py", str(folder), str(out)]
    try:
        # Checks of scikit-learn's arguments change no number and take their time.
        unchecked = config_context(skip_parameter_validation=True)
        with one_thread(), unchecked, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.argv = arguments
        os.environ.clear()
        os.environ.update(variables)


def run_source(source: str, names: dict[str, Any]) -> None:
    """Execute source of our own making in a namespace."""
    exec(compile(source, "solution.py", "exec"), names)
