"""Select tasks of a release by facts."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from sandmill.errors import Problem, RequestError, name_some, shorten

if TYPE_CHECKING:
    import polars as pl

_LISTED = 20


def select_ids(
    facts: "pl.DataFrame",
    ref: str,
    wanted: Mapping[str, Collection[str]],
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return the tasks that have one of the wanted values in each column.

    Args:
        facts: a row a task, with the columns of `wanted` that can be read.
        ref: names the release, for messages.
        wanted: values by column.
        ranges: least and greatest value by column, between 0 and 1. A task without a value is in no range.

    Raises:
        RequestError: a column or a value that the release does not have, all at once, or no task has all of them.
    """
    import polars as pl

    problems = []
    for column, (low, high) in ranges.items():
        if not 0 <= low <= high <= 1:
            flag = f"--{column.replace('_', '-')}"
            problems.append(Problem(flag, f"{low:g} to {high:g}", "two numbers, 0 <= LOW <= HIGH <= 1"))
    for column in [*wanted, *ranges]:
        if column not in facts.columns:
            hint = "Band, structure, difficulty and medal hardness are in the private half of a release."
            problems.append(Problem(f"--{column}", "no private half that is readable here", "one", hint))
    for column, values in wanted.items():
        if column not in facts.columns:
            continue
        known = facts[column].drop_nulls().unique().sort().to_list()
        expected = f"one of {name_some(map(shorten, known), _LISTED)}"
        problems += [Problem(f"--{column}", shorten(repr(value)), expected) for value in values if value not in known]
    if problems:
        raise RequestError(ref, problems, "Nothing was selected.")
    tests = [pl.col(column).is_in(list(values)) for column, values in wanted.items()]
    tests += [pl.col(column).is_between(*ends) for column, ends in ranges.items()]
    ids = tuple(facts.filter(*tests)["task_id"].to_list())
    require_some(ref, ids)
    return ids


def require_some(ref: str, task_ids: Sequence[str]) -> None:
    """Refuse an empty selection.

    Raises:
        RequestError: there is no task.
    """
    if not task_ids:
        problem = Problem("selection", "no task that has all of these values", "at least one task")
        raise RequestError(ref, [problem], f"List the tasks with: sandmill show {ref}")
