"""Submissions broken on purpose: an honest file of every form, and what accident or malice makes of its bytes."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np

from sandmill.errors import InvalidSubmission
from sandmill.models.calibration import BoardEntry, Calibration, Thresholds, Tier
from sandmill.models.package import TaskFacts
from sandmill.models.reports import GradeReport, Outcome
from sandmill.scoring import get_metric, submission
from sandmill.scoring.answers import Answers
from sandmill.scoring.base import Array
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.grading.grade import GRADER_FAULT
from tests.factories import CALIBRATION
from tests.metric_samples import Pair, brief_for, guess, make_world, perfect

ROWS = 24

BYTE_CLASSES: tuple[bytes, ...] = (
    bytes([0]),
    bytes(range(1, 9)) + bytes(range(14, 28)) + b"\x7f",
    b"\t\n\x0b\x0c\r",
    b"\x1c\x1d\x1e\x1f",
    b" ",
    b"0123456789",
    b".+-eE_xX",
    b",;\"'|",
    b"abcXYZnaif",
    bytes(range(33, 127)),
    bytes(range(0x80, 0xC0)),
    bytes(range(0xC0, 0x100)),
)
"""Every byte is in a class; a class is drawn first, so that rare kinds of bytes are as frequent as letters."""

BLANKS = (
    *("\t", "\n", "\x0b", "\x0c", "\r", "\x1c", "\x1d", "\x1e", "\x1f", " ", "\x85", "\xa0", "\u1680", "\u2000"),
    *("\u2003", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u200b", "\ufeff", "\u180e"),
)
"""All that some function of Python takes for white space, and three that none does."""

CELLS = (
    *("", " ", "0", "-0", "-0.0", "1", "1.0", "0.5", "5e-324", "-5e-324", "2.2250738585072014e-308", "1e-320"),
    *("1e308", "-1e308", "1.7976931348623157e308", "1.7976931348623159e308", "1e154", "-1e154", "1e155", "1e16"),
    *("1e999", "1e9999", "1e99999", "1e+00001", "1e-99999", "9" * 400, "0." + "0" * 400 + "1", "1" * 5000, "0x1p3"),
    *("inf", "-inf", "Infinity", "nan", "-nan", "NaN", "1_0", "1e1_0", "1.", ".5", ".", "e5", "+", "--1", "+-1"),
    *("٣", "０.５", "²", "Ⅷ", "−1", "1,5", "1 5", "1\n", "1\r\n", "0b1", "0o7", "1j", "1L", "1f", "true", "None"),
    *("\ud7ff", "\U0001f600", "e\u0301", "a\u202eb", "x" * 200_000, '"', '""', "'", "=1+1", "ash ash", "ash  beech"),
    *("1 3 2 4", "5 2 1 1", "0 3", "2 0", "1 999999999", "1 9999999999", "1 2 3", "1 1 1 1", "3 1", "1 1 " * 9),
    *("ash\x1fbeech", "ash\u3000beech", "ash,beech", "1.00", "01", "1.0\n", "0.25", "0.333333", "0.9999999"),
)

MARKS = (
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"PK\x03\x04", b"PAR1", b"\x89PNG\r\n\x1a\n"),
    *(b"\x1f\x8b", b"\x80\x04\x95", b"\x93NUMPY", b"SQLite format 3\0", b"BZh", b"\0", b"\xed\xa0\x80", b"\xf5"),
)

Mutator = Callable[[bytes, Random], bytes]
Verdict = Literal["valid", "invalid", "exception", "broken"]
"""`broken`: a report that must never be given, such as a score that is not finite or one above the truth itself."""


@dataclass(frozen=True)
class Graded:
    """A small task with an honest submission."""

    pair: Pair
    facts: TaskFacts
    answers: Answers
    calibration: Calibration
    honest: bytes

    def grade(self, content: bytes) -> GradeReport:
        """Grade a file against it."""
        return grade_submission(content, self.answers, self.facts, self.calibration)

    def parse(self, content: bytes) -> object:
        """Read a file: the prediction as lists, or the problems."""
        try:
            return submission.parse_submission(content, self.facts, self.answers.ids).tolist()
        except InvalidSubmission as error:
            return [str(problem) for problem in error.problems]


def make_graded(pair: Pair, seed: int = 0) -> Graded:
    """Make a task whose oracle is the truth itself, so that no submission can be above it."""
    facts, metric, is_final = brief_for(pair), get_metric(pair[1]), np.arange(ROWS) % 2 > 0
    for again in range(100):
        rng = np.random.default_rng([seed, again])
        truth = make_world(pair, rng, ROWS).truth
        honest = guess(pair, rng, ROWS)
        # Some metrics need every class in both parts.
        if all(np.isfinite(metric.score(truth[part], honest[part])) for part in (is_final, ~is_final)):
            break
    answers = Answers(tuple(f"r{number:03}" for number in rng.permutation(ROWS)), truth, is_final)
    oracle = metric.rounded(truth[is_final], perfect(pair, truth)[is_final])
    trivial = oracle + (1.0 if metric.is_lower_better else -1.0)
    calibration = CALIBRATION.model_copy(
        update={
            "is_lower_better": metric.is_lower_better,
            "trivial": trivial,
            "oracle": oracle,
            "board": (BoardEntry(solver="mean", tier=Tier.TRIVIAL, final=trivial, feedback=trivial),),
            "thresholds": Thresholds(gold=oracle, silver=trivial, bronze=trivial, median=trivial),
        }
    )
    return Graded(pair, facts, answers, calibration, write(facts, answers.ids, honest))


def write(facts: TaskFacts, ids: Sequence[str], prediction: Array) -> bytes:
    """Write a prediction as a file."""
    names = facts.classes
    match facts.encoding:
        case "label":
            rows = [[names[code]] for code in prediction]
        case "label_list":
            rows = [[" ".join(n for n, x in zip(names, row, strict=True) if x)] for row in prediction]
        case "ranked_list":
            rows = [[" ".join(names[code] for code in row if code >= 0)] for row in prediction]
        case _:
            rows = [[repr(cell) for cell in row] for row in prediction.reshape(len(prediction), -1).tolist()]
    table = [[facts.id_column, *facts.submission_columns], *([i, *row] for i, row in zip(ids, rows, strict=True))]
    return "".join(",".join(row) + "\n" for row in table).encode()


def mutate(content: bytes, rng: Random) -> bytes:
    """Break a file in one to three ways."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(MUTATORS)(content, rng)
    return content


