"""Facts of a task: coarse, the same for equal files, and never an error."""

from time import process_time

import pytest

from learn.tests.tables import write_csv, write_table
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill_learn.facts import FACT_VALUES, FACT_WORDS, _is_condition, _sentences, facts_of, text_facts

BINARY = TaskFacts(
    id_column="id",
    target_column="ripe",
    target=TargetKind.BINARY,
    metric=MetricName.ROC_AUC,
    encoding="probability",
    classes=("0", "1"),
    submission_columns=("ripe",),
)
NUMBER = BINARY.model_copy(
    update={"target": TargetKind.REGRESSION, "metric": MetricName.RMSE, "encoding": "value", "classes": ()}
)


def values_of(words):
    assert {*words} <= {*FACT_WORDS}
    found = dict(word.split("=", 1) for word in words)
    assert list(found) == list(FACT_VALUES)
    return found


def columns_facts(folder, cells, facts=BINARY, rows=60):
    """Facts of a table with one feature column, whose cells a function of the row number gives."""
    write_csv(folder / "train.csv", ["id", "x", "ripe"], [[f"r{n}", cells(n), n % 2] for n in range(rows)])
    return values_of(facts_of(folder, facts))


def test_words_are_unique_and_every_task_gets_one_value_of_each_fact(tmp_path):
    assert len({*FACT_WORDS}) == len(FACT_WORDS)
    task = write_table(tmp_path)
    found = values_of(facts_of(task / "public", BINARY))
    expected = {
        "rows": "under-90",
        "numeric": "3-5",
        "categorical": "0",
        "classes": "2",
        "child": "no",
        "missing": "none",
    }
    assert expected.items() <= found.items()
    assert found["linear"] == "strong"
    assert found["noise"] == "low"
    assert facts_of(task / "public", BINARY) == facts_of(task / "public", BINARY)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (lambda n: f"{n}.5 kg", {"units": "yes", "numeric": "0-2", "categorical": "0"}),
        (lambda n: f"2024-01-{1 + n % 28:02d}", {"dates": "yes", "numeric": "0-2"}),
        (
            lambda n: "the caller asked for a " + "very " * (n % 7) + "long call back",
            {"text": "yes", "categorical": "0"},
        ),
        (lambda n: f"town {n % 20}", {"categorical": "1-2", "cardinality": "high"}),
        (lambda n: "red" if n % 3 else "blue", {"categorical": "1-2", "cardinality": "low"}),
        (lambda n: -999 if n % 7 == 0 else n / 10, {"sentinels": "yes"}),
        (lambda n: n % 4, {"sentinels": "no"}),
        (lambda n: "" if n % 3 == 0 else n, {"missing": "much"}),
        (lambda n: n % 2, {"linear": "strong", "column": "strong"}),
    ],
)
def test_columns_are_told_apart_by_what_they_hold(tmp_path, cells, expected):
    found = columns_facts(tmp_path, cells)
    assert expected.items() <= found.items()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"id\n",
        b"id,x,ripe\n",
        b"\xff\xfe\x00",
        b"id,x,ripe\n1,2\n1,2,3,4\n",
        b'id,x,ripe\n"1,2,3\n',
        b"a;b\n1;2\n",
    ],
)
def test_a_file_that_is_no_table_gives_unknown_values(tmp_path, content):
    (tmp_path / "train.csv").write_bytes(content)
    found = values_of(facts_of(tmp_path, BINARY))
    assert found["rows"] == found["linear"] == "unknown"
    assert found["form"] == "probability"


def test_a_folder_that_is_not_there_gives_unknown_values(tmp_path):
    assert values_of(facts_of(tmp_path / "nothing", BINARY))["child"] == "unknown"


@pytest.mark.parametrize(
    "cells", [lambda n: "", lambda n: "inf", lambda n: 1, lambda n: "x" * 200 + str(n), lambda n: "1e400"]
)
@pytest.mark.parametrize("facts", [BINARY, NUMBER])
def test_columns_without_information_have_no_signal_and_no_warning(tmp_path, cells, facts, recwarn):
    found = columns_facts(tmp_path, cells, facts)
    assert found["linear"] in ("none", "unknown")
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]


def test_a_target_without_variation_and_a_target_of_words_are_no_error(tmp_path):
    write_csv(tmp_path / "train.csv", ["id", "x", "ripe"], [[n, n, "word"] for n in range(30)])
    for facts in (BINARY, NUMBER):
        values_of(facts_of(tmp_path, facts))


def test_what_the_description_states_over_columns_is_found(tmp_path):
    def states(text):
        (tmp_path / "description.md").write_text(text)
        return text_facts(tmp_path, ("height", "mass"))["states"]

    assert states("## Evaluation\n\nThe sum of `height` divided by `mass`.\n") == "nothing"
    assert states("| `height` | number | above 3 |\n") == "nothing"
    assert states("## Rules\n\nIt is `mass` divided by `height`.") == "formula"
    assert states("## Rules\n\nA guard comes if `height` is above 3.") == "condition"
    assert states("It is `mass` / `height`. A guard comes if `height` is above 3.") == "both"
    assert states("The house is above the river, `other` times `names`.") == "nothing"
    write_csv(tmp_path / "visits.csv", ["id"], [["a"]])
    (tmp_path / "data_dictionary.md").write_text("# Codes")
    found = text_facts(tmp_path, ())
    assert (found["child"], found["dictionary"]) == ("yes", "no")
    (tmp_path / "description.md").write_text("- `public/data_dictionary.md`: codes")
    assert text_facts(tmp_path, ())["dictionary"] == "yes"


SHAPES = [("a", " ", "b"), ("`", " ", "b"), ("", ". ", ""), ("", "divid", "!"), ("", "as long ", ""), ("", "`a` ", "")]


@pytest.mark.parametrize(("start", "repeated", "end"), SHAPES)
def test_sentences_are_read_in_time_that_grows_no_faster_than_the_text(start, repeated, end):
    spent = []
    for size in (8_000, 32_000):
        began = process_time()
        for sentence in _sentences(start + repeated * (size // len(repeated)) + end):
            _is_condition(sentence)
        spent.append(process_time() - began)
    # In proportion, the second takes 4 times as long as the first; with the square of the size, 16 times.
    assert spent[1] < max(0.4, 8 * spent[0])
