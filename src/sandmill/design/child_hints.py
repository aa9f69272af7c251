"""Choose the child table of a design, and the summaries of it that the texts state."""

from collections.abc import Sequence

import numpy as np

from sandmill.design.columns import exact_shares
from sandmill.models.columns import ChildTable
from sandmill.models.domain import Domain
from sandmill.models.hints import Form, Hint
from sandmill.models.knowledge import ChildWord
from sandmill.models.motifs import Aggregate
from sandmill.models.spec import Sizes
from sandmill.rng import Streams

MOST_FEEDBACK, MOST_FINAL = 2000, 6000
"""Largest feedback and final parts of a task with a child table, so that its file stays below about 5 MB."""
_FEWEST_EVENTS, _MOST_EVENTS = 6.0, 12.0
"""Bounds of the average number of events. With fewer, windows are mostly empty; with more, the file is large."""
_EVENNESS = 8.0
"""Dirichlet concentration of the shares of kinds."""
_SPREADS = (0.3, 0.5)
"""Range of the spread between items. With more, totals over all events tell most of what windows tell: for the sum of
two kinds in a quarter of the horizon, extra trees on all totals have an R squared of 0.4 to 0.5 at 0.3 and of 0.7 at
0.9, with 150 training rows."""
_IN_WINDOW = (1.2, 4.5)
"""Range of the average number of events that count for a summary, so that it differs between items."""
_ROUND = (5, 7, 10, 14, 15, 20, 21, 28, 30, 40, 45, 50, 60, 75, 90, 100, 120, 150, 180, 200, 240, 270, 300, 360)
"""Lengths of windows that a host would name."""
_WINDOWS = (0.15, 0.55)
"""Range of a window as a share of the horizon."""
_CHANCES = {"sum": 0.5, "share": 0.2, "trend": 0.3}
"""Chances of the first summary that matters."""
_CHANCE_OF_SECOND = 0.5
_CHANCE_OF_USEFUL_HEAD = 0.8
"""Chance that the domain's own sentence, which experts seem to trust, states a summary that matters."""
_TRIES = 60

_SUMMARIES: dict[str, tuple[str, ...]] = {
    "sum": (
        "the sum of `{amount}` over the rows of `{path}` {which}",
        "everything under `{amount}` in the rows of `{path}` {which}, added up",
        "the total of `{amount}`, taken from the rows of `{path}` {which}",
    ),
    "count": (
        "the number of rows of `{path}` {which}",
        "the count of rows in `{path}` {which}",
    ),
    "mean": (
        "the mean of `{amount}` over the rows of `{path}` {which}",
        "the average `{amount}` of the rows of `{path}` {which}",
    ),
    "share": (
        "the share of {kinds} in the sum of `{amount}` over the rows of `{path}` {window}",
        "the part of the total of `{amount}` in `{path}` {window} that belongs to rows with {kinds} as `{kind}`",
    ),
    "trend": (
        "the sum of `{amount}` over the rows of `{path}` {which}, relative to the sum over the same kinds before that",
        "the ratio between the total of `{amount}` in the rows of `{path}` {which} and the total of the same kinds "
        "where `{age}` is larger",
    ),
    "recency": (
        "the least `{age}` among the rows of `{path}` {which}",
        "the smallest `{age}` that `{path}` has in the rows {which}",
    ),
}
"""Words for each summary. `which` names kinds and window, `window` the window alone."""
_FURTHER = (
    "Also written down is {summary}.",
    "Some people ask for {summary} too.",
    "Another number to be had is {summary}.",
    "Others look at {summary}.",
    "Now and then somebody works out {summary}.",
    "One more figure that people know is {summary}.",
)
"""Sentences for every summary after the first."""


