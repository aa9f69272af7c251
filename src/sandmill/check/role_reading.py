"""Readers that guess which motif a column serves in: from what its cells show, and from names, words and order.

All of them know the facts that the texts of a task state about its columns, since those are there to be used: where a
text defines a distance, its four columns serve in a distance or in nothing, and those of no other text do.

They are what an agent could learn by heart over a release; `meta_leak` says how much that would gain it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import gammaln, log_softmax, softmax

from sandmill.models.columns import Categorical, Column, Uniform
from sandmill.models.hints import Form, SameUnits
from sandmill.models.motifs import columns_of
from sandmill.models.spec import TaskSpec

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

NO_ROLE, SUBGROUP = "none", "subgroup"
TABLE_GROUPS = ("title", "target", "domain")
"""Groups of words that all columns of a task share."""
PAIR_GROUPS = ("with", "next")
"""Groups of words that are made of two names."""

_FOLDS = 4
_LEAST_USES = 3
_MOST_WORDS = 20_000
_SIGHT_PENALTY, _WORD_PENALTY = 20.0, 20.0
_TRUSTS = (1.0, 4.0, 16.0, 64.0, 256.0, 1e6)
"""How many tasks it takes before a name's own shares outweigh the expected ones; the last means never."""
_FEW_LEVELS, _SOME_LEVELS = 5, 12
_FULL_CIRCLE = 360.0


@dataclass(frozen=True)
class Examples:
    """Columns of all tasks as arrays, one row a column of a task."""

    family: Indices
    """Designs of one family are trained on or tested on together."""
    role: Indices
    kind: Indices
    kind_and_facts: Indices
    """Columns of one kind share a number if the texts of their tasks state the same kinds of facts about them."""
    name: Indices
    sight: csr_array
    """What anybody sees without reading, for each kind apart."""
    words: csr_array
    roles: tuple[str, ...]
    vocabulary: tuple[str, ...]


@dataclass(frozen=True)
class Guesses:
    """Log-probabilities of the roles of every column, learnt from other families."""

    shares: Floats
    """From the kind of a column and the facts that texts state about it; learnt from all families, so that no role is
    unheard of."""
    seen: Floats
    """Without a word but these facts."""
    words: Floats
    """With all there is to read, by multinomial logistic regression."""
    names: Floats
    """With names alone, by a table of what each was before."""


def lay_out_columns(specs: Sequence[TaskSpec], families: Indices) -> Examples:
    """Make an example of every column of every task. `families` numbers the family of each design, from 0 up."""
    columns = [column for spec in specs for column in spec.mechanism.columns]
    kinds = [_kind(column) for column in columns]
    role, roles = _number(_roles(spec)[column.name] for spec in specs for column in spec.mechanism.columns)
    kind, _ = _number(kinds)
    facts = [found for spec in specs for found in _stated_facts(spec)]
    kind_and_facts, _ = _number(f"{what} {'+'.join(sorted(found))}" for what, found in zip(kinds, facts, strict=True))
    name, _ = _number(f"{what} {column.name}" for what, column in zip(kinds, columns, strict=True))
    sight, _ = _matrix([sight for spec in specs for sight in _sights(spec)], 1)
    words, vocabulary = _matrix([found for spec in specs for found in _words(spec)], _LEAST_USES)
    family = np.repeat(families, [len(spec.mechanism.columns) for spec in specs])
    return Examples(family, role, kind, kind_and_facts, name, _for_each_kind(sight, kind), words, roles, vocabulary)


def guess_held_out(examples: Examples) -> Guesses:
    """Let every reader guess the roles of columns whose families it was not trained on."""
    shape = (len(examples.role), len(examples.roles))
    seen, words, names = (np.zeros(shape) for _ in range(3))
    for fold in range(_FOLDS):
        test = examples.family % _FOLDS == fold
        train = ~test
        shares = _shares_of_kinds(examples, train)
        sight = _tilt(shares, examples.sight, examples.role, train, _SIGHT_PENALTY)
        read = _tilt(sight, examples.words, examples.role, train, _WORD_PENALTY)
        seen[test], words[test] = sight[test], read[test]
        names[test] = _read_names(examples, sight, train)[test]
    everywhere = np.ones(len(examples.role), dtype=np.bool_)
    return Guesses(_shares_of_kinds(examples, everywhere), seen, words, names)


