"""Grade a submission, with the command `python evaluator.py --submission_path PATH`.

SandMLE runs it in the public folder of a task. A server of `sandmill serve` gives the grade. Its address and its token
come from the environment.
"""

import argparse
import json
import os
import stat
import sys
import time
import urllib.error
import urllib.request
from typing import Any

THRESHOLDS = ("gold", "silver", "bronze", "median")
LONGEST_MESSAGE = 2000
MOST_BYTES = 64 * 1024 * 1024
"""Largest submission in bytes."""
MOST_REPLY = 16 * 1024 * 1024
"""Largest reply of the server in bytes."""
ATTEMPTS = 4
PAUSE_S = 1.0
"""Seconds before the second attempt. Each further pause is twice as long."""
WAIT_S = 120.0
"""Longest wait for one reply, in seconds."""
BUSY = (429, 502, 503, 504)
"""Status codes after which another attempt may succeed."""


class NotGraded(Exception):
    """The submission was not graded, for a reason that is no fault of the submission."""


def evaluate(task_id: str) -> None:
    """Grade the file that the command line names, and print one JSON object.

    The exit code is 1 for an invalid submission and 2 if nothing was graded. The reason is on standard error.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--submission_path", required=True)
    path = parser.parse_args().submission_path
    try:
        result = grade_by_server(path, task_id)
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


def grade_by_server(path: str, task_id: str) -> dict[str, Any]:
    """Send a submission to the server and return its report.

    Raises:
        NotGraded: if the server is not configured, not reachable, or refuses the request.
    """
    url, token = server_settings()
    content, problem = read_submission(path)
    if content is None:
        return {"score": None, "problems": [problem]}
    request = urllib.request.Request(f"{url}/v1/grade/{task_id}", data=content, method="POST")
    request.add_header("Content-Type", "text/csv")
    # A redirect to another host must not receive the token.
    request.add_unredirected_header("Authorization", f"Bearer {token}")
    return ask(request)


def read_submission(path: str) -> tuple[bytes | None, str]:
    """Return the content of a regular file, or None with the problem. Links are not followed.

    The agent chooses the path, and sees parts of an invalid file in the problems. So other files are not read.
    """
    if not path.endswith(".csv"):
        return None, "A submission is a file whose name ends in .csv."
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None, "submission.csv is missing or cannot be read."
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None, "submission.csv is not a regular file."
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    return (content, "") if len(content) <= MOST_BYTES else (None, f"submission.csv is larger than {MOST_BYTES} bytes.")


def server_settings() -> tuple[str, str]:
    """Return the address of the server and the token."""
    url, token_file = os.environ.get("SANDMILL_SERVER", ""), os.environ.get("SANDMILL_TOKEN_FILE", "")
    if not url.startswith(("http://", "https://")) or not token_file:
        raise NotGraded("SANDMILL_SERVER and SANDMILL_TOKEN_FILE of the trainer do not name a grading server.")
    if token_file.endswith(".csv"):
        raise NotGraded("SANDMILL_TOKEN_FILE names a file that ends in .csv, which agents could submit.")
    try:
        with open(token_file, encoding="ascii") as file:
            return url.rstrip("/"), file.read().strip()
    except (OSError, ValueError):
        raise NotGraded("the file that SANDMILL_TOKEN_FILE names cannot be read.") from None


def ask(request: urllib.request.Request) -> dict[str, Any]:
    """Send a request and return the reply. A server that is busy is asked again."""
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_S * 2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as reply:
                return read_report(reply.read(MOST_REPLY + 1))
        except urllib.error.HTTPError as error:
            problem = f"the grading server answered with status {error.code}."
            if error.code not in BUSY:
                break
        except OSError:
            problem = "the grading server cannot be reached."
    raise NotGraded(problem)


def read_report(reply: bytes) -> dict[str, Any]:
    """Return the report of the server."""
    try:
        report = json.loads(reply)
    except ValueError:
        report = None
    if not isinstance(report, dict) or "score" not in report:
        raise NotGraded("the grading server sent an unknown reply.")
    return {"problems": [], **report}
