"""Measure how much each column says about the target, in SQL that spills to disk, so that size does not matter."""

import math
from collections.abc import Mapping

from sandmill.seeds.engine import quote
from sandmill.seeds.profile import ColumnFacts
from sandmill.seeds.table_files import TableFile


def dependences(
    table: TableFile, target: ColumnFacts, inputs: Mapping[str, ColumnFacts], classes: bool
) -> dict[str, float]:
    """Put the dependence of each input with the target on one scale, 0 (none seen) to 1.

    Absolute correlation where both are numbers (a date counts as one, and so does a target of two values); else the
    correlation ratio, the square root of the share of variance that lies between groups. A target of several classes
    takes part as one indicator column for each class. Measured in sample: a column with many levels scores too high.

    Args:
        table: the file, streamed.
        target: facts of the target column.
        inputs: columns to measure; identifiers and text are left out of the result.
        classes: whether the target names classes rather than quantities.

    Returns:
        Dependence by column, 4 decimals; columns for which it cannot be computed are absent.

    Raises:
        Unsound: if the file cannot be read.
    """
    import duckdb

    answer: dict[str, float] = {}
    goal = _indicator(target) if classes and target.distinct == 2 else None if classes else _number(table, target)
    measured = {n: f for n, f in inputs.items() if f.kind not in ("identifier", "text") and f.distinct >= 2}
    with table.connect((*measured, target.name)) as connection:
        for name, facts in measured.items():
            query = _query(table, facts, target, goal)
            try:
                row = connection.execute(query).fetchone()
            except duckdb.OutOfRangeException:
                continue
            if row and row[0] is not None and math.isfinite(row[0]):
                answer[name] = min(1.0, max(0.0, round(row[0], 4)))
    return answer


def _query(table: TableFile, facts: ColumnFacts, target: ColumnFacts, goal: str | None) -> str:
    is_number = facts.kind in ("numeric", "date")
    if goal is not None and is_number:
        return f"SELECT abs(corr({_number(table, facts)}, {goal})) FROM cells WHERE {quote(target.name)} IS NOT NULL"
    if goal is not None:
        return _ratio(value=goal, group=quote(facts.name))
    if is_number:
        return _ratio(value=_number(table, facts), group=quote(target.name))
    return _class_ratio(quote(facts.name), quote(target.name))


def _ratio(value: str, group: str) -> str:
    """Correlation ratio of a number over groups."""
    return f"""
        WITH pairs AS (SELECT {group} AS g, {value} AS v FROM cells),
             groups AS (SELECT count(*) AS n, avg(v) AS m, var_pop(v) AS s FROM pairs
                        WHERE g IS NOT NULL AND v IS NOT NULL GROUP BY g),
             means AS (SELECT n, m, s, sum(n * m) OVER () / sum(n) OVER () AS mean FROM groups)
        SELECT sqrt(sum(n * (m - mean) ** 2) / nullif(sum(n * ((m - mean) ** 2 + s)), 0)) FROM means"""


def _class_ratio(column: str, target: str) -> str:
    """Correlation ratio of the class indicators, taken together, over groups."""
    return f"""
        WITH pairs AS (SELECT {column} AS g, {target} AS k, count(*)::DOUBLE AS n FROM cells
                       WHERE {column} IS NOT NULL AND {target} IS NOT NULL GROUP BY ALL),
             cells_of AS (SELECT n, sum(n) OVER (PARTITION BY g) AS of_group, sum(n) OVER () AS total FROM pairs),
             within AS (SELECT sum(n * n / of_group) / max(total) AS kept, max(total) AS total FROM cells_of),
             shares AS (SELECT k, sum(n) AS n FROM pairs GROUP BY k),
             chance AS (SELECT sum((n / total) ** 2) AS kept FROM shares, within)
        SELECT sqrt(greatest(0, within.kept - chance.kept) / nullif(1 - chance.kept, 0)) FROM within, chance"""


def _number(table: TableFile, facts: ColumnFacts) -> str:
    name = quote(facts.name)
    if facts.kind == "date":
        return f"epoch(try_cast(left({name}::VARCHAR, 19) AS TIMESTAMP))"
    value = f"try_cast({name} AS DOUBLE)"
    return f"CASE WHEN isfinite({value}) THEN {value} END"


def _indicator(target: ColumnFacts) -> str:
    name = quote(target.name)
    return f"({name} = (SELECT max({name}) FROM cells))::INT::DOUBLE"