def _roles(spec: TaskSpec) -> dict[str, str]:
    """The motif of each column; of a column in several, the one that weighs most."""
    roles = {column.name: NO_ROLE for column in spec.mechanism.columns}
    if spec.mechanism.subgroup:
        roles[spec.mechanism.subgroup.by] = SUBGROUP
    for term in sorted(spec.mechanism.terms, key=lambda term: float(np.square(term.weights).sum())):
        roles.update(dict.fromkeys(columns_of(term.motif), term.motif.motif))
    return roles


def _kind(column: Column) -> str:
    match column.distribution:
        case Categorical(levels=levels):
            few, some = len(levels) <= _FEW_LEVELS, len(levels) <= _SOME_LEVELS
            return "few levels" if few else "some levels" if some else "many levels"
        case Uniform(low=low, high=high) if high - low == _FULL_CIRCLE:
            return "angle"
        case distribution:
            return str(distribution.kind)


def _sights(spec: TaskSpec) -> list[dict[str, float]]:
    """For each column, what else of the table is seen without reading: sizes, kinds of columns, gaps, decimals."""
    columns = spec.mechanism.columns
    kinds = Counter(f"kind {_kind(column)}" for column in columns)
    gaps = {gap.column for gap in spec.mechanism.missing()}
    table = {"columns": len(columns) / 4, "rows": spec.sizes.train / 50, **kinds}
    table |= {f"target {spec.target}": 1.0, f"metric {spec.metric}": 1.0}
    return [{**table, "whole": column.decimals == 0, "gaps": column.name in gaps} for column in columns]


def _stated_facts(spec: TaskSpec) -> list[set[str]]:
    """For each column, the kinds of facts that the texts of its task state about it. The rule need not use them."""
    found: dict[str, set[str]] = {}
    for fact in (hint.fact for hint in spec.hints):
        match fact:
            case Form(motif=motif):
                kind, names = str(motif.motif), columns_of(motif)
            case SameUnits(columns=names):
                kind = fact.fact
            case _:
                continue
        for name in names:
            found.setdefault(name, set()).add(kind)
    return [found.get(column.name, set()) for column in spec.mechanism.columns]


def _words(spec: TaskSpec) -> list[dict[str, float]]:
    """For each column, what there is to read. The words of a group share a weight of 1, so that none outshouts."""
    story, names = spec.story, [column.name for column in spec.mechanism.columns]
    about = {
        "title": _split(story.title),
        "target": [story.target, *_split(story.target_meaning)],
        "domain": [spec.domain],
    }
    after = dict(pairwise(names))
    before = {second: first for first, second in after.items()}
    found = []
    for place, name in enumerate(names):
        groups = {
            "name": [name],
            "part": name.split("_"),
            "meaning": _split(story.column_meanings.get(name, "")),
            "with": [f"{name}&{other}" for other in names if other != name],
            "next": [f"{name}>{after.get(name, '')}", f"{before.get(name, '')}<{name}"],
            "place": [f"{place}", f"last-{len(names) - 1 - place}"],
            **about,
        }
        found.append({f"{group}={word}": len(words) ** -0.5 for group, words in groups.items() for word in words})
    return found


