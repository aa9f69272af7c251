"""Tables with odd line ends and encodings are read, or named by file and line; they never stop a folder."""

import pytest

from sandmill.errors import SeedError
from sandmill.seeds import ingest

ROWS = [f"{n % 7},{'ab'[n % 2]},{n % 2}" for n in range(40)]
READ = {
    "bom": b"\xef\xbb\xbf" + "\n".join(["x,k,late", *ROWS]).encode(),
    "crlf": "\r\n".join(["x,k,late", *ROWS, ""]).encode(),
    "mixed": ("x,k,late\r\n" + "\n".join(ROWS[:20]) + "\n" + "\r\n".join(ROWS[20:])).encode(),
    "quoted": ("x,k,late\n" + "\n".join(ROWS) + '\n3,"a\rb",1\n').encode(),
}
REFUSED = {
    "old-mac": ("\r".join(["x,k,late", *ROWS]).encode(), "line 1: saw a carriage return without a line feed"),
    "lone": (
        ("x,k,late\n" + "\n".join(ROWS[:20]) + "\r" + "\n".join(ROWS[20:])).encode(),
        "line 21: saw a carriage return without a line feed",
    ),
    "utf-16": ("\n".join(["x,k,late", *ROWS]).encode("utf-16"), "line 1: saw bytes that are not UTF-8"),
    "ragged": (
        ("x,k,late\r\n" + "\n".join([*ROWS, "1,2"])).encode(),
        "line 42: saw 2 cells; expected 3",
    ),
}


def _folder(written, name, content):
    folder = written.table(f"all/{name}", "")
    written.file(f"{folder}/table.csv", content)
    return folder


@pytest.mark.parametrize("name", READ)
def test_a_table_with_odd_line_ends_is_read(written, name):
    seed = ingest((_folder(written, name, READ[name]),)).supported[0]
    assert seed.structure.rows_train == 40 + (name == "quoted")
    assert seed.structure.n_classes == 2


@pytest.mark.parametrize("name", REFUSED)
def test_one_that_readers_disagree_about_is_named_by_its_line(written, name):
    content, message = REFUSED[name]
    with pytest.raises(SeedError) as error:
        ingest((_folder(written, name, content),))
    assert message in str(error.value)


def test_a_broken_table_in_a_folder_is_set_aside_and_the_others_are_read(written):
    for name, content in {"mixed": READ["mixed"], "old-mac": REFUSED["old-mac"][0]}.items():
        _folder(written, name, content)
    intake = ingest(("all",))
    assert [seed.id for seed in intake.supported] == ["mixed"]
    assert [seed.id for seed in intake.unsupported] == ["old-mac"]
    assert "line 1: saw a carriage return" in intake.unsupported[0].needs[0]
