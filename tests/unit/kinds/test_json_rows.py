"""Lists of JSON objects are read back strictly, and texts that are ids survive every mark."""

import polars as pl
import pytest

from sandmill.kinds.text.layout import DATED, JSON_ROWS
from sandmill.models.spec import Sizes
from sandmill.scoring.submission import parse_submission
from tests.factories import BRIEF

ODD = ['"He said, ""no"""', "два, три", "“四”，五", 'a "b"', "plain"]


def facts_with(id_column):
    asked = {"id_column": id_column, "target_column": "granted", "submission_columns": ("granted",)}
    return BRIEF.model_copy(update=asked)


FACTS = facts_with("id")
NESTED = '{"title": "Ein „Titel“", "body": "Text, \\"zitiert\\""}'
TEST = pl.DataFrame({"id": ["c", "d"], "days": [3, 4], "size": [0.1, None], "letter": [NESTED, NESTED]})
TRAIN = pl.DataFrame(
    {
        "id": ["a", "b"],
        "days": [1, 2],
        "size": [0.5, 2.0],
        "warmth": [0.25, 0.5],
        "letter": [NESTED, NESTED],
        "granted": ["0", "1"],
    }
)
FEATURES, LATER = ("days", "size", "letter"), ("warmth",)


def read_after(old, new):
    files = JSON_ROWS.write(TRAIN, TEST, FACTS)
    return JSON_ROWS.read(files | {"train.json": files["train.json"].replace(old, new)}, FACTS, FEATURES, LATER)


def test_lists_of_objects_are_read_back_as_they_were_written():
    files = JSON_ROWS.write(TRAIN, TEST, FACTS)
    items = JSON_ROWS.read(files, FACTS, FEATURES, LATER)
    assert items.faults == ()
    assert items.train.columns == TRAIN.columns
    assert items.train["letter"].to_list() == [NESTED, NESTED]
    assert items.test["size"].to_list() == ["0.1", None]
    assert items.train["granted"].to_list() == ["0", "1"]
    assert not JSON_ROWS.shows_target(files, FACTS)
    assert list(JSON_ROWS.excess(files, Sizes.model_construct(train=2, feedback=1, final=1))) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b'"days": 1', b'"days": 1, "days": 1', "written in another way"),
        (b'"days": 1', b'"days":  1', "written in another way"),
        (b'"days": 1', b'"days": NaN', "not JSON"),
        (b'"days": 1', b'"days": 1e999', "not JSON"),
        (b'"id": "a"', b'"id": "\\ud800"', "not JSON"),
        (b'"days": 1', b'"days": [1]', "neither texts nor numbers"),
        (b'"days": 1', b'"day": 1', "saw fields"),
        (b"[\n{", b"[" * 100_000 + b"{", "not JSON"),
    ],
)
def test_what_another_writer_would_write_is_a_fault(old, new, fault):
    assert fault in " ".join(read_after(old, new).faults)


def test_texts_that_are_ids_survive_files_and_submissions():
    facts = facts_with("comment")
    train = pl.DataFrame({"comment": ODD, "day": ["2020-01-01"] * 5, "granted": ["0", "1"] * 2 + ["0"]})
    test = train.drop("granted")
    files = DATED.write(train, test, facts)
    assert files["train.csv"].startswith(b"granted,day,comment\n")
    items = DATED.read(files, facts, ("day",))
    assert items.faults == ()
    assert items.train["comment"].to_list() == ODD
    assert items.test.columns == ["comment", "day"]
    submission = pl.DataFrame({"comment": ODD[::-1], "granted": [0.1, 0.2, 0.3, 0.4, 0.5]}).write_csv().encode()
    assert parse_submission(submission, facts, ODD).tolist() == [0.5, 0.4, 0.3, 0.2, 0.1]
