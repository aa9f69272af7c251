"""Write the parts of a task's texts that state its hints: paragraphs of the description, and the data dictionary."""

from collections.abc import Sequence

import numpy as np

from sandmill.draw.wording import phrases
from sandmill.fingerprint import fingerprint
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.spec import TaskSpec
from sandmill.models.texts import DESCRIPTION
from sandmill.rng import Streams

_MOST_IN_PARAGRAPH = 3
_TWO_SECTIONS = 8
"""Statements from which they are spread over two sections."""


def house_sections(spec: TaskSpec) -> list[str]:
    """Return headings and paragraphs with the facts of the description among sentences of no use, in a drawn order."""
    rng = _generator(spec, "house")
    stated = _passages(spec, DESCRIPTION)
    stated += [cue.text for cue in (spec.channel.cues if spec.channel else ()) if cue.place == "house"]
    items = [*stated, *spec.story.asides]
    if not items:
        return []
    items = [items[place] for place in rng.permutation(len(items))]
    known = phrases()["headings_house"]
    headings = [known[place] for place in rng.permutation(len(known))]
    middle = len(items) // 2 if len(items) >= _TWO_SECTIONS else 0
    sections = []
    for heading, part in zip(headings, filter(None, (items[:middle], items[middle:])), strict=False):
        paragraphs, start = [], 0
        while start < len(part):
            size = int(rng.integers(1, _MOST_IN_PARAGRAPH + 1))
            paragraphs += _paragraphs(part[start : start + size])
            start += size
        sections += [f"## {heading}", "\n\n".join(paragraphs)]
    return sections


def _paragraphs(items: Sequence[str]) -> list[str]:
    """Join sentences to paragraphs. A table stands alone."""
    found: list[list[str]] = [[]]
    for item in items:
        found += [[item], []] if "\n" in item else []
        if "\n" not in item:
            found[-1].append(item)
    return [" ".join(sentences) for sentences in found if sentences]


def _passages(spec: TaskSpec, file: str) -> list[str]:
    """Return what a file states of hints, in the order of the design."""
    return [passage.text for hint in spec.hints for passage in hint.passages if passage.file == file]


def dictionary_file(spec: TaskSpec) -> dict[str, bytes]:
    """Return data_dictionary.md by its path; nothing if no hint stands in it."""
    entries = _passages(spec, DATA_DICTIONARY)
    if not entries:
        return {}
    rng, known = _generator(spec, "dictionary"), phrases()["headings_dictionary"]
    order = [entries[place] for place in rng.permutation(len(entries))]
    text = "\n\n".join([f"# {known[int(rng.integers(len(known)))]}", *order]) + "\n"
    return {DATA_DICTIONARY: text.encode()}


def _generator(spec: TaskSpec, name: str) -> np.random.Generator:
    """Return a generator keyed by what the texts say alone, so that their arrangement reveals nothing of the rule."""
    hints = [[passage.file, passage.text] for hint in spec.hints for passage in hint.passages]
    hints += [[DESCRIPTION, cue.text] for cue in (spec.channel.cues if spec.channel else ()) if cue.place == "house"]
    public = {"story": spec.story.model_dump(mode="json"), "hints": hints}
    return Streams(b"tell", fingerprint(public)).generator(name)
