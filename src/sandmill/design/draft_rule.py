"""Make the rule of a design draft: the draft gives motifs and columns, the numbers are drawn as in any design."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from sandmill.design.conditions import Conditions
from sandmill.design.motifs import (
    FINDABLE_KINDS,
    HIDDEN_KINDS,
    PLAIN_KINDS,
    NoFreeColumn,
    choose_motif,
    choose_subgroup,
)
from sandmill.design.rule import HIDDEN_MOTIFS, Rule, choose_background
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.columns import LogNormal
from sandmill.models.design_draft import MotifChoice
from sandmill.models.motifs import Bottleneck, Difference, Interaction, Motif, Ratio, Term, columns_of

FEWEST_PLAIN, MOST_PLAIN = 2, 4
_CARRIERS = {
    "ratio": "two lognormal columns",
    "periodic": "a column of `periods`",
    "lookup": "a categorical column",
    "crossed_lookup": "two categorical columns of at most 5 levels",
    "high_cardinality_lookup": "a column of high cardinality",
    "varying_slope": "a numeric and a categorical column",
    "local_rule": "a numeric and a categorical column",
    **dict.fromkeys(("difference", "interaction", "bottleneck"), "two numeric columns"),
    **dict.fromkeys(("linear", "saturation", "curve", "threshold", "band"), "one numeric column"),
}
"""Columns that each motif takes, in words for the language model."""
_PAIRS = frozenset(
    {"ratio", "difference", "interaction", "bottleneck", "crossed_lookup", "varying_slope", "local_rule"}
)


def rule_problems(choices: Sequence[MotifChoice], vocabulary: Vocabulary) -> list[str]:
    """List the motifs that cannot be made and what the rule lacks, in words for the language model."""
    problems = []
    for choice in choices:
        named = f"motif {choice.kind} on {', '.join(choice.columns)}"
        if len(choice.columns) != (2 if choice.kind in _PAIRS else 1):
            problems.append(f"{named}: it takes {_CARRIERS[choice.kind]}")
            continue
        try:
            motif_of(choice, vocabulary, np.random.default_rng(0))
        except NoFreeColumn:
            problems.append(f"{named}: it takes {_CARRIERS[choice.kind]}, which these are not")
    plain = [choice for choice in choices if choice.kind in PLAIN_KINDS]
    hidden = [choice for choice in choices if choice.kind in HIDDEN_KINDS]
    if not FEWEST_PLAIN <= len(plain) <= MOST_PLAIN:
        problems.append(f"{len(plain)} motifs of {', '.join(PLAIN_KINDS)}; {FEWEST_PLAIN} to {MOST_PLAIN} are wanted")
    if len(hidden) != HIDDEN_MOTIFS:
        problems.append(f"{len(hidden)} motifs of the other kinds; {HIDDEN_MOTIFS} are wanted")
    if not any(choice.kind in FINDABLE_KINDS for choice in hidden):
        problems.append(f"no motif that a search finds; at least one must be of {', '.join(FINDABLE_KINDS)}")
    if sum(choice.kind == "local_rule" for choice in choices) > 1:
        problems.append("two local rules; a design has one hidden subgroup at most")
    return problems


def rule_of(
    choices: Sequence[MotifChoice], vocabulary: Vocabulary, conditions: Conditions, rng: np.random.Generator
) -> Rule:
    """Draw the numbers of a draft's motifs. Motifs in `FINDABLE_KINDS` come first among the hidden ones.

    Raises:
        NoFreeColumn: if a motif does not fit its columns. `rule_problems` finds such motifs beforehand.
    """
    hidden = [choice for choice in choices if choice.kind in HIDDEN_KINDS]
    hidden.sort(key=lambda choice: choice.kind not in FINDABLE_KINDS)
    local = next((choice for choice in hidden if choice.kind == "local_rule"), None)
    return Rule(
        plain=tuple(motif_of(choice, vocabulary, rng) for choice in choices if choice.kind in PLAIN_KINDS),
        hidden=tuple(motif_of(choice, vocabulary, rng) for choice in hidden),
        subgroup=choose_subgroup(_only(vocabulary, local.columns[1:]), set(), rng) if local else None,
        background=choose_background(vocabulary, conditions, rng),
    )


def orient(terms: Sequence[Term], choices: Sequence[MotifChoice]) -> tuple[Term, ...]:
    """Set the sign of each term as the draft says. With several outputs, all signs stay as drawn."""
    wanted = {choice.columns[0]: choice.rises for choice in choices if choice.rises is not None}
    return tuple(_oriented(term, wanted.get(columns_of(term.motif)[0])) for term in terms)


def _oriented(term: Term, rises: bool | None) -> Term:
    if rises is None or len(term.weights) > 1:
        return term
    size = abs(term.weights[0])
    return term.model_copy(update={"weights": (size if rises else -size,)})


def motif_of(choice: MotifChoice, vocabulary: Vocabulary, rng: np.random.Generator) -> Motif:
    """Draw a motif as the grammar does, from a vocabulary that holds only the columns of the draft."""
    first, second = choice.columns[0], choice.columns[-1]
    columns = choice.columns[:1] if choice.kind == "local_rule" else choice.columns
    motif = choose_motif(choice.kind, _only(vocabulary, columns), set(), rng)
    match motif:
        case Ratio():
            return Ratio(numerator=first, denominator=second)
        case Difference() | Interaction() | Bottleneck():
            return motif.model_copy(update={"left": first, "right": second})
        case _:
            return motif


def _only(vocabulary: Vocabulary, columns: Sequence[str]) -> Vocabulary:
    """Reduce a vocabulary to these columns and all pairs of them."""
    kept, domain = set(columns), vocabulary.domain
    numeric = {word.name: word for word in domain.numeric if word.name in kept}
    positive = {name for name, word in numeric.items() if isinstance(word.distribution, LogNormal)}
    pairs = tuple(permutations(dict.fromkeys(columns), 2))
    narrowed = domain.model_copy(
        update={
            "numeric": tuple(numeric.values()),
            "categorical": tuple(word for word in domain.categorical if word.name in kept),
            "ratios": tuple(pair for pair in pairs if positive.issuperset(pair)),
            "products": pairs if kept == numeric.keys() else (),
            "periods": tuple(cycle for cycle in domain.periods if cycle[0] in kept),
        }
    )
    high_cardinality = tuple(word for word in vocabulary.high_cardinality if word.name in kept)
    return replace(vocabulary, domain=narrowed, high_cardinality=high_cardinality, date=None)
