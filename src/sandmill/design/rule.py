"""Choose which columns carry which motif, and how much each counts."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from sandmill.design.conditions import Conditions
from sandmill.design.motifs import FINDABLE_KINDS, HIDDEN_KINDS, PLAIN_KINDS, NothingLeft, choose_motif, choose_subgroup
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.mechanism import Drift, LocalRule, Motif, Subgroup, Term, UnitEffect
from sandmill.models.motifs import columns_of
from sandmill.models.structure import PathologyKind

_FEWEST_PLAIN, _MOST_PLAIN = 2, 4
_FEWEST_HIDDEN, HIDDEN_MOTIFS = 2, 3
_LEAST_HIDDEN, _MOST_HIDDEN = 0.08, 0.96
"""Share of the rule's variance in hidden motifs at hardness 0 and 1."""
_BACKGROUND, _MOST_BACKGROUND = 0.12, 0.6
"""Variance of what acts on a period or a unit, in that of the rest of the rule, and its largest standard deviation:
more would make the classes of the test part other than those of the training part."""
_CHANCE_OF_UNIT_EFFECT = 0.8
_HIGH_CARDINALITY_FIRST = 0.7
"""Chance that a category of high cardinality takes part in the rule where the seed has some."""
TRAIN_SHARE = 0.7
"""Share of a date column's span that lies before the cut of a split by time."""
_EASIEST_FOLLOWERS = 0.2
"""At hardness 0 one motif of a kind leads and the others count this much of their share."""


@dataclass(frozen=True)
class Rule:
    """Motifs of a design, still without weights. No column serves two motifs."""

    plain: tuple[Motif, ...]
    """What default models find."""
    hidden: tuple[Motif, ...]
    """What takes a skill to find."""
    subgroup: Subgroup | None = None
    """Who follows the local rule, if there is one."""
    background: tuple[Motif, ...] = ()
    """Periods and units: there at any hardness."""

    def at(self, hardness: float) -> "Rule":
        """Leave hidden motifs out of easier designs, and their columns with them."""
        hidden = self.hidden[: _FEWEST_HIDDEN + round(hardness * (HIDDEN_MOTIFS - _FEWEST_HIDDEN))]
        has_local = any(isinstance(motif, LocalRule) for motif in hidden)
        return Rule(self.plain, hidden, self.subgroup if has_local else None, self.background)

    @property
    def columns(self) -> frozenset[str]:
        """Names of all columns that the rule reads."""
        read = {name for motif in (*self.plain, *self.hidden, *self.background) for name in columns_of(motif)}
        return frozenset(read | ({self.subgroup.by} if self.subgroup else set()))


def choose_rule(words: Vocabulary, conditions: Conditions, rng: np.random.Generator) -> Rule:
    """Draw hidden motifs from the domain's plausible pairs, then plain ones from the columns that are left."""
    taken: set[str] = set()
    hidden = _choose(_order_hidden(conditions, rng), HIDDEN_MOTIFS, words, taken, rng)
    subgroup = None
    if any(isinstance(motif, LocalRule) for motif in hidden):
        try:
            subgroup = choose_subgroup(words, taken, rng)
            taken.add(subgroup.by)
        except NothingLeft:
            hidden = [motif for motif in hidden if not isinstance(motif, LocalRule)]
    plain = _choose(_order_plain(rng), int(rng.integers(_FEWEST_PLAIN, _MOST_PLAIN + 1)), words, taken, rng)
    return Rule(tuple(plain), tuple(hidden), subgroup, choose_background(words, conditions, rng))


