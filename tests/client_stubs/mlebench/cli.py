"""The command `grade-sample`."""

import argparse
import json
import sys
from pathlib import Path

import pandas as pd
from mlebench.grade_helpers import rank_score
from mlebench.registry import registry
from mlebench.utils import read_csv


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["grade-sample"])
    parser.add_argument("submission", type=Path)
    parser.add_argument("competition_id", choices=registry.list_competition_ids())
    parser.add_argument("--data-dir", type=Path, default=registry.get_data_dir())
    args = parser.parse_args()
    competition = registry.set_data_dir(args.data_dir).get_competition(args.competition_id)
    submission, answers = (read_csv(path) for path in (args.submission, competition.answers))
    score = competition.grader(submission, answers)
    assert score is None or isinstance(score, float | int)
    board = pd.read_csv(competition.leaderboard)["score"].tolist()
    sys.stderr.write(json.dumps({"competition_id": competition.id, "score": score, **rank_score(score, board)}))
