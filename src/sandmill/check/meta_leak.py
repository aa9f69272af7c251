"""Gate on a whole release: names, words and column order must not reveal which column carries which motif.

Every column of every task is an example; its label is the motif that it serves in. Readers of the words are trained on
other tasks and compared with what anybody sees in the files who reads nothing but the facts that the task itself
states: where a text defines a distance, its four columns serve in a distance or in nothing, and those of no other text
do. Where a reader gains, an agent that trains on the release could learn roles by heart instead of finding them in the
data.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import log_softmax, xlogy
from scipy.stats import t as student

from sandmill.models.base import Frozen
from sandmill.models.columns import Categorical, Column, Uniform
from sandmill.models.hints import Form, SameUnits
from sandmill.models.motifs import columns_of
from sandmill.models.spec import TaskSpec

READER_MARGIN = 0.02
"""Share of the baseline's log-loss that reading may take away: 0.03 nats a column, a factor of 1.4 on the odds of a
whole task's roles. Sound designs of the grammar stay about half of it or less: 922 tables took .4 %."""
WORD_MARGIN = 0.01
"""Share of it that one word alone may take away; in sound designs no word that is no accident takes 0.002."""
CERTAINTY_MARGIN = 0.5
"""Share of the log-loss of the columns that have a word which that word alone may take away: beyond one half, it all
but says the role. Vocabularies that offer some columns for few motifs reach 0.4."""
ALPHA = 0.001
"""Chance of finding a leak in a release whose words say nothing: of readers, and of single words."""
MOST_TASKS = 2000
LEAST_FAMILIES = 10
"""Designs that do not stem from each other; with fewer there is nothing to compare."""
_WORDS_TRIED, _WORDS_SHOWN = 100, 10

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


class Telltale(Frozen):
    """A word whose columns carry a motif more or less often than files and stated facts would have it."""

    word: str
    """Where it stands and what it is, such as `name=mileage_km` or `place=last-0`."""
    motif: str
    found: int
    """Columns with the word that carry the motif."""
    expected: float
    columns: int
    """Columns with the word."""
    of_all: float
    """Share of the whole log-loss that knowing this takes away."""
    of_its_own: float
    """Share of the log-loss of the columns with the word."""
    p: float
    """Bound on the chance of as much where the word says nothing, for all words and motifs together."""

    @property
    def leaks(self) -> bool:
        """Whether it is no accident, and counts in the release or nearly settles the role of its columns."""
        return self.p < ALPHA and (self.of_all > WORD_MARGIN or self.of_its_own > CERTAINTY_MARGIN)


class MetaLeak(Frozen):
    """What can be learnt about roles from the words of a release."""

    tasks: int
    columns: int
    log_loss: float | None = None
    """Nats a column of who knows how often motifs occur and reads stated facts alone; None: too few tasks."""
    lift: float = 0.0
    """Share of this log-loss that reading all words takes away; negative where they only mislead."""
    p: float = 1.0
    """Of no such gain, from paired differences over families of designs."""
    words: tuple[Telltale, ...] = ()
    """Those that leak, then those that say most."""
    verdict: Literal["clean", "leaks", "too_small"] = "too_small"

    @property
    def detail(self) -> str:
        """The outcome in a sentence, fit for an error message or a card."""
        if self.log_loss is None:
            return f"{self.tasks} tasks are too few to tell whether words give roles away"
        shown = [
            f"{word.word} -> {word.motif} ({word.found} of {word.columns} columns, {word.expected:.1f} expected)"
            for word in self.words[:3]
        ]
        return (
            f"over {self.tasks} tasks, reading words takes {self.lift:.1%} off the log-loss of guessing which "
            f"column serves in what (p = {self.p:.1e}; at most {READER_MARGIN:.0%} may go); "
            f"what says most: {', '.join(shown) or 'nothing'}"
        )