def weigh(rule: Rule, hardness: float, outputs: int, signal: float, rng: np.random.Generator) -> tuple[Term, ...]:
    """Split the rule's variance between plain and hidden motifs by hardness.

    Args:
        rule: motifs.
        hardness: 0 to 1.
        outputs: 1, or one for each class.
        signal: standard deviation of the whole rule.
        rng: draws the split among motifs of a kind, and signs.
    """
    share_hidden = _LEAST_HIDDEN + (_MOST_HIDDEN - _LEAST_HIDDEN) * hardness
    followers = _EASIEST_FOLLOWERS + (1 - _EASIEST_FOLLOWERS) * hardness
    parts = [
        *((motif, min(_BACKGROUND, (_MOST_BACKGROUND / signal) ** 2)) for motif in rule.background),
        *_split(rule.plain, 1 - share_hidden, followers, rng),
        *_split(rule.hidden, share_hidden, followers, rng),
    ]
    terms = []
    for motif, variance in parts:
        if outputs == 1:
            direction = np.asarray(rng.choice([-1.0, 1.0], size=1), dtype=np.float64)
        else:
            direction = rng.normal(size=outputs)
            direction /= np.sqrt(np.mean(direction**2))
        weights = signal * np.sqrt(variance) * direction
        terms.append(Term(motif=motif, weights=tuple(round(float(weight), 5) for weight in weights)))
    return tuple(terms)


def variance_shares(terms: Sequence[Term]) -> dict[str, float]:
    """Share of the rule's variance that each column has a part in: what a fault there would spoil."""
    parts = [float(np.mean(np.square(term.weights))) for term in terms]
    shares: dict[str, float] = {}
    for term, part in zip(terms, parts, strict=True):
        for name in columns_of(term.motif):
            shares[name] = shares.get(name, 0.0) + part / sum(parts)
    return shares


def _order_plain(rng: np.random.Generator) -> list[str]:
    """Kinds in the order in which they are tried; a kind may come twice, so that no count is certain."""
    return [str(kind) for kind in rng.choice(PLAIN_KINDS, size=4 * _MOST_PLAIN)]


def _order_hidden(conditions: Conditions, rng: np.random.Generator) -> list[str]:
    """Kinds in the order in which they are tried: one that a skill pays for, then a crowd where the seed has some.

    The first leads where hardness is low. Were it one that every model finds, or none, nothing would part the best.
    """
    order = [str(kind) for kind in rng.permutation(HIDDEN_KINDS)]
    lead = [kind for kind in order if kind in FINDABLE_KINDS][:1]
    if PathologyKind.HIGH_CARDINALITY in conditions.faults and rng.random() < _HIGH_CARDINALITY_FIRST:
        lead.append("high_cardinality_lookup")
    return [*lead, *(kind for kind in order if kind not in lead)]


def choose_background(words: Vocabulary, conditions: Conditions, rng: np.random.Generator) -> tuple[Motif, ...]:
    """What acts on all rows of a period or of a unit, whatever else is in the rule. A date may carry a wave as well."""
    motifs: list[Motif] = []
    starts, levels, acts = rng.uniform([0.25, 0.6], [0.5, 0.85]), rng.normal(size=3), rng.random()
    if words.date is not None and conditions.drifts:
        span = round(words.date.days * TRAIN_SHARE)
        edges = tuple(float(np.floor(start * span)) + 0.5 for start in starts)
        motifs.append(
            Drift(column=words.date.name, starts=edges, levels=tuple(round(float(level), 4) for level in levels))
        )
    if words.unit is not None and acts < _CHANCE_OF_UNIT_EFFECT:
        motifs.append(UnitEffect(column=words.unit.name))
    return tuple(motifs)


def _choose(
    kinds: Sequence[str], count: int, words: Vocabulary, taken: set[str], rng: np.random.Generator
) -> list[Motif]:
    """Draw motifs over columns that are still free, and take those columns."""
    chosen: list[Motif] = []
    for kind in kinds:
        if len(chosen) < count:
            with suppress(NothingLeft):
                chosen.append(choose_motif(kind, words, taken, rng))
                taken.update(columns_of(chosen[-1]))
    return chosen


def _split(
    motifs: tuple[Motif, ...], total: float, followers: float, rng: np.random.Generator
) -> list[tuple[Motif, float]]:
    """Divide variance unevenly; `followers` scales all motifs but the first, so that one can lead."""
    shares = rng.dirichlet(np.full(len(motifs), 5.0))
    shares[1:] *= followers
    return [(motif, total * float(share)) for motif, share in zip(motifs, shares / shares.sum(), strict=True)]
