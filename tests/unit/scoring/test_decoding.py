"""A file that is no plain text is refused by the name of what it looks like."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import polars as pl
import pytest

from sandmill.errors import InvalidSubmission
from sandmill.scoring import submission
from sandmill.scoring.submission import parse_submission
from tests.metric_samples import brief_for

BRIEF = brief_for(("regression", "rmse"))
IDS = ("a1", "a2", "a3")
HONEST = b"id,y\na1,1\na2,2\na3,3\n"


def saved(save):
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()


def zipped(stream):
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("submission.csv", HONEST)


FRAME = pl.read_csv(HONEST)
FORMATS = {
    "utf-16": (HONEST.decode().encode("utf-16"), "UTF-16 text"),
    "utf-16 without a mark": (HONEST.decode().encode("utf-16-le"), "UTF-16 text"),
    "utf-16, large end first": (HONEST.decode().encode("utf-16-be"), "UTF-16 text"),
    "utf-32": (HONEST.decode().encode("utf-32"), "UTF-32 text"),
    "zip": (saved(zipped), "a ZIP archive"),
    "gzip": (gzip.compress(HONEST), "a gzip file"),
    "parquet": (saved(FRAME.write_parquet), "a Parquet file"),
    "arrow": (saved(FRAME.write_ipc), "an Arrow or Feather file"),
    "pickle": (pickle.dumps({"a1": 1}), "a Python pickle"),
    "numpy": (saved(lambda stream: np.save(stream, np.arange(3))), "a NumPy array"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(40), "a PNG image"),
    "zero bytes": (HONEST + bytes(10), "binary data with zero bytes"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_file_looks_like_is_named(name):
    content, saw = FORMATS[name]
    with pytest.raises(InvalidSubmission) as caught:
        parse_submission(content, BRIEF, IDS)
    (problem,) = caught.value.problems
    assert (problem.where, problem.expected) == ("file", "plain CSV in UTF-8")
    assert problem.saw.startswith(saw)


def test_a_file_that_is_too_large_is_named_as_well():
    png = FORMATS["png"][0] + bytes(submission.MAX_SUBMISSION_BYTES)
    with pytest.raises(InvalidSubmission, match=r"saw a PNG image of \d+ bytes; expected plain CSV in UTF-8, at most"):
        parse_submission(png, BRIEF, IDS)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_byte_of_another_encoding_is_shown_with_its_line(mark):
    content = mark + "id,y\na1,1\ncafé,2\na3,3\n".encode("latin-1")
    with pytest.raises(InvalidSubmission, match="line 3: saw the byte 0xe9; expected plain CSV in UTF-8"):
        parse_submission(content, BRIEF, IDS)


@pytest.mark.parametrize("mark", ["PAR1", "PK", "BZh", "GIF8", "%PDF"])
def test_letters_that_a_format_starts_with_are_text_in_a_text(mark):
    facts = BRIEF.model_copy(update={"id_column": mark})
    assert parse_submission(HONEST.replace(b"id", mark.encode(), 1), facts, IDS).tolist() == [1, 2, 3]


def test_text_that_is_not_csv_is_shown_with_its_line():
    with pytest.raises(InvalidSubmission, match=r"line 3: saw text that is not CSV .*; expected plain CSV in UTF-8"):
        parse_submission(b'id,y\na1,1\na2,"2"2\na3,3\n', BRIEF, IDS)


@pytest.mark.parametrize(("content", "saw"), [(b"", "an empty file"), (b"\n" + HONEST, "an empty line")])
def test_nothing_where_the_header_should_be_is_said(content, saw):
    with pytest.raises(InvalidSubmission, match=f"line 1: saw {saw}; expected the columns id,y"):
        parse_submission(content, BRIEF, IDS)
