"""Find values in free text: numbers and words that vary at one place of sentences which are otherwise alike."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

LEAST_COVER = 0.7
"""Share of notes in which a value stands, at least, for its place to be taken for a value."""
MOST_LEVELS = 12


def note_values(notes: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Find the values that notes hold: a regular expression for each, and its levels; none for a number."""
    split = [{part for part in re.split(r"(?<=[.!?]) +", note) if part} for note in notes]
    masked = [{re.sub(r"(?<![\w.])-?\d+(?:\.\d+)?", "#", part) for part in parts} for parts in split]
    found = [
        (number_pattern(group), ())
        for group in exclusive({part for parts in masked for part in parts if "#" in part}, masked)
    ]
    plain = [{part.rstrip(".!?") for part in parts if not re.search(r"\d", part)} for parts in split]
    return [*found, *word_values(plain)]


def exclusive(parts: set[str], notes: Sequence[set[str]]) -> list[list[str]]:
    """Gather parts of which a note has one, as in nearly all notes."""
    counts = Counter(part for note in notes for part in note if part in parts)
    groups: list[list[str]] = []
    for part, _ in counts.most_common():
        for group in groups:
            if not any(part in note and other in note for note in notes for other in group):
                group.append(part)
                break
        else:
            groups.append([part])
    return [group for group in groups if sum(counts[part] for part in group) >= LEAST_COVER * len(notes)]


def number_pattern(group: Sequence[str]) -> str:
    """Find the number of every sentence of a group by the words beside it."""
    sides = [part.split("#", 1) for part in group]
    value = r"(-?\d+(?:\.\d+)?)"
    befores = {re.escape(re.findall(r"(?:\S+ ?){0,2}$", before)[0]) for before, _ in sides}
    if "" not in befores:
        return f"(?:{'|'.join(sorted(befores))}){value}"
    afters = {re.escape(re.match(r" ?(?:[^\s.]+ ?){0,2}", after)[0].rstrip()) for _, after in sides}  # type: ignore[index]
    return f"{value}(?:{'|'.join(sorted(afters))})"


def word_values(notes: Sequence[set[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Find words that vary at one place of sentences which are otherwise of a few kinds."""
    frames: dict[tuple[str, str], set[str]] = defaultdict(set)
    for part in {part for note in notes for part in note}:
        words = re.findall(r"[\w'-]+|[^\w\s]", part)
        for first in range(len(words)):
            for last in range(first + 1, min(first + 3, len(words)) + 1):
                if last - first < len(words) and re.match(r"\w", words[first]) and re.match(r"\w", words[last - 1]):
                    frames[" ".join(words[:first]), " ".join(words[last:])].add(" ".join(words[first:last]))
    found = []
    for values in {frozenset(values): None for values in frames.values() if 1 < len(values) <= MOST_LEVELS}:
        alike = [other for other, held in frames.items() if len(held & values) >= 0.6 * len(held | values)]
        befores, afters = ({side.replace(" ", "~") for side in sides} for sides in zip(*alike, strict=True))
        levels = tuple(sorted(set().union(*(frames[other] for other in alike)), key=lambda level: (-len(level), level)))
        parts = ("|".join(sorted(map(re.escape, part), key=len, reverse=True)) for part in (befores, levels, afters))
        pattern = "(?:{})\\s*({})\\s*(?:{})".format(*parts).replace("\\~", "\\s*").replace("~", "\\s*")
        held = sum(any(re.fullmatch(pattern, part) for part in note) for note in notes)
        if held >= LEAST_COVER * len(notes):
            found.append((len(levels), -sum(map(len, befores | afters)), pattern, levels))
    taken: set[str] = set()
    for _, _, pattern, levels in sorted(found):
        if not taken & set(levels):
            taken |= set(levels)
            yield pattern, levels
