"""Sentences of tokens, how they are read aloud, and the most probable reading given the sentence.

A phrase is a clause: a token of a group with words around it. The words depend on how the token is read, and no words
stand both in phrases and between them. After words that may introduce any token, one is read in the first way of its
group. No two phrases of a sentence begin with the same two words, and those for which there is no place are left out.
The phrases are independent in all else, so the probability of a reading follows from the words around its token alone.

Tokens come from patterns, text with fields in braces: `{3-40}` is a whole number, `{,1000-90000}` one with commas,
`{th 1-31}` one with an English ending, `{roman 2-12}` a Roman numeral, `{a|b|c}` one of several texts. All values of a
field are equally likely.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple, TypeVar

import numpy as np

from sandmill.kinds.targets import RenderedTargets
from sandmill.kinds.token.channel import Reading, TokenChannel, TokenGroup
from sandmill.kinds.token.speech import readers_of, say_by_custom
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

_FIELD = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(,|th |roman )?(\d+)-(\d+)")
_ROMAN = ((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def fill(pattern: str, draws: Iterator[float]) -> str:
    """Fill in the fields of a pattern, each with one number in 0..1."""
    return _FIELD.sub(lambda found: _value(found[1], next(draws)), pattern)


def _value(field: str, draw: float) -> str:
    found = _RANGE.fullmatch(field)
    if found is None:
        options = field.split("|")
        return options[int(draw * len(options))]
    low, high = int(found[2]), int(found[3])
    number = low + int(draw * (high - low + 1))
    match found[1]:
        case ",":
            return f"{number:,}"
        case "th ":
            ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
            return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"
        case "roman ":
            written = ""
            for value, letters in _ROMAN:
                written += letters * (number // value)
                number %= value
            return written
        case _:
            return str(number)


PHRASES = "phrases"
"""Latent column: phrases of a sentence."""
DAY = "day"
"""Latent column: day on which a sentence was written."""
DRAWS = 100
"""Random numbers of a sentence, more than any sentence needs."""
MOST_PHRASES = 6
FIELD, LINE = "\t", "\n"
"""What separates the class of a token from the token, and a token from the next, in an item."""
PLAIN, PUNCTUATION = "PLAIN", "PUNCT"
_OPEN = frozenset({"DATE", "FRACTION", "LETTERS", "MEASURE", "MONEY", "TIME"})
"""Classes of tokens that need no word after them: a sentence may end there."""
Option = TypeVar("Option")
_NUMBER = re.compile(r"\d+")


class Token(NamedTuple):
    """One token of a sentence."""

    label: str
    before: str
    after: str
    likeliest: str
    """The most probable reading given the sentence."""


def render_sentences(channel: TokenChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Return a line for each token: its class and the token as written."""
    sentences = _sentences(channel, latents, row_numbers)
    return [LINE.join(f"{token.label}{FIELD}{token.before}" for token in tokens) for tokens in sentences]


