"""A file that is no plain text is refused."""

import pytest

from sandmill.errors import InvalidSubmission
from sandmill.scoring.submission import parse_submission
from tests.metric_samples import brief_for

BRIEF = brief_for(("regression", "rmse"))
IDS = ("a1", "a2", "a3")
HONEST = b"id,y\na1,1\na2,2\na3,3\n"


@pytest.mark.parametrize("content", [HONEST.decode().encode("utf-16"), HONEST + bytes(10)])
def test_zero_bytes_are_refused(content):
    with pytest.raises(InvalidSubmission, match=r"file: saw zero bytes, as in UTF-16 .*; expected plain CSV in UTF-8"):
        parse_submission(content, BRIEF, IDS)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_byte_of_another_encoding_is_shown_with_its_line(mark):
    content = mark + "id,y\na1,1\ncafé,2\na3,3\n".encode("latin-1")
    with pytest.raises(InvalidSubmission, match="line 3: saw the byte 0xe9; expected plain CSV in UTF-8"):
        parse_submission(content, BRIEF, IDS)


def test_text_that_is_not_csv_is_shown_with_its_line():
    with pytest.raises(InvalidSubmission, match=r"line 3: saw text that is not CSV .*; expected plain CSV in UTF-8"):
        parse_submission(b'id,y\na1,1\na2,"2"2\na3,3\n', BRIEF, IDS)


@pytest.mark.parametrize(("content", "saw"), [(b"", "an empty file"), (b"\n" + HONEST, "an empty line")])
def test_nothing_where_the_header_should_be_is_said(content, saw):
    with pytest.raises(InvalidSubmission, match=f"line 1: saw {saw}; expected the columns id,y"):
        parse_submission(content, BRIEF, IDS)
