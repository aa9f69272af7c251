"""Summaries of a child table as lines of pandas."""

from collections.abc import Sequence

from sandmill.kinds.script_text import listed, quoted
from sandmill.models.columns import ChildTable
from sandmill.models.motifs import Aggregate


def events_lines(child: ChildTable) -> list[str]:
    """Write how the child table is read, which has the name `events` then."""
    return [f'events = pd.read_csv(f"{{public}}/{child.path}", dtype={{ID: str}}, keep_default_na=False)']


def aggregate_lines(name: str, motif: Aggregate, child: ChildTable) -> list[str]:
    """Write a summary of the events of each row as a column of a data frame `df`."""
    amount, age = quoted(child.amount), quoted(child.age)
    kind = f"events[{quoted(child.kind)}].isin({listed(child.kinds[code] for code in motif.kinds)})"
    recent = f"events[{age}] <= {motif.days}"
    chosen = [kind] if motif.kinds else []

    def total(*conditions: str) -> str:
        return f"df[ID].map({_events(conditions)}.groupby(ID)[{amount}].sum()).fillna(0)"

    window = [*chosen, *([recent] if motif.days else [])]
    match motif.how:
        case "sum":
            made = f"np.log1p({total(*window)})"
        case "count":
            made = f"df[ID].map({_events(window)}.groupby(ID).size()).fillna(0)"
        case "mean":
            made = f"np.log1p(df[ID].map({_events(window)}.groupby(ID)[{amount}].mean()).fillna(0))"
        case "share":
            days = [recent] if motif.days else []
            made = f"({total(*window)} / {total(*days)}).fillna(0)"
        case "trend":
            made = f"np.log1p({total(*window)}) - np.log1p({total(*chosen, f'events[{age}] > {motif.days}')})"
        case "recency":
            made = f"df[ID].map({_events(window)}.groupby(ID)[{age}].min()).fillna({child.horizon})"
    return [f"df[{quoted(name)}] = {made}"]


def _events(conditions: Sequence[str]) -> str:
    """Name the events that meet all conditions."""
    if not conditions:
        return "events"
    return f"events[{conditions[0] if len(conditions) == 1 else ' & '.join(f'({part})' for part in conditions)}]"