def check_meta_leak(specs: Iterable[TaskSpec]) -> MetaLeak:
    """Say whether the roles of columns can be learnt from the words of other tasks.

    The order of the designs does not matter. Of more than `MOST_TASKS`, a fixed sample is used.
    """
    unique: dict[str, TaskSpec] = {}
    for spec in specs:
        if spec.channel is None:
            unique[spec.fingerprint] = spec
        if len(unique) > 2 * MOST_TASKS:
            unique = {key: unique[key] for key in sorted(unique)[:MOST_TASKS]}
    sample = [unique[key] for key in sorted(unique)[:MOST_TASKS]]
    families = _families(sample)
    tasks, columns = len(sample), sum(len(spec.mechanism.columns) for spec in sample)
    if len(np.unique(families)) < LEAST_FAMILIES:
        return MetaLeak(tasks=tasks, columns=columns)
    examples = lay_out_columns(sample, families)
    guesses = guess_held_out(examples)
    lost, loss = _losses(examples, guesses.seen), _losses(examples, guesses.words)
    gain = np.bincount(examples.family, lost - loss) / np.bincount(examples.family)
    error = max(float(gain.std(ddof=1)), 1e-12) / np.sqrt(len(gain))
    p, lift = float(student.sf(gain.mean() / error, len(gain) - 1)), round(1 - float(loss.mean() / lost.mean()), 5)
    words = _telltales(examples, guesses)
    leaks = (lift > READER_MARGIN and p < ALPHA) or any(word.leaks for word in words)
    return MetaLeak(
        tasks=tasks,
        columns=columns,
        log_loss=round(float(lost.mean()), 5),
        lift=lift,
        p=p,
        words=words,
        verdict="leaks" if leaks else "clean",
    )


def _families(specs: Sequence[TaskSpec]) -> Indices:
    """Number the designs so that those which share an ancestor share a number."""
    keys = [spec.fingerprint for spec in specs]
    parents = [spec.parent or key for spec, key in zip(specs, keys, strict=True)]
    place = {key: number for number, key in enumerate(dict.fromkeys([*keys, *parents]))}
    links = ([place[key] for key in keys], [place[parent] for parent in parents])
    _, families = connected_components(csr_array((np.ones(len(keys)), links), shape=(len(place),) * 2), directed=False)
    return np.asarray(families[: len(keys)], dtype=np.intp)


def _losses(examples: Examples, guess: Floats) -> Floats:
    return np.asarray(-guess[np.arange(len(guess)), examples.role])


def _telltales(examples: Examples, guesses: Guesses) -> tuple[Telltale, ...]:
    """Return the words, but for pairs of names, that say most about a motif, each by itself: those that leak first."""
    seen, chance = guesses.seen, (np.exp(guesses.seen) + np.exp(guesses.shares)) / 2
    groups = [word.partition("=")[0] for word in examples.vocabulary]
    single = [number for number, group in enumerate(groups) if group not in PAIR_GROUPS]
    has = examples.words[:, single].T.tocsr()
    has.data[:] = 1.0
    names = [examples.vocabulary[number] for number in single]
    is_shared = np.array([groups[number] in TABLE_GROUPS for number in single], dtype=bool)
    truth, lost = np.eye(seen.shape[1])[examples.role], _losses(examples, seen)
    columns, found, expected = has @ np.ones(len(lost)), has @ truth, has @ chance
    nats = _nats(found, expected, columns)
    # In how many tasks each word stands, and what it says of whether a motif occurs there at all
    of_task = csr_array((np.ones(len(truth)), (np.arange(len(truth)), examples.family)))
    stands = np.minimum((has @ of_task).toarray(), 1.0)
    occurs = np.minimum(np.asarray(of_task.T @ truth), 1.0)
    tasks = stands.sum(axis=1)
    nats_of_tasks = _nats(stands @ occurs, np.outer(tasks, occurs.mean(axis=0)), tasks)
    strength = np.where(is_shared[:, None], nats_of_tasks, nats * (tasks / columns)[:, None])
    p = np.minimum(1.0, 2 * nats.size * np.exp(-strength))
    of_all, of_its_own = nats / lost.sum(), nats / (has @ lost)[:, None]
    order = np.argsort(-nats, axis=None, kind="stable")
    worth_a_look = [int(place) for rank, place in enumerate(order) if rank < _WORDS_TRIED or p.flat[place] < ALPHA]
    told: dict[tuple[int, float, float], Telltale] = {}
    for place in worth_a_look:
        at = word, role = divmod(place, seen.shape[1])
        told.setdefault(
            (role, found[at], round(expected[at], 6)),
            Telltale(
                word=names[word],
                motif=examples.roles[role],
                found=int(found[at]),
                expected=round(float(expected[at]), 2),
                columns=int(columns[word]),
                of_all=round(float(of_all[at]), 5),
                of_its_own=round(float(of_its_own[at]), 5),
                p=float(p[at]),
            ),
        )
    return tuple(sorted(told.values(), key=lambda telltale: not telltale.leaks)[:_WORDS_SHOWN])


