"""Figures on rollouts, computed by the SQL that the report shows. Masked rollouts count as masked or failed only."""

from collections.abc import Mapping, Sequence

from sandmill.report.html.figure import Figure
from sandmill.report.html.overlay import Comparison, OverlayFacts
from sandmill.report.html.page import Edition
from sandmill.report.paired import PairedTask, paired_difference
from sandmill.report.queries import Queries

ROLLOUT_VIEW = "rollout_rows"
"""View with a row for each rollout: the columns of the stored Parquet file, and label and number of its set."""
_BINS = 20
_EARNED = "coalesce(reward, 0)"
_GAP = "greatest(0, least(1, coalesce(gap_closed, 0)))"
MEASURES = {"reward": _EARNED, "share of the gap": _GAP, "solve rate": "CAST(medal IS NOT NULL AS INTEGER)"}
"""What two sets are compared by. The first is used only if both have the same reward preset."""

_BY_TASK = f"""by_task AS (
  SELECT number, label, task_id, count(*) AS played, count(medal) AS solved, avg({_EARNED}) AS mean_reward,
         max({_EARNED}) - min({_EARNED}) AS reward_range
  FROM {ROLLOUT_VIEW} WHERE NOT mask GROUP BY ALL)"""
_KIND = "CASE WHEN solved = 0 THEN 'never' WHEN solved = played THEN 'always' ELSE 'frontier' END"
_FLAT = "played > 1 AND reward_range <= 1e-9"


def overlay_facts(
    queries: Queries,
    edition: Edition,
    labels: Sequence[str],
    clusters: Mapping[str, str],
    same_rewards: bool,
    notes: Sequence[str] = (),
) -> OverlayFacts:
    """Compute everything that the section on rollouts shows.

    Args:
        queries: with `ROLLOUT_VIEW` and the views of the release.
        edition: the public one names no task and no band.
        labels: names of the sets, by number.
        clusters: design of each task by its id.
        same_rewards: whether all sets have one reward preset, so that rewards compare.
        notes: sentences above the figures.
    """
    is_private = edition == "private"
    measures = {name: sql for name, sql in MEASURES.items() if same_rewards or name != "reward"}
    return OverlayFacts(
        labels=tuple(labels),
        sets=_sets(queries),
        rewards=_rewards(queries),
        solved=_solved(queries, is_private),
        kinds=_kinds(queries),
        failures=_failures(queries),
        tasks=_tasks(queries) if is_private else None,
        comparisons=tuple(
            _compare(queries, labels, number, measures, clusters, is_private) for number in range(2, len(labels) + 1)
        ),
        notes=tuple(notes),
    )


def _sets(queries: Queries) -> Figure:
    return queries.figure(
        "rollout-sets",
        "Sets of rollouts",
        f"""SELECT label, count(*) FILTER (NOT mask) AS rollouts, count(*) FILTER (mask) AS masked,
       count(DISTINCT task_id) FILTER (NOT mask) AS tasks,
       round(avg(CAST(valid AS INTEGER)) FILTER (NOT mask), 6) AS valid,
       round(avg({MEASURES["solve rate"]}) FILTER (NOT mask), 6) AS solve_rate,
       round(avg({_GAP}) FILTER (NOT mask), 6) AS mean_gap,
       round(avg({_EARNED}) FILTER (NOT mask), 6) AS mean_reward
FROM {ROLLOUT_VIEW} GROUP BY number, label ORDER BY number""",
        "A rollout solves its task with bronze or better. Masked rollouts count in no mean.",
    )


def _rewards(queries: Queries) -> Figure:
    return queries.figure(
        "rollout-rewards",
        "Rewards",
        f"""WITH earned AS (SELECT number, label, {_EARNED} AS reward FROM {ROLLOUT_VIEW} WHERE NOT mask),
ends AS (SELECT min(reward) AS low, greatest(max(reward) - min(reward), 1e-9) / {_BINS} AS width FROM earned),
binned AS (SELECT number, label, low, width, CAST(least({_BINS - 1}, floor((reward - low) / width)) AS INTEGER) AS bin
  FROM earned, ends)
SELECT label, bin, round(low + width * bin, 6) AS reward_from, round(low + width * (bin + 1), 6) AS reward_to,
       count(*) AS rollouts
FROM binned GROUP BY number, label, bin, low, width ORDER BY number, bin""",
        "Rollouts by reward, in bins of equal width.",
    )


def _solved(queries: Queries, is_private: bool) -> tuple[Figure, ...]:
    if not is_private:
        return (
            _solve_rate(queries, "structure", "public_tasks.modality || '/' || public_tasks.target", "public_tasks"),
        )
    order = "list_position(['easy', 'medium', 'hard', 'expert'], band)"
    band = _solve_rate(queries, "band", "private_tasks.band", "private_tasks", order)
    return band, _solve_rate(queries, "structure", "private_tasks.structure", "private_tasks")


