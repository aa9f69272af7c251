"""Grade a submission: score, medal, position and share of the gap. Anything unexpected is an invalid submission.

`run` is the command line.
"""

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from sandmill.export.grader_parts.table import MOST_BYTES, Refused, Rows, Table, Task, read_file, read_table
from sandmill.scoring.scores import Array, Resample

Report = dict[str, Any]


def grade_paths(
    submission: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    part: str,
    task: Task,
    score: Callable[..., float],
) -> Report:
    """Grade a file. A submission that cannot be graded is an invalid one."""
    try:
        content = read_file(submission, MOST_BYTES)
        with open(answers, "rb") as file:
            truth = file.read()
    except Refused as error:
        return report(task, part, None, str(error))
    except Exception as error:
        return report(task, part, None, f"the grader failed with {type(error).__name__}")
    return grade_content(content, truth, part, task, score)


def grade_content(
    submission: bytes | None, answers: bytes, part: str, task: Task, score: Callable[..., float]
) -> Report:
    """Grade the content of submission.csv, which is None if there is no file."""
    try:
        return report(task, part, score(submission, answers, part, task))
    except Refused as error:
        return report(task, part, None, str(error))
    except Exception as error:
        return report(task, part, None, f"the grader failed with {type(error).__name__}")


def score_part(
    submission: bytes | None,
    answers: bytes,
    part: str,
    task: Task,
    read: Callable[[Table, Task], Array],
    read_truth: Callable[[Rows, Task], Array],
    metric: Resample,
) -> float:
    """Return the score of one part. Both parts must have a finite score."""
    if submission is None:
        raise Refused("there is no submission.csv")
    lines = list(csv.DictReader(io.StringIO(answers.decode())))
    ids, parts = [line[task["id_column"]] for line in lines], np.array([line["part"] for line in lines])
    prediction, truth = read(read_table(submission, task, ids), task), read_truth(lines, task)
    with np.errstate(all="ignore"):
        scores = {
            name: round(float(metric(truth[rows], prediction[rows], np.ones((1, rows.sum())))[0]), 5) + 0.0
            for name, rows in (("final", parts == "final"), ("feedback", parts == "feedback"))
            if rows.any()
        }
    gaps = [share(scores[name], task["parts"][name]) or 0.0 for name in scores]
    if not all(map(math.isfinite, [*scores.values(), *gaps])):
        raise Refused("the numbers are too large to score")
    return scores[part]


def report(task: Task, part: str, score: float | None, problem: str = "") -> Report:
    """Return the result. Without a score there is no medal, and the reward is 0."""
    facts, lower = task["parts"][part], task["is_lower_better"]
    thresholds, board = facts["thresholds"], facts["board"]

    def reaches(bar: float) -> bool:
        return score is not None and (score <= bar if lower else score >= bar)

    beaten = sum(map(reaches, board))
    gap, to_gold = share(score, facts), share(score, {**facts, "oracle": thresholds["gold"]})
    progress = to_gold if task["ceiling_is_loose"] and to_gold is not None else gap
    return {
        "score": score,
        "valid": score is not None,
        "problems": [problem] if problem else [],
        "part": part,
        "is_lower_better": lower,
        "thresholds": thresholds,
        "medal": next((medal for medal in ("gold", "silver", "bronze") if reaches(thresholds[medal])), None),
        "above_median": reaches(thresholds["median"]) and score != thresholds["median"],
        "gap_closed": gap,
        "gap_to_gold": to_gold,
        "position": None if score is None else len(board) - beaten + 1,
        "position_score": beaten / len(board),
        "reward": min(1.0, max(0.0, progress or 0.0)),
    }


def share(score: float | None, facts: Task) -> float | None:
    """Return the share of the way from the trivial solver to the oracle; None if an end is not known."""
    low, high = facts["trivial"], facts["oracle"]
    if score is None or low is None or high == low:
        return None
    return float(round((score - low) / (high - low), 6) + 0.0)


def run(grade: Callable[..., Report]) -> None:
    """Grade the files that the command line names, and print the report."""
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["final"], ["feedback"]):
        sys.exit("usage: python grader.py SUBMISSION ANSWERS [final|feedback]")
    print(json.dumps(grade(*sys.argv[1:]), allow_nan=False))