def judge(task: Graded, content: bytes) -> tuple[Verdict, str]:
    """Grade a file, and say whether the grade is one that may be given, with what is wrong about it."""
    try:
        report = task.grade(content)
        json.loads(report.model_dump_json())
    except Exception as error:  # noqa: BLE001
        return "exception", f"{type(error).__name__}: {error}"
    numbers = [report.score, report.feedback_score, report.gap_closed]
    gap = report.gap_closed or 0.0
    if report.outcome is Outcome.INVALID_SUBMISSION:
        if any(problem.startswith(f"{GRADER_FAULT}:") for problem in report.problems):
            return "exception", report.problems[0]
        is_clean = report.problems and all(problem.isprintable() for problem in report.problems)
        is_sound = is_clean and numbers == [None, None, None] and report.medal is None
        return ("invalid", "") if is_sound else ("broken", f"invalid, and yet {report}")
    is_finite = all(number is not None and math.isfinite(number) for number in numbers)
    if report.outcome is not Outcome.OK or not is_finite:
        return "broken", str(report)
    return ("valid", "") if gap <= 1 + 1e-6 else ("broken", f"above the truth itself: {report}")


def _drawn(rng: Random, count: int) -> bytes:
    return bytes(rng.choice(rng.choice(BYTE_CLASSES)) for _ in range(count))


def _span(content: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 1, 2, 5, 40, 400)))


def _flip(content: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + _drawn(rng, 1) + content[at + 1 :]


def _insert(content: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + _drawn(rng, rng.choice((1, 1, 2, 8))) + content[at:]


def _delete(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def _duplicate(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] * rng.choice((1, 1, 3)) + content[end:]


def _truncate(content: bytes, rng: Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _mark(content: bytes, rng: Random) -> bytes:
    return rng.choice(MARKS) + content


def _recode(content: bytes, rng: Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "cp037")), "replace")


def _line_ends(content: bytes, rng: Random) -> bytes:
    end = rng.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b", b"\x0c", b"\x1e", "\x85".encode(), "\u2028".encode()))
    return content.replace(b"\n", end, rng.choice((1, -1)))


def _lines(content: bytes, rng: Random) -> bytes:
    lines = content.split(b"\n")
    match rng.randrange(4):
        case 0:
            rng.shuffle(lines)
        case 1:
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
        case 2:
            lines[1:] = rng.sample(lines[1:], len(lines) - 1)
        case _:
            lines = [b",".join(line.split(b",")[::-1]) for line in lines]
    return b"\n".join(lines)


def _change_cells(content: bytes, rng: Random, change: Callable[[bytes], bytes]) -> bytes:
    """Change one cell, or a whole column below the header."""
    lines = [line.split(b",") for line in content.split(b"\n")]
    row, is_column = rng.randrange(len(lines)), rng.random() < 0.3
    column = rng.randrange(len(lines[row]))
    for number, cells in enumerate(lines):
        if (number == row or (is_column and number > 0)) and column < len(cells) and cells != [b""]:
            cells[column] = change(cells[column])
    return b"\n".join(b",".join(cells) for cells in lines)


def _replace_cell(content: bytes, rng: Random) -> bytes:
    cell = rng.choice(CELLS).encode()
    return _change_cells(content, rng, lambda _: cell)


def _quote_cell(content: bytes, rng: Random) -> bytes:
    form = rng.choice((b'"%b"', b'"%b', b'%b"', b'"%b"x', b'"%b\n"', b'""%b""', b"'%b'", b'"%b""'))
    return _change_cells(content, rng, lambda cell: form.replace(b"%b", cell))


def _pad_cell(content: bytes, rng: Random) -> bytes:
    blank = rng.choice(BLANKS).encode()
    before, after = rng.choice(((True, False), (False, True), (True, True)))
    return _change_cells(content, rng, lambda cell: blank * before + cell + blank * after)


def _swap_cells(content: bytes, rng: Random) -> bytes:
    lines = [line.split(b",") for line in content.split(b"\n")]
    (one, left), (two, right) = ((row, rng.randrange(len(row))) for row in rng.choices(lines, k=2))
    one[left], two[right] = two[right], one[left]
    return b"\n".join(b",".join(cells) for cells in lines)


def _scale_column(content: bytes, rng: Random) -> bytes:
    """Multiply a column of numbers, which stays valid where any number is allowed."""
    factor = rng.choice((0.0, -1.0, 1e-320, 1e-300, 1e-16, 1e16, 1e153, 1e300, 1e307, -1e307, -1e-300))

    def change(cell: bytes) -> bytes:
        try:
            return repr(float(cell) * factor).encode()
        except ValueError:
            return cell

    return _change_cells(content, rng, change)


MUTATORS: tuple[Mutator, ...] = (
    *(_flip, _flip, _insert, _insert, _delete, _duplicate, _truncate, _mark, _recode, _line_ends, _lines),
    *(_replace_cell, _replace_cell, _quote_cell, _pad_cell, _pad_cell, _swap_cells, _scale_column, _scale_column),
)
