"""Figures on what differs between two versions, computed by SQL over the tables of both."""

from collections.abc import Mapping

from sandmill.report.html.figure import Figure
from sandmill.report.queries import Queries

EARLIER_PUBLIC, EARLIER_PRIVATE = "earlier_public", "earlier_private"
"""Views on the tables of tasks of the version that the release is compared with."""
_PUBLIC = {"structure": "modality || '/' || target", "metric": "metric", "split": "split"}
_PRIVATE = {"band": "band", "structure": "structure", "metric": "metric", "split": "split"}
_TITLES = {"band": "Tasks by difficulty band", "structure": "Tasks by structure"}
_JOINED = f"{EARLIER_PUBLIC} AS one FULL JOIN public_tasks AS other ON one.task_id = other.task_id"


def difference_figures(queries: Queries, is_private: bool) -> tuple[Figure, Figure, tuple[Figure, ...]]:
    """Return the counts of tasks, the list of tasks added and removed, and the mixes before and after."""
    counts = queries.figure(
        "difference-tasks",
        "Tasks added, removed and kept",
        f"""SELECT count(*) FILTER (one.task_id IS NULL) AS added, count(*) FILTER (other.task_id IS NULL) AS removed,
       count(*) FILTER (one.task_id = other.task_id) AS kept
FROM {_JOINED}""",
    )
    listed = queries.figure(
        "difference-list",
        "Tasks that only one version has",
        f"""SELECT coalesce(one.task_id, other.task_id) AS task_id,
       CASE WHEN one.task_id IS NULL THEN 'added' ELSE 'removed' END AS change
FROM {_JOINED}
WHERE one.task_id IS NULL OR other.task_id IS NULL ORDER BY change, task_id""",
    )
    names: Mapping[str, str] = _PRIVATE if is_private else _PUBLIC
    views = (EARLIER_PRIVATE, "private_tasks") if is_private else (EARLIER_PUBLIC, "public_tasks")
    mixes = [_mix(queries, name, value, *views) for name, value in names.items()]
    if is_private:
        mixes.append(_difficulty(queries))
    return counts, listed, tuple(mixes)


def _mix(queries: Queries, name: str, value: str, earlier: str, later: str) -> Figure:
    order = "list_position(['easy', 'medium', 'hard', 'expert'], band)" if name == "band" else name
    return queries.figure(
        f"difference-{name}",
        _TITLES.get(name, f"Tasks by {name}"),
        f"""WITH one AS (SELECT {value} AS value, count(*) AS tasks FROM {earlier} GROUP BY ALL),
other AS (SELECT {value} AS value, count(*) AS tasks FROM {later} GROUP BY ALL)
SELECT coalesce(one.value, other.value) AS {name}, coalesce(one.tasks, 0) AS before, coalesce(other.tasks, 0) AS after
FROM one FULL JOIN other ON one.value = other.value ORDER BY {order}""",
    )


def _difficulty(queries: Queries) -> Figure:
    union = "\nUNION ALL ".join(
        f"SELECT {place} AS place, '{name}' AS version, count(*) AS tasks, round(avg(difficulty), 6) AS mean, "
        f"round(quantile_cont(difficulty, 0.25), 6) AS lower_quartile, round(median(difficulty), 6) AS median, "
        f"round(quantile_cont(difficulty, 0.75), 6) AS upper_quartile FROM {view}"
        for place, (name, view) in enumerate({"before": EARLIER_PRIVATE, "after": "private_tasks"}.items())
    )
    return queries.figure(
        "difference-difficulty",
        "Difficulty before and after",
        f"SELECT version, tasks, mean, lower_quartile, median, upper_quartile FROM (\n{union}) ORDER BY place",
    )
