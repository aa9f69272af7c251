"""The section of a report on rollouts: rewards and solve rates of each set, and what changed between two sets.

Figures come from the SQL that the report shows. Masked rollouts count as masked only.
"""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from sandmill.errors import count
from sandmill.fingerprint import fingerprint
from sandmill.models.base import Frozen
from sandmill.report.html.figure import Edition, Figure, bars, figure_block, figure_table
from sandmill.report.html.markup import Markup, element, join
from sandmill.report.html.page import Section
from sandmill.report.queries import Queries
from sandmill.rng import Streams

ROLLOUT_VIEW = "rollout_rows"
"""View with a row for each rollout: the columns of the stored Parquet file, label and number of its set, and `credits`,
a JSON list of its credits for stated facts."""
MOST_CHANGED = 20
"""Tasks that the page names as changed most; the figure holds all."""
_BINS = 20
_EARNED = "coalesce(reward, 0)"
_GAP = "greatest(0, least(1, coalesce(gap_closed, 0)))"
MEASURES = {"reward": _EARNED, "share of the gap": _GAP, "solve rate": "CAST(medal IS NOT NULL AS INTEGER)"}
"""What two sets are compared by. The first is used only if both have the same reward preset."""
RESAMPLES = 2_000
LEVEL = 0.95
_EQUAL = 1e-9  # means of a task that differ by less are equal
_DIGITS = 6  # of results, so that versions of numpy do not change them
_BLOCK = 200  # resamples at once, which bounds the memory


class PairedTask(Frozen):
    """One task that both sets have played."""

    task_id: str
    cluster: str
    """Design of the task. Replicates of one design are no independent evidence."""
    before: float
    """Mean over the rollouts of the first set."""
    after: float

    @property
    def difference(self) -> float:
        """How much the second set is above the first."""
        return self.after - self.before


class PairedDifference(Frozen):
    """Mean difference over tasks."""

    tasks: int
    clusters: int
    mean: float | None
    """None without common tasks."""
    low: float | None
    """Lower end of the 95 % interval. None with fewer than two clusters."""
    high: float | None
    better: int
    worse: int
    equal: int


def paired_difference(tasks: Sequence[PairedTask]) -> PairedDifference:
    """Return the mean difference with the percentile interval of a cluster bootstrap.

    Clusters are drawn with replacement, each with all of its tasks. The result depends on the tasks alone, not on their
    order. The percentiles are those of a t distribution, since plain ones are too narrow for few clusters (Hesterberg
    2015, doi 10.1080/00031305.2015.1089789).
    """
    ordered = sorted(tasks, key=lambda task: task.task_id)
    differences = [task.difference for task in ordered]
    better, worse = (sum(sign * difference > _EQUAL for difference in differences) for sign in (1, -1))
    sums: dict[str, list[float]] = {}
    for task in ordered:
        sums.setdefault(task.cluster, []).append(task.difference)
    low, high = _interval(sums, fingerprint([task.model_dump() for task in ordered])) if len(sums) > 1 else (None, None)
    return PairedDifference(
        tasks=len(ordered),
        clusters=len(sums),
        mean=round(float(np.mean(differences)), _DIGITS) if differences else None,
        low=low,
        high=high,
        better=better,
        worse=worse,
        equal=len(ordered) - better - worse,
    )


def _interval(clusters: dict[str, list[float]], identity: str) -> tuple[float, float]:
    from scipy.stats import norm, t

    totals = np.array([sum(values) for values in clusters.values()])
    sizes = np.array([float(len(values)) for values in clusters.values()])
    generator = Streams(b"paired difference", identity).generator("clusters")
    number, means = len(clusters), []
    for start in range(0, RESAMPLES, _BLOCK):
        drawn = generator.integers(0, number, (min(_BLOCK, RESAMPLES - start), number))
        means.append(totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    tail = float(norm.cdf(sqrt(number / (number - 1)) * t.ppf((1 - LEVEL) / 2, number - 1)))
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail], method="inverted_cdf")
    return round(float(low), _DIGITS), round(float(high), _DIGITS)


