"""Expectation suites that rejected tasks, grouped by suite, for people and machines that are told of them."""

from collections.abc import Iterable, Mapping
from typing import Any

_SHOWN = ("expectation", "columns", "line", "rows", "failing_rows", "failing_tasks")


def failed_suites(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the expectations that failed, by suite. They hold counts and no values of any task.

    Args:
        rows: results of the suites, one row an expectation, as releases keep them in suites.json.
    """
    failed: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if not row["success"]:
            failed.setdefault(str(row["table"]), []).append({name: row[name] for name in _SHOWN})
    return failed
