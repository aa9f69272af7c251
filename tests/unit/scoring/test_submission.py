import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.errors import InvalidSubmission
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.submission import parse_submission

IDS = ("a", "b", "c")
PROBABILITY = TaskFacts(
    id_column="id", target_column="y", target=TargetKind.BINARY, metric=MetricName.ROC_AUC,
    encoding="probability", classes=("0", "1"), submission_columns=("y",),
)  # fmt: skip
LABEL = PROBABILITY.model_copy(update={"encoding": "label", "metric": MetricName.ACCURACY})
CLASSES = PROBABILITY.model_copy(
    update={
        "encoding": "class_probabilities",
        "metric": MetricName.LOG_LOSS,
        "target": TargetKind.MULTICLASS,
        "classes": ("u", "v", "w"),
        "submission_columns": ("u", "v", "w"),
    }
)
VALUE = PROBABILITY.model_copy(
    update={"encoding": "value", "metric": MetricName.RMSE, "target": TargetKind.REGRESSION, "classes": ()}
)


def problems(csv: str | bytes, facts: TaskFacts = PROBABILITY) -> list[str]:
    content = csv.encode() if isinstance(csv, str) else csv
    with pytest.raises(InvalidSubmission) as caught:
        parse_submission(content, facts, IDS)
    return [str(problem) for problem in caught.value.problems]


def test_labels_are_class_names_and_whole_numbers_may_carry_a_point():
    assert parse_submission(b"id,y\na,1\nb,0.0\nc,1.0\n", LABEL, IDS).tolist() == [1, 0, 1]
    assert problems("id,y\na,1\nb,yes\nc,0.5\n", LABEL) == [
        'line 3, y: saw "yes"; expected one of 0, 1 (1 more such lines).'
    ]


def test_windows_line_ends_quotes_and_a_byte_order_mark_are_plain_csv():
    content = b'\xef\xbb\xbfid,y\r\n"a",0.1\r\nb,"0.2"\r\nc,0.3\r\n'
    assert parse_submission(content, PROBABILITY, IDS).tolist() == [0.1, 0.2, 0.3]


def test_all_problems_are_told_at_once():
    found = problems("id,y\na,0.1\na,7\nzz,nan\n")
    assert found == [
        "ids: saw 1 repeated (a); expected each id once.",
        "ids: saw 1 that are not asked for (zz); expected the ids of the sample submission.",
        "ids: saw 2 missing (b, c); expected all 3 ids of the sample submission.",
        'line 3, y: saw "7"; expected a probability from 0 to 1 (1 more such lines).',
    ]


@pytest.mark.parametrize(
    "cell", ["nan", "NaN", "inf", "-inf", "1e999", "", " ", "1_0", "0x1", "1j", "٣", "None", "1e-99999", "--1", "1,5"]
)
def test_only_finite_decimal_numbers_count(cell):
    assert problems(f'id,y\na,0.1\nb,"{cell}"\nc,0.3\n', VALUE) != []


@pytest.mark.parametrize("cell", ["1e-3", "+.5", "5.", " 0.25 ", "-0.0", "1E2"])
def test_usual_spellings_of_numbers_are_read(cell):
    prediction = parse_submission(f"id,y\na,{cell}\nb,0\nc,0\n".encode(), VALUE, IDS)
    assert prediction[0] == float(cell)


def test_rows_of_class_probabilities_sum_to_1():
    assert problems("id,u,v,w\na,1,0,0\nb,0.5,0.5,0.1\nc,0,0,1\n", CLASSES) == [
        "line 3: saw probabilities that sum to 1.1; expected a sum of 1."
    ]
    parse_submission(b"id,u,v,w\na,1,0,0\nb,0.3333333,0.3333333,0.3333333\nc,0,0,1\n", CLASSES, IDS)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"id\na\nb\nc\n",
        b"id,y,extra\na,0,0\n",
        b"id,y,y\na,0,0\n",
        b"Id,y\na,0\n",
        b"id,y\na\n",
        b"id,y\na,0,1\n",
    ],
)
def test_header_and_rows_must_have_the_asked_for_columns(content):
    assert problems(content)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_every_finite_float_survives_the_round_trip(values):
    content = "id,y\n" + "".join(f"{row_id},{value!r}\n" for row_id, value in zip(IDS, values, strict=True))
    assert parse_submission(content.encode(), VALUE, IDS).tolist() == values


def test_a_file_is_as_large_as_its_rows_may_need_and_no_larger():
    ids = [f"r{number:05}" for number in range(10_000)]
    widest = "id,y\n" + "".join(f"{row_id},-2.2250738585072014e-308\r\n" for row_id in ids)
    assert len(parse_submission(widest.encode(), VALUE, ids)) == len(ids)
    with pytest.raises(InvalidSubmission, match="bytes"):
        parse_submission(widest.encode() + b"\n" * 3_000_000, VALUE, ids)


@pytest.mark.parametrize("filler", [b"a\n", b"\n", b",", b"a,1\n", b'"a\n",1\n'])
def test_what_a_file_is_filled_with_costs_no_more_memory_than_it_has_rows(filler):
    ids = [f"r{number:05}" for number in range(10_000)]
    content = b"id,y\n" + filler * ((2 << 20) // len(filler))
    tracemalloc.start()
    with pytest.raises(InvalidSubmission):
        parse_submission(content, VALUE, ids)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 << 20


def test_what_follows_many_empty_lines_is_not_overlooked():
    assert parse_submission(b"id,y\na,1\nb,1\nc,1\n" + b"\n" * 500, VALUE, IDS).tolist() == [1, 1, 1]
    with pytest.raises(InvalidSubmission, match="lines"):
        parse_submission(b"id,y\na,1\nb,1\nc,1\n" + b"\n" * 1500 + b"a,2\n", VALUE, IDS)


HONEST = b"id,y\na,1\nb,2\nc,3\n"
NO_PLAIN_TEXT = {
    "UTF-16": (HONEST.decode().encode("utf-16"), "file: saw zero bytes, as in UTF-16 .*; expected plain CSV in UTF-8"),
    "zero bytes": (HONEST + bytes(10), "file: saw zero bytes, as in UTF-16 .*; expected plain CSV in UTF-8"),
    "Latin": ("id,y\na,1\ncafé,2\n".encode("latin-1"), "line 3: saw the byte 0xe9; expected plain CSV in UTF-8"),
    "Latin, marked": (b"\xef\xbb\xbfid,y\na,1\ncaf\xe9,2\n", "line 3: saw the byte 0xe9; expected plain CSV in UTF-8"),
    "quotes": (b'id,y\na,1\nb,"2"2\n', "line 3: saw text that is not CSV .*; expected plain CSV in UTF-8"),
    "nothing": (b"", "line 1: saw an empty file; expected the columns id,y"),
    "an empty line": (b"\n" + HONEST, "line 1: saw an empty line; expected the columns id,y"),
}


@pytest.mark.parametrize("name", NO_PLAIN_TEXT)
def test_a_file_that_is_no_plain_text_is_refused_with_its_line(name):
    content, said = NO_PLAIN_TEXT[name]
    with pytest.raises(InvalidSubmission, match=said):
        parse_submission(content, VALUE, IDS)
