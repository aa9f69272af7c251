"""The command line of a grader."""

import json
import sys
from collections.abc import Callable

from sandmill.export.grader_parts.kinds import Report


def run(grade: Callable[..., Report]) -> None:
    """Grade the files that the command line names, and print the report."""
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["final"], ["feedback"]):
        sys.exit("usage: python grader.py SUBMISSION ANSWERS [final|feedback]")
    print(json.dumps(grade(*sys.argv[1:]), allow_nan=False))