def draw_child(domain: Domain, streams: Streams) -> tuple[ChildTable, tuple[Hint, ...]] | None:
    """Draw the child table of a design, one or two summaries that matter, and one that does not.

    Returns:
        None if the domain has no child table.
    """
    word = domain.knows.child
    if word is None:
        return None
    rng = streams.generator("child")
    child = _table(word, rng)
    first = str(rng.choice(list(_CHANCES), p=list(_CHANCES.values())))
    others = [str(how) for how in rng.permutation(["sum", "share", "trend", "count"]) if how != first]
    hows = [first, *others[: int(rng.random() < _CHANCE_OF_SECOND)]]
    useless = str(rng.choice(["recency", "mean"]))
    head = hows[0] if rng.random() < _CHANCE_OF_USEFUL_HEAD else useless
    order = [head, *(str(how) for how in rng.permutation([*hows, useless]) if how != head)]
    texts = [str(rng.choice(word.texts)), *map(str, rng.permutation(_FURTHER))]
    hints = []
    for how, text in zip(order, texts, strict=False):
        motif = _aggregate(how, child, rng)
        text = text.replace("{summary}", summary_words(motif, child, rng))
        hints.append(Hint(fact=Form(name=f"{child.name}_{how}", motif=motif), text=text, matters=how != useless))
    return child, tuple(hints)


def fewer_rows(sizes: Sizes, child: ChildTable | None) -> Sizes:
    """Return the sizes of a design, with smaller test parts if it has a child table."""
    if child is None:
        return sizes
    capped = {"feedback": min(sizes.feedback, MOST_FEEDBACK), "final": min(sizes.final, MOST_FINAL)}
    return sizes.model_copy(update=capped)


def summary_words(motif: Aggregate, child: ChildTable, rng: np.random.Generator) -> str:
    """Put a summary into words, as a noun phrase that names columns, kinds and window."""
    phrase = str(rng.choice(_SUMMARIES[motif.how]))
    kinds = " or ".join(f"`{child.kinds[code]}`" for code in motif.kinds)
    of_kinds = [f"`{child.kind}` is {kinds}"] if kinds else []
    window = [f"`{child.age}` is at most {motif.days}"] if motif.days else []
    return phrase.format(
        amount=child.amount,
        age=child.age,
        path=child.path,
        kind=child.kind,
        kinds=kinds.replace(" or ", " and ") or "all kinds",
        which=_where([*of_kinds, *window]),
        window=_where(window),
    )


def _where(conditions: Sequence[str]) -> str:
    return f"where {' and '.join(conditions)}" if conditions else "of the item"


def _table(word: ChildWord, rng: np.random.Generator) -> ChildTable:
    """Take over the domain's child table with other numbers."""
    shares = exact_shares(rng.dirichlet(np.full(len(word.kinds), _EVENNESS)), 0.08)
    factors = np.exp(rng.normal(scale=(0.12, 0.08, 0.1), size=3))
    return ChildTable(
        name=word.name,
        row=word.row,
        kind=word.kind,
        kind_meaning=word.kind_meaning,
        kinds=word.kinds,
        shares=shares,
        amount=word.amount,
        amount_meaning=word.amount_meaning,
        amount_median=float(f"{word.amount_median * factors[0]:.3g}"),
        amount_sigma=round(word.amount_sigma * float(factors[1]), 3),
        decimals=word.decimals,
        age=word.age,
        age_meaning=word.age_meaning,
        horizon=word.horizon,
        events=round(min(max(word.events * float(factors[2]), _FEWEST_EVENTS), _MOST_EVENTS), 2),
        spread=round(float(rng.uniform(*_SPREADS)), 3),
    )


def _aggregate(how: str, child: ChildTable, rng: np.random.Generator) -> Aggregate:
    """Draw kinds and window of a summary, so that the usual item has some events that count and some that do not."""
    low, high = (share * child.horizon for share in _WINDOWS)
    windows = [days for days in _ROUND if low <= days <= high] or [round((low + high) / 2)]
    most = min(2, len(child.kinds) - 1)
    drawn: list[tuple[float, Aggregate]] = []
    for _ in range(_TRIES):
        days = int(rng.choice(windows))
        kinds = sorted(int(code) for code in rng.permutation(len(child.kinds))[: int(rng.integers(1, most + 1))])
        counted = child.events * sum(child.shares[code] for code in kinds)
        counted *= 1.0 if how in ("recency", "mean") else days / child.horizon
        window = None if how in ("recency", "mean") else days
        motif = Aggregate.model_validate({"how": how, "kinds": tuple(kinds), "days": window})
        drawn.append((max(_IN_WINDOW[0] - counted, counted - _IN_WINDOW[1], 0.0), motif))
        if drawn[-1][0] == 0:
            break
    return min(drawn, key=lambda item: item[0])[1]
