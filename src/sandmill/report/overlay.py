"""The section of a report on rollouts: rewards and solve rates of each set, and what changed between two sets.

Figures come from the SQL that the report shows. Masked rollouts count as masked only.
"""

from collections.abc import Mapping, Sequence

from sandmill.errors import count
from sandmill.report.html.figure import Figure, bars, figure_block, figure_table
from sandmill.report.html.markup import Markup, element, join
from sandmill.report.html.page import Edition, Section
from sandmill.report.paired import LEVEL, PairedDifference, PairedTask, paired_difference
from sandmill.report.queries import Queries

ROLLOUT_VIEW = "rollout_rows"
"""View with a row for each rollout: the columns of the stored Parquet file, and label and number of its set."""
MOST_CHANGED = 20
"""Tasks that the page names as changed most; the figure holds all."""
_BINS = 20
_EARNED = "coalesce(reward, 0)"
_GAP = "greatest(0, least(1, coalesce(gap_closed, 0)))"
MEASURES = {"reward": _EARNED, "share of the gap": _GAP, "solve rate": "CAST(medal IS NOT NULL AS INTEGER)"}
"""What two sets are compared by. The first is used only if both have the same reward preset."""


def overlay_section(
    queries: Queries,
    edition: Edition,
    labels: Sequence[str],
    clusters: Mapping[str, str],
    same_rewards: bool,
    notes: Sequence[str] = (),
) -> Section:
    """Return the section.

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
    sets, rewards, solved = _sets(queries), _rewards(queries), _solved(queries, is_private)
    figures = [sets, rewards, *solved]
    most = max((float(number) for number in rewards.column("rollouts") if isinstance(number, int)), default=1.0)
    drawn = [figure_block(rewards, _by_set(rewards, labels, "reward_from", "rollouts", most))]
    drawn += [figure_block(one, _by_set(one, labels, one.columns[1], "solve_rate", 1.0)) for one in solved]
    parts = [*(element("p", note, class_="faint") for note in notes), figure_block(sets, figure_table(sets))]
    parts.append(element("div", *drawn, class_="grid wider"))
    intervals = {}
    for number in range(2, len(labels) + 1):
        before, after = labels[0], labels[number - 1]
        summary, changed = (
            _summary(queries, labels, number, measures),
            _changed(queries, number, *next(iter(measures.items()))),
        )
        found = {
            name: paired_difference(_pairs(_changed(queries, number, name, sql), clusters))
            for name, sql in measures.items()
        }
        intervals[f"{before} to {after}"] = {name: one.model_dump(mode="json") for name, one in found.items()}
        sentences = join(element("p", interval_text(name, one)) for name, one in found.items())
        parts.append(element("h3", f"{after} compared with {before}"))
        parts.append(figure_block(summary, join([figure_table(summary), sentences])))
        figures.append(summary)
        if is_private:
            shown = changed.model_copy(update={"rows": changed.rows[:MOST_CHANGED]})
            parts.append(figure_block(changed, figure_table(shown, linked="task_id")))
            figures.append(changed)
    data = {"labels": list(labels), "intervals": intervals}
    return Section(id="overlay", title="Rollouts", html=join(parts), data=data, figures=tuple(figures))


def _by_set(figure: Figure, labels: Sequence[str], name: str, value: str, most: float) -> Markup:
    """Draw the bars of one set below those of another, all with the same scale."""
    parts = []
    for label in labels:
        own = figure.model_copy(update={"rows": tuple(row for row in figure.rows if row[0] == label)})
        parts += [element("p", label), bars(own, name, value, most)]
    return join(parts)


def interval_text(measure: str, found: PairedDifference) -> str:
    """Say how large a difference is, how sure, and what it rests on."""
    if found.mean is None:
        return f"{measure}: the sets have no task in common."
    interval = "no interval, since it takes two designs"
    if found.low is not None and found.high is not None:
        interval = f"{LEVEL:.0%} interval {found.low:+.3f} to {found.high:+.3f}"
    rest = f"bootstrap of {count(found.clusters, 'design')}"
    tasks = f"Better: {count(found.better, 'task')}, worse: {found.worse}, equal: {found.equal}."
    common = count(found.tasks, "common task")
    return f"{measure}: mean difference over {common} {found.mean:+.3f}, {interval}; {rest}. {tasks}"


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


def _summary(queries: Queries, labels: Sequence[str], number: int, measures: Mapping[str, str]) -> Figure:
    """Compare a set with the first one on the tasks that both have played."""
    union = "\nUNION ALL ".join(
        f"SELECT {place} AS place, '{name}' AS measure, task_id, number, {sql} AS value "
        f"FROM {ROLLOUT_VIEW} WHERE NOT mask"
        for place, (name, sql) in enumerate(measures.items())
    )
    return queries.figure(
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


def _changed(queries: Queries, number: int, measure: str, sql: str) -> Figure:
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
