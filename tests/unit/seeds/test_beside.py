"""Further files of a seed's folder: dictionaries, child tables, and which table has the target."""

import pytest

from sandmill.errors import SeedError
from sandmill.seeds import ingest

MAIN = "id,x,town,late\n" + "".join(f"r{n},{n % 7},{'AB'[n % 2]},{n % 2}\n" for n in range(40))


def _traits(source):
    profile = ingest((source,)).supported[0].structure.profile
    return profile.extra_files, profile.has_dictionary, profile.has_child


def _seed(written, extra="table: table.csv\nid_column: id\n"):
    return written.table("many", MAIN, extra=extra)


def test_a_table_with_several_rows_for_an_id_is_a_child(written):
    folder = _seed(written)
    written.file(f"{folder}/calls.csv", "id,minutes\n" + "".join(f"r{n % 9},{n}\n" for n in range(50)))
    assert _traits(folder) == (1, False, True)
    written.file(f"{folder}/calls.csv", "id,minutes\n" + "".join(f"r{n},{n}\n" for n in range(40)))
    assert _traits(folder) == (1, False, False)


def test_a_table_of_column_names_and_a_codebook_are_dictionaries(written):
    folder = _seed(written)
    written.file(f"{folder}/meanings.csv", "column,meaning\nx,a number\ntown,a town\n")
    assert _traits(folder) == (1, True, False)
    written.file(f"{folder}/meanings.csv", "code,meaning\nA,Aberdeen\nB,Berlin\n")
    assert _traits(folder) == (1, False, False)
    written.file(f"{folder}/codebook.md", "x is a number\n")
    written.file(f"{folder}/notes.md", "thanks to all\n")
    assert _traits(folder) == (2, True, False)


def test_of_several_tables_the_one_with_the_target_must_be_named(written):
    folder = _seed(written, "")
    written.file(f"{folder}/calls.csv", "id,minutes\nr1,3\n")
    with pytest.raises(SeedError, match=r"saw 2 tables: calls\.csv, table\.csv; expected one") as error:
        ingest((folder,))
    assert "Name the one with the target under table" in str(error.value)
    with pytest.raises(SeedError, match=r'expected the table "other\.csv"'):
        ingest((_seed(written, "table: other.csv\n"),))
