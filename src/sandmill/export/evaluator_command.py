"""The command line that SandMLE calls: `python evaluator.py --submission_path PATH`."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

THRESHOLDS = ("gold", "silver", "bronze", "median")
LONGEST_MESSAGE = 2000


class NotGraded(Exception):
    """The submission was not graded, for a reason that is no fault of the submission."""


def evaluate(grade: Callable[[str], dict[str, Any]]) -> None:
    """Grade the file that the command line names, and print one JSON object.

    The exit code is 1 for an invalid submission and 2 if nothing was graded. The reason is on standard error.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--submission_path", required=True)
    path = parser.parse_args().submission_path
    try:
        result = grade(path)
        line = json.dumps(to_result(result), allow_nan=False) if result["score"] is not None else ""
    except NotGraded as error:
        stop(2, f"The submission was not graded: {error}")
    except Exception as error:
        stop(2, f"The submission was not graded: the evaluator failed with {type(error).__name__}.")
    if not line:
        stop(1, "; ".join(result["problems"]) or "There is no valid submission.")
    print(line)


def to_result(report: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that SandMLE's reward reads."""
    return {
        "score": float(report["score"]),
        "is_lower_better": bool(report["is_lower_better"]),
        **{f"{name}_threshold": float(report["thresholds"][name]) for name in THRESHOLDS},
    }


def stop(code: int, message: str) -> None:
    """Write a message for the agent and exit."""
    sys.stderr.write(message[:LONGEST_MESSAGE] + "\n")
    sys.exit(code)