def _nats(found: Floats, expected: Floats, cases: Floats) -> Floats:
    """What is gained over all cases by knowing how many were found instead of how many were expected.

    It bounds the chance of so many, by Chernoff: exp(-nats) for independent cases. Columns of one task are not
    independent, so `_telltales` counts nats once a task, and words that all columns of a task share by tasks.
    """
    total = cases[:, None]
    expected = np.clip(expected, 1e-9, total - 1e-9)
    left, missed = total - found, total - expected
    return np.asarray(xlogy(found, found / expected) + xlogy(left, left / missed))


def lay_out_columns(specs: Sequence[TaskSpec], families: Indices) -> Examples:
    """Make an example of every column of every task. `families` numbers the family of each design, from 0 up."""
    columns = [column for spec in specs for column in spec.mechanism.columns]
    kinds = list(map(_kind, columns))
    role, roles = _number(_roles(spec)[column.name] for spec in specs for column in spec.mechanism.columns)
    kind, _ = _number(kinds)
    facts = [found for spec in specs for found in _stated_facts(spec)]
    kind_and_facts, _ = _number(f"{what} {'+'.join(sorted(found))}" for what, found in zip(kinds, facts, strict=True))
    words, vocabulary = _matrix([found for spec in specs for found in _words(spec)], _LEAST_USES)
    family = np.repeat(families, [len(spec.mechanism.columns) for spec in specs])
    sight = _matrix([sight for spec in specs for sight in _sights(spec)], 1)[0].toarray()
    # Each kind has features of its own, centred, so that penalties pull towards the shares of the kind.
    apart = np.zeros((len(kind), kind.max() + 1, sight.shape[1]))
    for number in range(kind.max() + 1):
        rows = kind == number
        apart[rows, number] = sight[rows] - sight[rows].mean(axis=0)
    of_kinds = csr_array(apart.reshape(len(kind), -1))
    return Examples(family, role, kind, kind_and_facts, of_kinds, words, roles, vocabulary)


def guess_held_out(examples: Examples) -> Guesses:
    """Let every reader guess the roles of columns whose families it was not trained on."""
    shape = (len(examples.role), len(examples.roles))
    seen, words = np.zeros(shape), np.zeros(shape)
    for fold in range(_FOLDS):
        test = examples.family % _FOLDS == fold
        train = ~test
        shares = _shares_of_kinds(examples, train)
        sight = _tilt(shares, examples.sight, examples.role, train, _SIGHT_PENALTY)
        read = _tilt(sight, examples.words, examples.role, train, _WORD_PENALTY)
        seen[test], words[test] = sight[test], read[test]
    everywhere = np.ones(len(examples.role), dtype=np.bool_)
    return Guesses(_shares_of_kinds(examples, everywhere), seen, words)


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
            few = "few" if len(levels) <= _FEW_LEVELS else "some" if len(levels) <= _SOME_LEVELS else "many"
            return f"{few} levels"
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
    target = [story.target, *_split(story.target_meaning)]
    about = {"title": _split(story.title), "target": target, "domain": [spec.domain]}
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
