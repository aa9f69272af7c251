"""Select tasks of a release by facts."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from sandmill.errors import Problem, RequestError, name_some, shorten

if TYPE_CHECKING:
    import polars as pl

_LISTED = 20


def select_ids(
    facts: "pl.DataFrame",
    ref: str,
    wanted: Mapping[str, Collection[str]],
    difficulty: tuple[float, float] | None = None,
) -> tuple[str, ...]:
    """Return the tasks that have one of the wanted values in each column.

    Args:
        facts: a row a task, with the columns of `wanted` that can be read.
        ref: names the release, for messages.
        wanted: values by column.
        difficulty: least and greatest difficulty.

    Raises:
        RequestError: a column or a value that the release does not have, all at once, or no task has all of them.
    """
    import polars as pl

    problems = []
    if difficulty is not None:
        low, high = difficulty
        if not 0 <= low <= high <= 1:
            problems.append(Problem("--difficulty", f"{low:g} to {high:g}", "two numbers, 0 <= LOW <= HIGH <= 1"))
    for column in [*wanted, *([] if difficulty is None else ["difficulty"])]:
        if column not in facts.columns:
            hint = "Band, structure and difficulty are in the private half of a release."
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
    if difficulty is not None:
        tests.append(pl.col("difficulty").is_between(*difficulty))
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
