"""Gates on child tables and notes against a sound package, and against packages broken in one way."""

from functools import cache

import pytest

from sandmill.check import check_package
from sandmill.check.package_tables import read_package
from sandmill.draw import render
from sandmill.models.hints import Form, Hint
from sandmill.models.motifs import Aggregate
from tests.designs import SECRET
from tests.event_designs import make_event_spec
from tests.packages import details, put

FILE = "bookings.csv"


@cache
def package():
    return render(make_event_spec(), SECRET).package


def changed(made, path, change):
    return put(made, path, change(made.public[path].decode()).encode())


def with_lines(change):
    """Change the lines of the child table after its header."""
    head, *lines = package().public[FILE].decode().splitlines()
    return put(package(), FILE, "\n".join([head, *change(lines)]).encode() + b"\n")


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
    assert f"{FILE}: the file is not there" in details(put(package(), FILE, None), "files")
    assert f"{FILE}: empty cells" in details(with_lines(lambda lines: ["x,rent,much,3", *lines]), "files")
    assert "saw columns" in details(put(package(), FILE, b"id,kind\n1,2\n"), "files")


def test_a_total_that_tells_the_target_is_found():
    tables = read_package(package())
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
    assert expected in details(package().model_copy(update={"spec": spec}), "child")


def test_a_note_without_its_value_or_with_two_is_found():
    lost = changed(package(), "train.csv", lambda text: text.replace(" sqm", " square metres", 1))
    assert "1 note from which the value of balcony_m2 cannot be read" in details(lost, "notes")
    twice = changed(package(), "test.csv", lambda text: text.replace(" sqm", " sqm of 3 sqm", 1))
    assert "1 note from which the value of balcony_m2 cannot be read" in details(twice, "notes")
    other = changed(package(), "train.csv", lambda text: text.replace("is a slate", "is a straw roof", 1))
    assert "value of roof cannot be read" in details(other, "notes")


def test_the_description_names_file_and_columns():
    for name in (f"public/{FILE}", "days_ago"):
        broken = changed(package(), "description.md", lambda text, name=name: text.replace(name, "something"))
        assert name in details(broken, "description")
