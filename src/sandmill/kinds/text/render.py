"""Write texts from latent columns: what each row says, and how, follows from its own values."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from sandmill.kinds.text.channel import Slot, TextChannel
from sandmill.kinds.traits import generators
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

_MARKS = frozenset(".!?…。！？")
_USUAL_PRESENCE = 0.1
"""Share of places with a sentence that follows no latent column."""
_PART = re.compile(r"\{([\w.]+)\}|<(\d+)-(\d+)>")


def render_texts(channel: TextChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write one text for each row. Row i depends on its own numbers and latent values alone."""
    joined = [_text(channel, pen) for pen in _pens(channel, latents, row_numbers)]
    # Swapped characters would be other words in Chinese.
    slips = 0.0 if channel.language == "chinese" else channel.nuisance.typos
    spelled = swap_letters(joined, slips, row_numbers)
    return [f'"{text}"' for text in spelled] if channel.is_quoted else spelled


def render_titled(channel: TextChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[str]:
    """Write one JSON object with `title` and `body` for each row."""
    pens = _pens(channel, latents, row_numbers)
    titles, bodies = zip(*((_capitalized(pen.write("title")), _text(channel, pen)) for pen in pens), strict=True)
    pairs = zip(titles, swap_letters(bodies, channel.nuisance.typos, row_numbers), strict=True)
    return [json.dumps({"title": title, "body": body}, ensure_ascii=False) for title, body in pairs]


def _text(channel: TextChannel, pen: "_Pen") -> str:
    return ("" if channel.language == "chinese" else " ").join(_sentences(channel, pen))


class _Pen:
    """Writes the templates of one text, none of them twice before all of its list were used.

    Args:
        channel: that says how.
        values: latent values of the row.
        rng: generator of the row.
    """

    def __init__(self, channel: TextChannel, values: dict[str, float], rng: np.random.Generator) -> None:
        self._slots, self._loose, self._rng = channel.slots, channel.nuisance.loose, rng
        self.values = values
        self._anew, self._said = channel.anew, dict.fromkeys(channel.once, "")
        self._draws: list[float] = []
        self._left: dict[tuple[str, int], list[str]] = {}
        self._sums: dict[str, float] = {}
        self._levels: dict[str, int] = {}

    def chance(self) -> float:
        """Return a number from 0 to 1."""
        if not self._draws:
            self._draws = self._rng.random(128).tolist()
        return self._draws.pop()

    def write(self, name: str) -> str:
        """Write a slot; an empty text if it says nothing here."""
        name, _, form = name.partition(".")
        if not (template := self._said.get(name) or self._template(name)):
            return ""
        if name in self._said:
            self._said[name] = template = _PART.sub(lambda found: self._part(found.groups()), template)
        return "".join(map(self._part, _parts(template)[int(form or 0)]))

    def _template(self, name: str) -> str:
        """Choose a template of a slot; an empty text if it says nothing here."""
        slot = self._slots[name]
        if (place := self._list_of(name, slot)) is None:
            return ""
        left = self._left.get((name, place))
        if not left:
            if left is not None and (slot.by == "presence" or name == "aside"):
                return ""
            self._left[name, place] = left = list(slot.lists[place])
        return left.pop(int(self.chance() * len(left)))

    def begin(self) -> None:
        """Begin a pass through the plan, with its own persons and places."""
        self._said |= dict.fromkeys(self._anew, "")

    def _part(self, part: str | tuple[str, ...]) -> str:
        if isinstance(part, str):
            return part
        name, low, high = part
        return self.write(name) if name else str(int(low) + int(self.chance() * (int(high) - int(low) + 1)))

    def _list_of(self, name: str, slot: Slot) -> int | None:
        """Choose the list of a slot; None if it says nothing here."""
        column = slot.column or name
        value = None if self.chance() < self._loose else self.values.get(column)
        if slot.by == "presence":
            return None if self._step(name, _USUAL_PRESENCE if value is None else min(value, 1.0)) == 0 else 0
        if slot.by == "level":
            if value is None or self.chance() > slot.follows:
                value = self.chance() * len(slot.lists)
            return self._levels.setdefault(column, int(value))
        return (
            int(self.chance() * len(slot.lists)) if value is None else self._step(name, value * (len(slot.lists) - 1))
        )

    def _step(self, name: str, value: float) -> int:
        """Return one of the whole numbers around a value, so that those of a text have the value as their mean."""
        before = self._sums.setdefault(name, self.chance())
        self._sums[name] = before + value
        return int(before + value) - int(before)


@cache
def _parts(template: str) -> list[list[str | tuple[str, ...]]]:
    """Split each form of a template into words and slots or numbers."""
    forms = []
    for form in re.sub(r"[\[\]]", "", template).split(" / "):
        pieces = _PART.split(form)
        found: list[str | tuple[str, ...]] = [pieces[0]]
        for name, low, high, words in zip(pieces[1::4], pieces[2::4], pieces[3::4], pieces[4::4], strict=True):
            found += [(name, low, high), words]
        forms.append(found)
    return forms


def _pens(channel: TextChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> Iterator[_Pen]:
    told = {slot.column for slot in channel.slots.values() if slot.column and slot.meaning}
    columns = {name: latents[name].tolist() for name in sorted(told)}
    for row, rng in enumerate(generators("text", row_numbers)):
        yield _Pen(channel, {column: cells[row] for column, cells in columns.items()}, rng)


def _sentences(channel: TextChannel, pen: _Pen) -> Iterator[str]:
    """Yield the sentences of a text."""
    nuisance = channel.nuisance
    if pen.chance() < nuisance.quotes and "quotation" in channel.slots:
        own, pen.values = pen.values, {}
        yield _capitalized(pen.write("quotation"))
        pen.values = own
    for number in range(channel.repeats):
        pen.begin()
        yield from channel.headings[number : number + 1]
        plan = channel.plans[int(pen.chance() * len(channel.plans))]
        for act in plan:
            names = [act, *(channel.extras if act != plan[-1] else ())]
            if pen.chance() < nuisance.asides and "aside" in channel.slots:
                names.insert(-1, "aside")
            for sentence in filter(None, map(pen.write, names)):
                yield _capitalized(sentence if sentence[-1] in _MARKS else sentence + pen.write("ending"))


def _capitalized(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


_WORD = re.compile(r"[^\W\d_]{4,}")
"""Words that are long enough to be recognized with two letters swapped."""


def swap_letters(texts: Sequence[str], chance: float, row_numbers: RowNumbers) -> list[str]:
    """Swap two letters in some words of four or more. The slips of a text depend on its own row alone."""
    if not chance:
        return list(texts)
    swapped = []
    for text, rng in zip(texts, generators("typos", row_numbers), strict=True):
        spans = [match.span() for match in _WORD.finditer(text)]
        letters = list(text)
        for (start, end), (slips, where) in zip(spans, rng.random((len(spans), 2)).tolist(), strict=True):
            if slips < chance:
                place = start + 1 + int(where * (end - start - 2))
                letters[place], letters[place + 1] = letters[place + 1], letters[place]
        swapped.append("".join(letters))
    return swapped
