"""The panel of token tasks: rules, tables of training tokens, and models that read the words around a token."""

from sandmill.kinds.panel import Entry
from sandmill.kinds.token.data import read
from sandmill.kinds.token.house import reader_bayes, reader_linear, reader_vote, reading, vote_and_guess
from sandmill.kinds.token.ladder import ladder
from sandmill.kinds.token.learned import (
    back_most,
    back_to_left,
    bayes_left,
    bayes_most,
    bayes_right,
    bayes_tuned,
    class_vote,
    form_vote,
    linear_left,
    linear_most,
    linear_wide,
    neighbours,
    tree,
    vote_of_five,
    vote_of_three,
)
from sandmill.kinds.token.simple import (
    dates_too,
    figures,
    first_that_fits,
    forms_in_few,
    forms_in_some,
    last_that_fits,
    letters_too,
    nearest_spelling,
    numbers_alone,
    prior,
    seen_in_few,
    seen_in_some,
    seen_pairs,
    seen_tokens,
    shortest_that_fits,
    sums_too,
    units_too,
    whole_numbers,
    years_alone,
)
from sandmill.models.calibration import Tier

_TIERS = {
    Tier.TRIVIAL: (prior,),
    Tier.NAIVE: (
        *(seen_tokens, seen_in_few, seen_in_some, seen_pairs, figures, whole_numbers, numbers_alone, years_alone),
        *(letters_too, dates_too, units_too, sums_too, first_that_fits, last_that_fits, shortest_that_fits),
        *(forms_in_few, forms_in_some, nearest_spelling),
    ),
    Tier.COMPETENT: (form_vote, class_vote, bayes_left, bayes_right, linear_left, tree, neighbours, back_to_left),
    Tier.STRONG: (bayes_most, linear_most, back_most),
    Tier.SEARCH: (bayes_tuned, linear_wide),
    Tier.ENSEMBLE: (vote_of_three, vote_of_five),
}

ENTRIES = tuple(Entry(solver.__name__, tier) for tier, solvers in _TIERS.items() for solver in solvers)
"""The ladder, weakest tier first."""
READERS = tuple(Entry(solver.__name__, Tier.READER) for solver in (reader_bayes, reader_linear, reader_vote))
"""Solvers that apply the rules which the description states."""
TWINS = {
    reader_bayes.__name__: bayes_tuned.__name__,
    reader_linear.__name__: linear_wide.__name__,
    reader_vote.__name__: vote_of_three.__name__,
}
"""Reader to the entry that does the same without the rules."""
ADVERSARIES = (Entry(vote_and_guess.__name__, Tier.SEARCH),)
"""Blind solvers that are not on the leaderboard."""

__all__ = [
    "ADVERSARIES",
    "ENTRIES",
    "READERS",
    "TWINS",
    "ladder",
    "read",
    "reading",
    *(entry.name for entry in (*ENTRIES, *READERS, *ADVERSARIES)),
]