def overlay_section(
    queries: Queries,
    edition: Edition,
    labels: Sequence[str],
    clusters: Mapping[str, str],
    same_rewards: bool,
    notes: Sequence[str] = (),
) -> Section:
    """Return the section. The public edition names no task and no band.

    `queries` has `ROLLOUT_VIEW` and the views of the release, `labels` the names of the sets by number, `clusters` the
    design of each task by its id. `same_rewards` tells whether all sets have one reward preset, so that rewards
    compare.
    """
    is_private = edition == "private"
    measures = {name: sql for name, sql in MEASURES.items() if same_rewards or name != "reward"}
    sets, rewards, solved = _sets(queries), _rewards(queries), _solved(queries, is_private)
    caught = _caught(queries)
    figures = [sets, rewards, *solved, *([caught] if caught.rows else [])]
    most = max((float(number) for number in rewards.column("rollouts") if isinstance(number, int)), default=1.0)
    drawn = [figure_block(rewards, _by_set(rewards, labels, "reward_from", "rollouts", most))]
    drawn += [figure_block(one, _by_set(one, labels, one.columns[1], "solve_rate", 1.0)) for one in solved]
    parts = [*(element("p", note, class_="faint") for note in notes), figure_block(sets, figure_table(sets))]
    parts.append(element("div", *drawn, class_="grid wider"))
    if caught.rows:
        parts.append(figure_block(caught, figure_table(caught)))
    intervals = {}
    for number, after in enumerate(labels[1:], start=2):
        summary = _summary(queries, labels, number, measures)
        changed = {name: _changed(queries, number, name, sql) for name, sql in measures.items()}
        found = {name: paired_difference(_pairs(one, clusters)) for name, one in changed.items()}
        intervals[f"{labels[0]} to {after}"] = {name: one.model_dump(mode="json") for name, one in found.items()}
        sentences = join(element("p", interval_text(name, one)) for name, one in found.items())
        parts.append(element("h3", f"{after} compared with {labels[0]}"))
        parts.append(figure_block(summary, join([figure_table(summary), sentences])))
        figures.append(summary)
        if is_private:
            first = next(iter(changed.values()))
            shown = first.model_copy(update={"rows": first.rows[:MOST_CHANGED]})
            parts.append(figure_block(first, figure_table(shown, linked="task_id")))
            figures.append(first)
    data = {"labels": list(labels), "intervals": intervals}
    return Section(id="overlay", title="Rollouts", html=join(parts), data=data, figures=tuple(figures))


def _by_set(figure: Figure, labels: Sequence[str], name: str, value: str, most: float) -> Markup:
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


def _solved(queries: Queries, is_private: bool) -> list[Figure]:
    """Return solve rates by what an edition may show."""
    kinds = {"structure": "public_tasks.modality || '/' || public_tasks.target"}
    if is_private:
        kinds = {"band": "private_tasks.band", "structure": "private_tasks.structure"}
    view = "private_tasks" if is_private else "public_tasks"
    orders = {"band": "list_position(['easy', 'medium', 'hard', 'expert'], band)"}
    return [
        queries.figure(
            f"solve-rate-{name}",
            f"Solve rate by {'difficulty band' if name == 'band' else name}",
            f"""SELECT label, {value} AS {name}, count(DISTINCT task_id) AS tasks, count(*) AS rollouts,
       round(avg({MEASURES["solve rate"]}), 6) AS solve_rate
FROM {ROLLOUT_VIEW} JOIN {view} USING (task_id)
WHERE NOT mask GROUP BY number, label, {value} ORDER BY {orders.get(name, value)}, number""",
            "Share of rollouts with bronze or better.",
        )
        for name, value in kinds.items()
    ]


def _caught(queries: Queries) -> Figure:
    return queries.figure(
        "rollout-facts",
        "Stated facts that submissions use",
        f"""WITH credited AS (SELECT number, label, task_id,
  unnest(from_json(credits, '[{{"fact":"VARCHAR","value":"DOUBLE"}}]')) AS one FROM {ROLLOUT_VIEW} WHERE NOT mask)
SELECT label, split_part(one.fact, ':', 1) AS fact, count(DISTINCT task_id) AS tasks, count(*) AS rollouts,
       round(avg(one.value), 6) AS caught
FROM credited WHERE one.value IS NOT NULL GROUP BY number, label, split_part(one.fact, ':', 1) ORDER BY fact, number""",
        "0: the predictions do not use what the texts state. 1: as far as can be expected. A rollout without a valid "
        "submission counts as 0.",
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