def render_readings(channel: TokenChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> RenderedTargets:
    """Return the words of each token, and the oracle's."""
    sentences = _sentences(channel, latents, row_numbers)
    truth, oracle = (np.full((len(sentences), channel.places), None, dtype=object) for _ in range(2))
    for row, tokens in enumerate(sentences):
        for place, token in enumerate(tokens):
            truth[row, place], oracle[row, place] = token.after, token.likeliest
    return RenderedTargets(truth, oracle)


def _sentences(channel: TokenChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[list[Token]]:
    draws = np.column_stack([row_numbers.uniforms(f"token {place}") for place in range(DRAWS)])
    counts = np.clip(np.round(latents[PHRASES]), 1, MOST_PHRASES).astype(int)
    by_rules = (latents.get(DAY, np.zeros(len(counts))) >= channel.house_from) & bool(channel.house)
    groups = [_Phrase(group, channel) for group in channel.groups]
    weights = list(accumulate(group.weight for group in channel.groups))
    sentences = []
    for count, row, has_rules in zip(counts.tolist(), draws.tolist(), by_rules.tolist(), strict=True):
        numbers, used = iter(row), list[list[str]]()
        tokens = _plain(_one_of(channel.openings, numbers))
        end = [*_plain(_one_of(channel.closings, numbers)), Token(PUNCTUATION, ".", ".", ".")]
        for _ in range(count):
            link = _plain(_one_of(channel.links, numbers)) if used else []
            by_rule, group = next(numbers) < channel.house_share * has_rules, groups[_weighted(weights, next(numbers))]
            phrase = _by_rule(channel, used, numbers) if by_rule else group.tokens(used, numbers)
            if phrase and len(tokens + link + phrase + end) <= channel.places:
                tokens += link + phrase
        sentences.append(tokens + end)
    return sentences


def _begin(options: Sequence[str], used: list[list[str]], draws: Iterator[float]) -> str:
    """Choose words that begin in another way than the used ones, and note how. Return none if all begin like these."""
    words = _one_of([words for words in options if words.split()[:2] not in used] or [""], draws)
    used.append(words.split()[:2])
    return words


class _Phrase:
    """Writes the phrases of one group."""

    def __init__(self, group: TokenGroup, channel: TokenChannel) -> None:
        self._group, self._channel = group, channel
        self._readers = readers_of(channel.language)
        self._shares = list(accumulate(reading.share for reading in group.readings))
        ranks = range(1, len(group.patterns) + 1)
        self._patterns = list(accumulate(1 / rank if group.is_ranked else 1.0 for rank in ranks))
        self._neutral = channel.groups[-1].readings[0].left

    def tokens(self, used: list[list[str]], draws: Iterator[float]) -> list[Token]:
        """Draw a token and its reading, then the words around it; nothing if the sentence has used all that fit."""
        readings, channel = self._group.readings, self._channel
        reading = readings[_weighted(self._shares, next(draws))]
        place = _weighted(self._patterns, next(draws))
        bare, slip, blur, after = (next(draws) for _ in range(4))
        token = fill(self._group.patterns[place], draws)
        is_bare = bare < channel.bare and not self._group.is_bound
        reading = readings[0] if is_bare else reading
        if not (left := _begin(self._neutral if is_bare else reading.left, used, draws)):
            return []
        is_open = not reading.right or (blur < self._open_share(reading) and not is_bare)
        right = "" if is_open else agreeing(reading.right[int(after * len(reading.right))], token)
        read = [one.says[place] if one.reader is None else self._readers[one.reader](token) for one in readings]
        words = [token if said is None else said for said in read]
        said = token if slip < channel.slips else words[readings.index(reading)]
        best = self._likeliest(words, left, right, token)
        return [*_plain(left), Token(reading.label, token, said, best), *_plain(right)]

    def _open_share(self, reading: Reading) -> float:
        """Return the chance that nothing stands after a token: only some make sense without a noun."""
        return self._channel.blur if reading.label in _OPEN else 0.0

    def _likeliest(self, words: Sequence[str], left: str, right: str, token: str) -> str:
        """Return the most probable words for a token, given those around it."""
        chances: dict[str, float] = {}
        for reading, said in zip(self._group.readings, words, strict=True):
            if left in self._neutral:
                chance = float(said == words[0])
            else:
                chance = reading.share * _chance(reading.left, left, token)
                blur = self._open_share(reading)
                if reading.right:
                    chance *= (1 - blur) * _chance(reading.right, right, token) if right else blur
            chances[said] = chances.get(said, 0.0) + chance
        slips = self._channel.slips
        chances[token] = chances.get(token, 0.0) + sum(chances.values()) * slips / (1 - slips)
        return max(chances, key=lambda said: (chances[said], said))


def _chance(own: Sequence[str], seen: str, token: str) -> float:
    """Return how probable the words of one side are under a reading."""
    return sum(agreeing(words, token) == seen for words in own) / len(own) if own else 0.0


@lru_cache(maxsize=4096)
def agreeing(words: str, token: str) -> str:
    """Choose among the forms one/few/many of the words after a number."""
    if "/" not in words:
        return words
    forms, number = words.split("/"), int(_NUMBER.findall(token)[-1])
    if number % 100 in range(11, 15):
        return forms[2]
    return forms[0] if number % 10 == 1 else forms[1] if number % 10 in (2, 3, 4) else forms[2]


def _by_rule(channel: TokenChannel, used: list[list[str]], draws: Iterator[float]) -> list[Token]:
    """Draw a rule of the house, a token of it, and words around this; nothing if the sentence has used all that fit."""
    rule = _one_of(channel.house, draws)
    token = fill(_one_of(rule.patterns, draws), draws)
    left, right = _begin(rule.left, used, draws), _one_of(rule.right, draws)
    said = say_by_custom(channel.language, rule.match, rule.says, token)
    assert said is not None, f"the rule for {rule.match} does not cover its own token {token}"
    return [*_plain(left), Token(rule.label, token, said, said), *_plain(right)] if left else []


def _plain(words: str) -> list[Token]:
    return [Token(PUNCTUATION if word == "," else PLAIN, word, word, word) for word in words.split()]


def _one_of(options: Sequence[Option], draws: Iterator[float]) -> Option:
    return options[int(next(draws) * len(options))]


def _weighted(cumulative: Sequence[float], draw: float) -> int:
    return next(place for place, end in enumerate(cumulative) if draw * cumulative[-1] < end)
