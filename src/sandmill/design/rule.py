"""Choose which columns carry which motif, and how much each counts."""

from dataclasses import dataclass

import numpy as np

from sandmill.design.lexicon import Domain
from sandmill.models.mechanism import (
    Interaction,
    Linear,
    LogNormal,
    Lookup,
    Motif,
    Normal,
    Periodic,
    Ratio,
    Term,
    Threshold,
    Uniform,
)

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

    def at(self, hardness: float) -> "Rule":
        """Leave hidden motifs out of easier designs, and their columns with them."""
        return Rule(self.plain, self.hidden[: 1 + round(hardness * (HIDDEN_MOTIFS - 1))])

    @property
    def columns(self) -> frozenset[str]:
        """Names of all columns that the rule reads."""
        dumped = [motif.model_dump() for motif in (*self.plain, *self.hidden)]
        fields = ("column", "numerator", "denominator", "left", "right")
        return frozenset(data[field] for data in dumped for field in fields if field in data)

    @property
    def lookups(self) -> frozenset[str]:
        """Names of the categorical columns that the rule reads."""
        return frozenset(motif.column for motif in (*self.plain, *self.hidden) if isinstance(motif, Lookup))


def choose_rule(domain: Domain, rng: np.random.Generator) -> Rule:
    """Draw hidden motifs from the domain's plausible pairs, then plain ones from the columns that are left."""
    taken: set[str] = set()
    hidden: list[Motif] = []
    kinds = rng.permutation(["ratio", "interaction", "periodic", "threshold"])
    for kind in kinds:
        motif = _hidden_motif(str(kind), domain, taken, rng)
        if motif is not None and len(hidden) < HIDDEN_MOTIFS:
            hidden.append(motif)
            taken |= Rule((), (motif,)).columns
    free = [word.name for word in domain.numeric if word.name not in taken and not _is_cycle(domain, word.name)]
    linear = [Linear(column=free[i]) for i in rng.permutation(len(free))[: PLAIN_MOTIFS - 1]]
    word = domain.categorical[rng.integers(len(domain.categorical))]
    effects = rng.normal(size=len(word.levels))
    lookup = Lookup(column=word.name, effects=tuple(round(float(effect), 4) for effect in effects))
    return Rule((*linear, lookup), tuple(hidden))


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


def _split(
    motifs: tuple[Motif, ...], total: float, followers: float, rng: np.random.Generator
) -> list[tuple[Motif, float]]:
    """Divide variance unevenly; `followers` scales all motifs but the first, so that one can lead."""
    shares = rng.dirichlet(np.full(len(motifs), 5.0))
    shares[1:] *= followers
    return [(motif, total * float(share)) for motif, share in zip(motifs, shares / shares.sum(), strict=True)]


def _hidden_motif(kind: str, domain: Domain, taken: set[str], rng: np.random.Generator) -> Motif | None:
    """A motif over columns that are still free, or None if the domain has none left."""
    match kind:
        case "ratio" | "interaction":
            pairs = domain.ratios if kind == "ratio" else domain.products
            free = [pair for pair in pairs if not taken & set(pair)]
            if not free:
                return None
            first, second = free[rng.integers(len(free))]
            if kind == "ratio":
                return Ratio(numerator=first, denominator=second)
            return Interaction(left=first, right=second)
        case "periodic":
            cycles = [(name, period) for name, period in domain.periods if name not in taken]
            if not cycles:
                return None
            name, period = cycles[rng.integers(len(cycles))]
            return Periodic(column=name, period=period, phase=round(float(rng.uniform(0, 2 * np.pi)), 4))
        case _:
            words = [w for w in domain.numeric if w.name not in taken and not _is_cycle(domain, w.name)]
            if not words:
                return None
            word = words[rng.integers(len(words))]
            return Threshold(column=word.name, cut=_cut(word.distribution, word.decimals, rng))


def _cut(distribution: Normal | LogNormal | Uniform | object, decimals: int, rng: np.random.Generator) -> float:
    """A cut between two writable values, so that rounding never decides the side, in the middle half of the column."""
    z = float(rng.uniform(-0.6, 0.6))
    match distribution:
        case Normal(mean=mean, sd=sd):
            value = mean + sd * z
        case LogNormal(median=median, sigma=sigma):
            value = median * float(np.exp(sigma * z))
        case Uniform(low=low, high=high):
            value = (low + high) / 2 + (high - low) * z / 3
        case _:
            raise TypeError("thresholds act on continuous columns")
    step = 10.0**-decimals
    return round(float(np.floor(value / step)) * step + step / 2, decimals + 1)


def _is_cycle(domain: Domain, name: str) -> bool:
    return name in {cycle for cycle, _ in domain.periods}
