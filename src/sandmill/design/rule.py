"""Choose which columns carry which motif, and how much each counts."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from sandmill.design.lexicon import Domain
from sandmill.design.motifs import HIDDEN_KINDS, PLAIN_KINDS, NothingLeft, choose_motif, choose_subgroup
from sandmill.models.mechanism import LocalRule, Motif, Subgroup, Term
from sandmill.models.motifs import columns_of

PLAIN_MOTIFS = 3
HIDDEN_MOTIFS = 3
_LEAST_HIDDEN, _MOST_HIDDEN = 0.02, 0.96
"""Share of the rule's variance in hidden motifs at hardness 0 and 1."""
_EASIEST_FOLLOWERS = 0.2
"""At hardness 0 one plain motif leads and the others count this much of their share."""


@dataclass(frozen=True)
class Rule:
    """Motifs of a design, still without weights. No column serves two motifs."""

    plain: tuple[Motif, ...]
    """What default models find."""
    hidden: tuple[Motif, ...]
    """What takes a skill to find."""
    subgroup: Subgroup | None = None
    """Who follows the local rule, if there is one."""

    def at(self, hardness: float) -> "Rule":
        """Leave hidden motifs out of easier designs, and their columns with them."""
        hidden = self.hidden[: 1 + round(hardness * (HIDDEN_MOTIFS - 1))]
        has_local = any(isinstance(motif, LocalRule) for motif in hidden)
        return Rule(self.plain, hidden, self.subgroup if has_local else None)

    @property
    def columns(self) -> frozenset[str]:
        """Names of all columns that the rule reads."""
        read = {name for motif in (*self.plain, *self.hidden) for name in columns_of(motif)}
        return frozenset(read | ({self.subgroup.by} if self.subgroup else set()))


def choose_rule(domain: Domain, rng: np.random.Generator) -> Rule:
    """Draw hidden motifs from the domain's plausible pairs, then plain ones from the columns that are left."""
    taken: set[str] = set()
    hidden = _choose(HIDDEN_KINDS, HIDDEN_MOTIFS, domain, taken, rng)
    subgroup = None
    if any(isinstance(motif, LocalRule) for motif in hidden):
        try:
            subgroup = choose_subgroup(domain, taken, rng)
            taken.add(subgroup.by)
        except NothingLeft:
            hidden = [motif for motif in hidden if not isinstance(motif, LocalRule)]
    plain = _choose(PLAIN_KINDS, PLAIN_MOTIFS, domain, taken, rng)
    return Rule(tuple(plain), tuple(hidden), subgroup)


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
    parts = [
        *_split(rule.plain, 1 - share_hidden, _EASIEST_FOLLOWERS + (1 - _EASIEST_FOLLOWERS) * hardness, rng),
        *_split(rule.hidden, share_hidden, 1.0, rng),
    ]
    terms = []
    for motif, variance in parts:
        if outputs == 1:
            direction = rng.choice([-1.0, 1.0], size=1)
        else:
            direction = rng.normal(size=outputs)
            direction /= np.sqrt(np.mean(direction**2))
        weights = signal * np.sqrt(variance) * direction
        terms.append(Term(motif=motif, weights=tuple(round(float(weight), 5) for weight in weights)))
    return tuple(terms)


def _choose(
    kinds: tuple[str, ...], count: int, domain: Domain, taken: set[str], rng: np.random.Generator
) -> list[Motif]:
    """Draw motifs of different kinds over columns that are still free, and take those columns."""
    chosen: list[Motif] = []
    for kind in rng.permutation(kinds):
        if len(chosen) < count:
            with suppress(NothingLeft):
                chosen.append(choose_motif(str(kind), domain, taken, rng))
                taken.update(columns_of(chosen[-1]))
    return chosen


def _split(
    motifs: tuple[Motif, ...], total: float, followers: float, rng: np.random.Generator
) -> list[tuple[Motif, float]]:
    """Divide variance unevenly; `followers` scales all motifs but the first, so that one can lead."""
    shares = rng.dirichlet(np.full(len(motifs), 5.0))
    shares[1:] *= followers
    return [(motif, total * float(share)) for motif, share in zip(motifs, shares / shares.sum(), strict=True)]