def _split(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _number(texts: Iterable[str]) -> tuple[Indices, tuple[str, ...]]:
    known, numbers = np.unique(list(texts), return_inverse=True)
    return numbers.astype(np.intp), tuple(map(str, known))


def _matrix(rows: Sequence[dict[str, float]], least: int) -> tuple[csr_array, tuple[str, ...]]:
    """Lay words out as columns of a sparse matrix, leaving out those that are too rare to be learnt from."""
    counts = Counter(chain.from_iterable(rows))
    common = sorted((word for word in counts if counts[word] >= least), key=lambda word: (-counts[word], word))
    place = {word: number for number, word in enumerate(common[:_MOST_WORDS])}
    kept = [[word for word in row if word in place] for row in rows]
    which = np.fromiter((place[word] for words in kept for word in words), dtype=np.int32)
    weights = np.fromiter((row[word] for row, words in zip(rows, kept, strict=True) for word in words), dtype=float)
    starts = np.cumsum([0, *map(len, kept)], dtype=np.int32)
    return csr_array((weights, which, starts), shape=(len(rows), len(place))), tuple(place)


def _for_each_kind(sight: csr_array, kind: Indices) -> csr_array:
    """Give each kind features of its own, centred, so that penalties pull towards the shares of the kind."""
    dense = sight.toarray()
    apart = np.zeros((len(kind), kind.max() + 1, dense.shape[1]))
    for number in range(kind.max() + 1):
        rows = kind == number
        apart[rows, number] = dense[rows] - dense[rows].mean(axis=0)
    return csr_array(apart.reshape(len(kind), -1))


def _shares_of_kinds(examples: Examples, train: Mask) -> Floats:
    """Logarithm of each role's share among columns of a kind of which texts state as much.

    A little of the overall shares is mixed in.
    """
    counts = np.full((examples.kind_and_facts.max() + 1, len(examples.roles)), 1e-3)
    np.add.at(counts, (examples.kind_and_facts[train], examples.role[train]), 1.0)
    counts += 0.5 * counts.sum(axis=0) / counts.sum()
    return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True))[examples.kind_and_facts])


def _tilt(start: Floats, cells: csr_array, role: Indices, train: Mask, penalty: float) -> Floats:
    """Learn how features tilt given log-probabilities: multinomial logistic regression that starts from them.

    Features that say nothing leave the start as it is, so that a reader never lacks what the start knows.
    """
    offset, known, flipped = start[train], cells[train], cells[train].T.tocsr()
    truth = np.eye(offset.shape[1])[role[train]]
    shape = (cells.shape[1], offset.shape[1])

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(shape)
        guess = log_softmax(offset + known @ weights, axis=1)
        slope = flipped @ (np.exp(guess) - truth) + penalty * weights
        return float(penalty / 2 * np.square(weights).sum() - (guess * truth).sum()), np.asarray(slope.ravel())

    found = minimize(
        loss,
        np.zeros(shape[0] * shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 40, "maxcor": 5, "ftol": 1e-5},
    )
    return np.asarray(log_softmax(start + cells @ np.asarray(found.x).reshape(shape), axis=1))


def _read_names(examples: Examples, seen: Floats, train: Mask) -> Floats:
    """Guess from what each name was before, trusted as far as its own counts justify.

    Counts of a name are Dirichlet-multinomial about what is expected without words. Which of the trusts holds for a
    name follows by Bayes' rule, with shares of the trusts that fit all names.
    """
    size, named = (examples.name.max() + 1, len(examples.roles)), examples.name
    counts, expected = np.zeros(size), np.full(size, 1e-9)
    np.add.at(counts, (named[train], examples.role[train]), 1.0)
    np.add.at(expected, named[train], np.exp(seen[train]))
    expected /= expected.sum(axis=1, keepdims=True)
    belief = _weigh_trusts(counts, expected)
    total = counts.sum(axis=1)
    guess = np.zeros_like(seen)
    for number, trust in enumerate(_TRUSTS):
        shares = (counts[named] + trust * np.exp(seen)) / (total[named] + trust)[:, None]
        guess += belief[named, number, None] * shares
    return np.asarray(np.log(guess))


def _weigh_trusts(counts: Floats, expected: Floats) -> Floats:
    evidence = np.zeros((len(counts), len(_TRUSTS)))
    for number, trust in enumerate(_TRUSTS):
        # Log-likelihood under a Dirichlet-multinomial, but for what does not depend on the trust.
        each = gammaln(trust * expected + counts) - gammaln(trust * expected)
        evidence[:, number] = each.sum(axis=1) + gammaln(trust) - gammaln(trust + counts.sum(axis=1))
    belief = np.full_like(evidence, 1 / len(_TRUSTS))
    for _ in range(20):
        prior = np.maximum(belief.mean(axis=0), 1e-4)
        belief = softmax(evidence + np.log(prior), axis=1)
    return np.asarray(belief)
