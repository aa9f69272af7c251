"""Gates on child tables, notes, recorded runs and rows of seeds: sound packages pass, broken ones do not."""

from functools import cache

import polars as pl
import pytest

from sandmill.check import check_package
from sandmill.check.file_gates import check_traces
from sandmill.check.package_tables import read_package
from sandmill.check.seed_gate import check_seed_rows
from sandmill.draw import render
from sandmill.kinds.files.archives import pack, unpack
from sandmill.kinds.files.tables import csv_bytes, read_table
from sandmill.models.hints import Form, Hint
from sandmill.models.motifs import Aggregate
from sandmill.models.spec import Sizes
from sandmill.seeds.guard import make_guard
from tests.designs import SECRET, make_image_spec
from tests.event_designs import make_event_spec
from tests.packages import details, make_package, put

FILE = "bookings.csv"


@cache
def event_package():
    return render(make_event_spec(), SECRET).package


def changed(made, path, change):
    return put(made, path, change(made.public[path].decode()).encode())


def with_lines(change):
    """Change the lines of the child table after its header."""
    head, *lines = event_package().public[FILE].decode().splitlines()
    return put(event_package(), FILE, "\n".join([head, *change(lines)]).encode() + b"\n")


@pytest.mark.parametrize("is_number", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_sound_package_passes_every_gate(is_number):
    assert check_package(render(make_event_spec(is_number=is_number, has_copies=True), SECRET).package) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda lines: [*lines, "ffffffffff,rent,12.5,3"], "1 id of no item"),
        (lambda lines: [line for line in lines if not line.startswith(lines[0][:10])], "1 item without rows"),
        (lambda lines: lines[::-1], "not sorted"),
        (lambda lines: [lines[0].replace(lines[0].split(",")[1], "gift"), *lines[1:]], "not declared"),
        (lambda lines: [lines[0].rpartition(",")[0] + ",240", *lines[1:]], "outside of 0 to 239"),
        (lambda lines: [f"{lines[0].split(',')[0]},rent,1.234,239", *lines[1:]], "decimals of their own"),
        (lambda lines: [lines[0]] * 41 + lines[1:], "with more than 40 rows"),
    ],
)
def test_a_child_table_that_is_not_as_declared_is_found(change, expected):
    assert expected in details(with_lines(change), "child")


def test_a_missing_or_broken_child_table_is_a_fault_of_the_files():
    assert f"{FILE}: the file is not there" in details(put(event_package(), FILE, None), "files")
    assert f"{FILE}: empty cells" in details(with_lines(lambda lines: ["x,rent,much,3", *lines]), "files")
    assert "saw columns" in details(put(event_package(), FILE, b"id,kind\n1,2\n"), "files")


def test_a_total_that_tells_the_target_is_found():
    tables = read_package(event_package())
    target = dict(zip(tables.test["id"], tables.test_targets[0].values, strict=True))

    def tell(lines):
        cells = [line.split(",") for line in lines]
        return [",".join([*cell[:2], "9999.5" if target.get(cell[0]) else "1.5", cell[3]]) for cell in cells]

    assert "mean of an item alone tells" in details(with_lines(tell), "child")


@pytest.mark.parametrize(
    ("motif", "expected"),
    [(Aggregate(how="sum", kinds=(4,)), "kinds that it does not have"), (Aggregate(how="sum", days=240), "240 days")],
)
def test_a_stated_summary_that_does_not_fit_is_found(motif, expected):
    hint = Hint(fact=Form(name="odd", motif=motif), text="Odd.")
    spec = make_event_spec().model_copy(update={"hints": (hint,)})
    assert expected in details(event_package().model_copy(update={"spec": spec}), "child")


def test_a_note_without_its_value_or_with_two_is_found():
    lost = changed(event_package(), "train.csv", lambda text: text.replace(" sqm", " square metres", 1))
    assert "1 note from which the value of balcony_m2 cannot be read" in details(lost, "notes")
    twice = changed(event_package(), "test.csv", lambda text: text.replace(" sqm", " sqm of 3 sqm", 1))
    assert "1 note from which the value of balcony_m2 cannot be read" in details(twice, "notes")
    other = changed(event_package(), "train.csv", lambda text: text.replace("is a slate", "is a straw roof", 1))
    assert "value of roof cannot be read" in details(other, "notes")


def test_the_description_names_file_and_columns():
    for name in (f"public/{FILE}", "days_ago"):
        broken = changed(event_package(), "description.md", lambda text, name=name: text.replace(name, "something"))
        assert name in details(broken, "description")


SEED = pl.DataFrame({"name": [f"Okonkwo-{n} Brandt" for n in range(40)], "x": [f"{n}.123456" for n in range(40)]})
GUARD = make_guard(SEED)


@pytest.mark.parametrize("path", ["train.csv", "test.csv"])
def test_a_planted_value_is_named_with_its_file_and_column(path):
    package = make_package()
    table = read_table(package.public, path)
    column = next(name for name in table.columns if name not in (package.facts.id_column, package.facts.target_column))
    cells = ["Okonkwo-3 Brandt", *table[column].to_list()[1:]]
    planted = put(package, path, csv_bytes(table.with_columns(pl.Series(column, cells))))
    (finding,) = check_seed_rows(planted, GUARD)
    assert (finding.gate, finding.detail) == ("seed_rows", f"{path}: 1 rare values of the seed in column {column}")


def test_a_planted_row_is_found_whatever_its_columns_are_called():
    package = make_package()
    rows = (
        SEED.head(3).rename({"name": "a", "x": "b"}).with_columns(pl.Series(package.facts.id_column, ["1", "2", "3"]))
    )
    details = [finding.detail for finding in check_seed_rows(put(package, "calls.csv", csv_bytes(rows)), GUARD)]
    assert "calls.csv: 3 rows of the seed" in details


@pytest.fixture(scope="module")
def package():
    spec = make_image_spec()
    return render(spec.model_copy(update={"sizes": Sizes(train=120, feedback=100, final=100)}), SECRET).package


def by_label(files):
    return sorted(files, key=lambda file: file[0][0])


def longer(files):
    return [(name, content + b"\0" * int(name[0])) for name, content in files]


@pytest.mark.parametrize(("change", "trace"), [(by_label, "the place in the archive"), (longer, "the size")])
def test_a_trace_that_tells_the_target_is_found(package, change, trace):
    content = pack(change(unpack(package.public, "train.zip")))
    tables = read_package(package.model_copy(update={"public": {**package.public, "train.zip": content}}))
    found = list(check_traces(tables))
    assert any(f"train.zip: {trace} of the files tells the target" in finding for finding in found), found
