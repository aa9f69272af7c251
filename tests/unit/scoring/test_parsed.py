"""Submissions are parsed once for their check and their grade."""

import pytest

from sandmill.models.package import TaskFile
from sandmill.scoring.grading import grade as parsed
from sandmill.scoring.grading.grade import check_format, grade_submission, parse_once
from sandmill.scoring.grading.private_half import PrivateHalf
from sandmill.scoring.submission import read_answers
from tests.factories import make_package

PACKAGE = make_package()
FILE = TaskFile.model_validate_json(PACKAGE.private["task.json"])
SAMPLE = PACKAGE.public["sample_submission.csv"]


@pytest.fixture
def counted(monkeypatch):
    calls = []

    def parse(*arguments):
        calls.append(arguments)
        return real(*arguments)

    real = parsed.parse_submission
    monkeypatch.setattr(parsed, "parse_submission", parse)
    return calls


def answers_of(package):
    return read_answers(package.private["answers.csv"], FILE.facts)


def test_the_check_and_the_grade_share_one_reading(counted):
    answers = answers_of(PACKAGE)
    assert check_format(SAMPLE, PrivateHalf(FILE, answers)).is_valid
    assert grade_submission(SAMPLE, answers, FILE.facts, FILE.calibration).score == 0.5
    assert len(counted) == 1


def test_other_answers_other_facts_and_other_bytes_are_read_again(counted):
    answers, other = answers_of(PACKAGE), answers_of(PACKAGE)
    first = parse_once(SAMPLE, FILE.facts, answers)
    assert not first.flags.writeable
    for content, facts, by in (
        (SAMPLE + b"\n", FILE.facts, answers),
        (SAMPLE, FILE.facts.model_copy(update={"value_range": (0.0, 1.0)}), answers),
        (SAMPLE, FILE.facts, other),
    ):
        assert parse_once(content, facts, by).tolist() == first.tolist()
    assert len(counted) == 4


def test_few_submissions_are_kept(counted):
    answers = answers_of(PACKAGE)
    for number in range(100):
        parse_once(SAMPLE.replace(b"0.5", f"0.{100 + number}".encode()), FILE.facts, answers)
    assert len(parsed._parsed) <= 32