def _solve_rate(queries: Queries, name: str, value: str, view: str, order: str = "") -> Figure:
    return queries.figure(
        f"solve-rate-{name}",
        f"Solve rate by {'difficulty band' if name == 'band' else name}",
        f"""SELECT label, {value} AS {name}, count(DISTINCT task_id) AS tasks, count(*) AS rollouts,
       round(avg({MEASURES["solve rate"]}), 6) AS solve_rate
FROM {ROLLOUT_VIEW} JOIN {view} USING (task_id)
WHERE NOT mask GROUP BY number, label, {value} ORDER BY {order or value}, number""",
        "Share of rollouts with bronze or better.",
    )


def _kinds(queries: Queries) -> Figure:
    return queries.figure(
        "task-kinds",
        "Tasks that a set solves always, sometimes and never",
        f"""WITH {_BY_TASK}
SELECT label, count(*) AS tasks, count(*) FILTER (solved = 0) AS always_0,
       count(*) FILTER (solved > 0 AND solved < played) AS frontier, count(*) FILTER (solved = played) AS always_1,
       count(*) FILTER ({_FLAT}) AS without_variance
FROM by_task GROUP BY number, label ORDER BY number""",
        "A task without variance has two or more rollouts of equal reward, which teach nothing to GRPO.",
    )


def _tasks(queries: Queries) -> Figure:
    return queries.figure(
        "rollouts-by-task",
        "Rollouts by task",
        f"""WITH {_BY_TASK}
SELECT label, task_id, played AS rollouts, solved, round(mean_reward, 6) AS mean_reward, {_KIND} AS kind,
       {_FLAT} AS without_variance
FROM by_task ORDER BY number, task_id""",
    )


def _failures(queries: Queries) -> Figure:
    return queries.figure(
        "rollout-failures",
        "Kinds of failure",
        f"""SELECT label, failure, count(*) AS rollouts
FROM {ROLLOUT_VIEW} WHERE failure <> '' GROUP BY number, label, failure ORDER BY number, rollouts DESC, failure""",
        "Rollouts without a valid submission. Of infra_error and model_error the rollout is masked.",
    )


def _compare(
    queries: Queries,
    labels: Sequence[str],
    number: int,
    measures: Mapping[str, str],
    clusters: Mapping[str, str],
    is_private: bool,
) -> Comparison:
    """Compare a set with the first one on the tasks that both have played."""
    first = next(iter(measures))
    tasks = _paired(queries, number, first, measures[first])
    union = "\nUNION ALL ".join(
        f"SELECT {place} AS place, '{name}' AS measure, task_id, number, {sql} AS value "
        f"FROM {ROLLOUT_VIEW} WHERE NOT mask"
        for place, (name, sql) in enumerate(measures.items())
    )
    summary = queries.figure(
        f"difference-{number}",
        f"Difference on common tasks: {labels[number - 1]} less {labels[0]}",
        f"""WITH measured AS ({union}),
means AS (SELECT place, measure, task_id, number, round(avg(value), 6) AS value FROM measured GROUP BY ALL),
paired AS (SELECT one.place, one.measure, other.value - one.value AS difference
  FROM means AS one JOIN means AS other USING (measure, task_id) WHERE one.number = 1 AND other.number = {number})
SELECT measure, count(*) AS tasks, round(avg(difference), 6) AS mean_difference,
       count(*) FILTER (difference > 1e-9) AS better, count(*) FILTER (difference < -1e-9) AS worse,
       count(*) FILTER (abs(difference) <= 1e-9) AS equal
FROM paired GROUP BY place, measure ORDER BY place""",
        "Means of each task over its rollouts are compared, so that each task counts once.",
    )
    return Comparison(
        before=labels[0],
        after=labels[number - 1],
        measure=first,
        summary=summary,
        intervals={
            name: paired_difference(_pairs(_paired(queries, number, name, sql), clusters))
            for name, sql in measures.items()
        },
        tasks=tasks if is_private else None,
    )


def _paired(queries: Queries, number: int, measure: str, sql: str) -> Figure:
    return queries.figure(
        f"changed-{number}",
        f"Tasks that changed most, by {measure}",
        f"""WITH means AS (SELECT number, task_id, round(avg({sql}), 6) AS value
  FROM {ROLLOUT_VIEW} WHERE NOT mask GROUP BY ALL)
SELECT task_id, one.value AS before, other.value AS after, round(other.value - one.value, 6) AS difference
FROM means AS one JOIN means AS other USING (task_id)
WHERE one.number = 1 AND other.number = {number} ORDER BY abs(difference) DESC, task_id""",
    )


def _pairs(figure: Figure, clusters: Mapping[str, str]) -> list[PairedTask]:
    return [
        PairedTask(
            task_id=str(row["task_id"]),
            cluster=clusters.get(str(row["task_id"]), str(row["task_id"])),
            before=float(row["before"] or 0),
            after=float(row["after"] or 0),
        )
        for row in figure.records()
    ]
