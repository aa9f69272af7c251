import ast
import re

import pytest

from sandmill.errors import InputError
from sandmill.trainers.episode import last_script
from sandmill_learn.language import CLOSE, OPEN, load_language, parse_language

FENCE = """
- group: fence
  fragments:
    open: '```python'
    close: '```'
"""


def test_names_and_texts_are_unique():
    fragments = load_language().fragments
    assert 300 <= len(fragments) <= 450
    assert len({each.name for each in fragments}) == len({each.text for each in fragments}) == len(fragments)


def test_the_fence_is_two_fragments_that_the_reader_of_answers_knows():
    language = load_language()
    assert language.text(["open", "close"]) == OPEN + CLOSE
    assert last_script(language.answer(["import.pandas"])) == "import pandas as pd\n"
    assert language.answer(["open", "import.pandas", "close"]) == language.answer(["import.pandas"])


def test_fragments_that_end_their_line_are_statements_or_lines_of_a_call():
    for fragment in load_language().fragments:
        if fragment.group == "fence" or not fragment.text.endswith("\n") or fragment.text.strip() in {")", "]", "),"}:
            continue
        is_line_of_call = fragment.text.startswith("    ")
        opens = fragment.text.rstrip().endswith(("(", "["))
        source = f"f(\n{fragment.text})" if is_line_of_call else fragment.text
        ast.parse(source if not opens else source.rstrip()[:-1] + "0")


def test_fragments_within_a_line_never_hold_a_line_end_at_their_end():
    inner = [each for each in load_language().fragments if each.group in {"setting", "scorer", "classifier"}]
    assert inner
    assert not [each.name for each in inner if "\n" in each.text]


def test_an_unknown_name_is_an_error_that_lists_all():
    with pytest.raises(InputError, match=r"(?s)import\.panda'.*read\.trian"):
        load_language().text(["import.panda", "open", "read.trian"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- group: a\n  fragments: {}", "at least 1"),
        ("- group: a\n  fragments:\n    a: x = 1\n    b: x = 1", "the text"),
        ("- group: a\n  fragments:\n    a: x = 1\n- group: b\n  fragments:\n    a: x = 2", "the name"),
        ("- group: a\n  fragments:\n    A b: x = 1", "pattern"),
        ("- group: a\n  fragment:\n    a: x = 1", "Extra inputs|Field required"),
        ("- [", "YAML"),
        ("nothing", "valid list"),
    ],
)
def test_files_that_are_not_valid_are_refused(text, problem):
    with pytest.raises(InputError, match=problem):
        parse_language({"fence.yaml": FENCE, "more.yaml": text})


def test_all_problems_are_listed_at_once():
    bad = "- group: a\n  fragments: {}"
    with pytest.raises(InputError, match=r"(?s)one\.yaml.*two\.yaml"):
        parse_language({"fence.yaml": FENCE, "one.yaml": bad, "two.yaml": bad})


def test_a_language_without_a_fence_is_refused():
    with pytest.raises(InputError, match=re.escape("none with this text")):
        parse_language({"one.yaml": "- group: a\n  fragments:\n    a: x = 1"})
