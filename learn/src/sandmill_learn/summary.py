"""Tables of arms: one row each, with intervals over families of tasks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sandmill.models.base import Frozen
from sandmill.report.text_tables import TextTable
from sandmill_learn import statistics
from sandmill_learn.results import Scored
from sandmill_learn.statistics import ConfidenceInterval, mean_interval, paired_difference, sign_test

Mode = tuple[str, float]
"""Name of an arm and its temperature."""


_ARMS = (
    *("arm", "scripts", "seeds", "gap [95 %]", "any medal", "gold", "valid", "gap if valid"),
    *("different", "executions"),
)
_DIFFERENCES = (
    *("arm", "against", "gap [95 %]", "any medal [95 %]", "medals, relative"),
    *("won", "lost", "equal", "sign test"),
)


class ArmSummary(Frozen):
    """Figures of one arm at one temperature. All are means over families, unless said otherwise."""

    arm: str
    temperature: float
    seeds: int
    families: int
    gap: ConfidenceInterval | None
    """Share of the gap; None with fewer than two families."""
    mean_gap: float
    any_medal: float
    gold: float
    valid: float
    gap_given_valid: float
    distinct_scripts: float
    """Number of different scripts over all tasks, averaged over seeds. With one script a task, it shows whether the arm
    adapts to tasks."""


def group_arms(rows: Iterable[Scored]) -> dict[Mode, list[Scored]]:
    """Return the rows of each arm and temperature, in order of first appearance."""
    groups: dict[Mode, list[Scored]] = defaultdict(list)
    for row in rows:
        groups[row.arm, row.temperature].append(row)
    return dict(groups)


def summarize(rows: Sequence[Scored]) -> ArmSummary:
    """Return the figures of the rows of one arm at one temperature."""
    scripts: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        scripts[row.seed].add(row.script_digest)
    families = {row.family for row in rows}
    return ArmSummary(
        arm=rows[0].arm,
        temperature=rows[0].temperature,
        seeds=len(scripts),
        families=len(families),
        gap=mean_interval(rows) if len(families) > 1 else None,
        mean_gap=statistics.mean_of(rows),
        any_medal=statistics.mean_of(rows, statistics.any_medal),
        gold=statistics.mean_of(rows, statistics.gold_medal),
        valid=statistics.mean_of(rows, statistics.is_valid),
        gap_given_valid=statistics.gap_given_valid(rows),
        distinct_scripts=sum(map(len, scripts.values())) / len(scripts),
    )


def arms_table(rows: Iterable[Scored], executions: Mapping[str, int] | None = None) -> TextTable:
    """Show all arms, a row each. Sampled arms stand below greedy ones of the same name.

    Args:
        rows: of any number of arms.
        executions: scripts that each arm could run on training tasks, by name of the arm.
    """
    spent = executions or {}
    cells = [_cells(summarize(group), spent) for group in group_arms(rows).values()]
    return TextTable("Arms", _ARMS, tuple(cells), frozenset(range(2, len(_ARMS))))


def contrasts_table(
    rows: Iterable[Scored], arm: str, others: Sequence[str], temperature: float | None = None
) -> TextTable:
    """Show the paired differences of an arm to others: gap, medals, and families won and lost.

    Args:
        rows: of any number of arms.
        arm: the arm that is compared.
        others: names of arms. Names without rows are left out.
        temperature: of the compared rows of all arms; None compares greedy scripts.
    """
    wanted = temperature or 0.0
    groups = {name: group for (name, at), group in group_arms(rows).items() if at == wanted}
    cells = []
    for other in others:
        if arm not in groups or other not in groups or other == arm:
            continue
        first, second = groups[arm], groups[other]
        if len({row.family for row in first} & {row.family for row in second}) < 2:
            continue
        signs = sign_test(first, second)
        medals = paired_difference(first, second, statistics.any_medal)
        base = statistics.mean_of(second, statistics.any_medal)
        relative = f"{medals.estimate / base:+.1%}" if base > 0 else "-"
        counts = (str(signs.wins), str(signs.losses), str(signs.ties), f"{signs.p_value:.3f}")
        cells.append((arm, other, str(paired_difference(first, second)), str(medals), relative, *counts))
    return TextTable("Differences", _DIFFERENCES, tuple(cells), frozenset(range(2, len(_DIFFERENCES))))


def keep_sources(rows: Iterable[Scored], *sources: str) -> list[Scored]:
    """Return the rows of tasks from some sources."""
    return [row for row in rows if row.source in sources]


def _cells(summary: ArmSummary, spent: Mapping[str, int]) -> tuple[str, ...]:
    interval = summary.gap
    shown = f"{summary.mean_gap:.3f}"
    if interval:
        shown = f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
    return (
        summary.arm,
        f"T = {summary.temperature:g}" if summary.temperature else "greedy",
        str(summary.seeds),
        shown,
        f"{summary.any_medal:.2f}",
        f"{summary.gold:.2f}",
        f"{summary.valid:.2f}",
        _number(summary.gap_given_valid),
        f"{summary.distinct_scripts:.0f}",
        str(spent.get(summary.arm, "-")),
    )


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"
