"""Read expectation suites from JSON files, and report every mistake in them before any work."""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandmill.check.profile import SCHEMAS
from sandmill.errors import InputError, Problem

_COLUMN = frozenset({"column"})
_RANGE = frozenset({"min_value", "max_value"})
_STRICT = frozenset({"strict_min", "strict_max"})
_PAIR = frozenset({"column_A", "column_B"})
_LIST = frozenset({"column_list"})

ROW_EXPECTATIONS: Mapping[str, frozenset[str]] = {
    "expect_column_values_to_not_be_null": _COLUMN,
    "expect_column_values_to_be_null": _COLUMN,
    "expect_column_values_to_be_unique": _COLUMN,
    "expect_column_values_to_be_between": _COLUMN | _RANGE | _STRICT,
    "expect_column_values_to_be_in_set": _COLUMN | {"value_set"},
    "expect_column_values_to_not_be_in_set": _COLUMN | {"value_set"},
    "expect_column_values_to_match_regex": _COLUMN | {"regex"},
    "expect_column_values_to_not_match_regex": _COLUMN | {"regex"},
    "expect_column_values_to_match_regex_list": _COLUMN | {"regex_list", "match_on"},
    "expect_column_value_lengths_to_be_between": _COLUMN | _RANGE | _STRICT,
    "expect_column_value_lengths_to_equal": _COLUMN | {"value"},
    "expect_column_pair_values_to_be_equal": _PAIR | {"ignore_row_if"},
    "expect_column_pair_values_a_to_be_greater_than_b": _PAIR | {"or_equal", "ignore_row_if"},
    "expect_column_pair_values_to_be_in_set": _PAIR | {"value_pairs_set", "ignore_row_if"},
    "expect_compound_columns_to_be_unique": _LIST | {"ignore_row_if"},
}
"""Expectations on rows, each with its arguments. Expectations on whole tables and the argument `mostly` are left out:
whether a task passes must not depend on the other tasks of its shard."""

CONDITION = "row_condition"
"""Argument that limits an expectation to some rows, allowed everywhere: {"type": "comparison", "column": {"name": ...},
"operator": ..., "parameter": ...}. Great Expectations deprecates conditions written as text."""

_SETTING_SHOWN = 120
"""Characters of an argument that a finding quotes."""

_PLACES = ("column", "column_A", "column_B", "column_list")


@dataclass(frozen=True)
class Expectation:
    """One expectation of a suite, with its line in the file."""

    type: str
    kwargs: Mapping[str, Any]
    line: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it checks."""
        named = [self.kwargs[place] for place in _PLACES if place in self.kwargs]
        return tuple(str(name) for item in named for name in (item if isinstance(item, list) else [item]))

    @property
    def settings(self) -> str:
        """Its other arguments on one line."""
        shown = {name: value for name, value in self.kwargs.items() if name not in _PLACES}
        return ", ".join(f"{name} {_show(value)}" for name, value in shown.items())


def load_suites(folder: Path) -> dict[str, bytes]:
    """Read and check every suite of a folder: content of `<table>.json` by table name, as copied into releases.

    Raises:
        InputError: with every mistake of every file: its line, what was seen, what was expected.
    """
    problems: list[Problem] = []
    suites: dict[str, bytes] = {}
    for path in sorted(folder.glob("*.json")):
        suites[path.stem] = path.read_bytes()
        try:
            read_suite(path.stem, suites[path.stem])
        except InputError as error:
            problems += error.problems
    if not suites:
        problems.append(Problem(str(folder), "no suite", "files such as tasks.json", "Give the folder of the suites."))
    if problems:
        raise InputError(str(folder), problems)
    return suites


def read_suite(name: str, content: bytes) -> list[Expectation]:
    """Parse one suite.

    Raises:
        InputError: with every mistake in it: JSON, table, expectations, arguments and columns.
    """
    file = f"{name}.json"
    if name not in SCHEMAS:
        problem = Problem(file, f"table {name}", f"one of {', '.join(SCHEMAS)}", _suggest(name, SCHEMAS))
        raise InputError(file, [problem])
    try:
        data = json.loads(content)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(file, [Problem(f"{file}{line}", f"broken JSON ({error})", "a JSON object")]) from None
    entries = data.get("expectations") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(file, [Problem(file, "no expectations", 'an object with a list "expectations"')])
    lines = _find_lines(content.decode())
    numbered = list(zip(lines, entries, strict=True))
    if found := [one for line, raw in numbered for one in _judge_entry(f"{file}, line {line}", raw, SCHEMAS[name])]:
        raise InputError(file, found)
    return [Expectation(raw["type"], raw["kwargs"], line) for line, raw in numbered]


def _judge_entry(where: str, raw: Any, schema: Mapping[str, object]) -> Iterator[Problem]:
    if not isinstance(raw, dict) or not isinstance(raw.get("kwargs"), dict):
        yield Problem(where, repr(raw)[:60], 'an object with "type" and "kwargs"')
        return
    kind, kwargs = str(raw.get("type")), raw["kwargs"]
    if kind not in ROW_EXPECTATIONS:
        hint = _suggest(kind, ROW_EXPECTATIONS) or "Whole-table expectations cannot be traced back to a task."
        yield Problem(where, kind, "an expectation on rows", hint)
        return
    allowed = ROW_EXPECTATIONS[kind] | {CONDITION}
    for argument in kwargs:
        if argument == "mostly":
            yield Problem(where, "mostly", "every row to count", "A task must not pass because others do.")
        elif argument not in allowed:
            expected = f"one of {', '.join(sorted(allowed))}"
            yield Problem(where, f"argument {argument}", expected, _suggest(argument, allowed))
    for place in sorted(ROW_EXPECTATIONS[kind] & set(_PLACES) - set(kwargs)):
        yield Problem(where, f"no argument {place}", f"{kind} to have one")
    compared = list(_find_columns(kwargs.get(CONDITION)))
    if CONDITION in kwargs and not compared:
        yield Problem(where, f"{CONDITION} {kwargs[CONDITION]!r}"[:80], "a comparison with a column")
    for column in (*Expectation(kind, kwargs, 0).columns, *compared):
        if column not in schema:
            yield Problem(where, f"column {column}", f"one of {', '.join(schema)}", _suggest(column, schema))


def _find_columns(condition: Any) -> Iterator[str]:
    if isinstance(condition, dict):
        if isinstance(column := condition.get("column"), dict) and "name" in column:
            yield str(column["name"])
        for part in condition.get("conditions", ()):
            yield from _find_columns(part)


def _show(value: Any) -> str:
    if isinstance(value, dict) and isinstance(value.get("column"), dict):
        return f"{value['column'].get('name')} {value.get('operator')} {value.get('parameter')}"
    text = json.dumps(value)
    return text if len(text) <= _SETTING_SHOWN else f"{text[:_SETTING_SHOWN]}..."


def _find_lines(text: str) -> list[int]:
    """Line number of each entry of the list `expectations`. The text is sound JSON."""
    decoder = json.JSONDecoder()
    lines: list[int] = []
    place = text.index("[", text.index('"expectations"')) + 1
    while True:
        while text[place] in " \t\r\n,":
            place += 1
        if text[place] == "]":
            return lines
        lines.append(text.count("\n", 0, place) + 1)
        _, place = decoder.raw_decode(text, place)


def _suggest(name: str, known: Mapping[str, object] | frozenset[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f'Did you mean "{close[0]}"?' if close else ""
