"""Write the parts of a task's texts that state its hints: paragraphs of the description, and the data dictionary."""

import numpy as np

from sandmill.draw.wording import Wording
from sandmill.fingerprint import fingerprint
from sandmill.kinds.files.base import DESCRIPTION
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams

_HOUSE = (
    "How the house works",
    "House rules",
    "From daily practice",
    "What the staff know",
    "Notes on the work",
    "Customs and terms",
    "Answers to earlier questions",
    "About the people and the place",
    "Remarks of the host",
)
"""Headings of the paragraphs that state hints among other things."""
_DICTIONARY = ("Data dictionary", "Codes and units", "Reference for the columns", "Key to the tables", "Legend")
_MOST_IN_PARAGRAPH = 3
_TWO_SECTIONS = 8
"""Statements from which they are spread over two sections."""


def house_sections(spec: TaskSpec) -> list[str]:
    """Return headings and paragraphs with the facts of the description among sentences of no use, in a drawn order."""
    rng = _generator(spec, "house")
    stated = [hint.text for hint in spec.hints if hint.file == DESCRIPTION]
    stated += [cue.text for cue in (spec.channel.cues if spec.channel else ()) if cue.place == "house"]
    items = [*stated, *spec.story.asides]
    if not items:
        return []
    items = [items[place] for place in rng.permutation(len(items))]
    headings = [_HOUSE[place] for place in rng.permutation(len(_HOUSE))]
    middle = len(items) // 2 if len(items) >= _TWO_SECTIONS else 0
    sections = []
    for heading, part in zip(headings, filter(None, (items[:middle], items[middle:])), strict=False):
        paragraphs, start = [], 0
        while start < len(part):
            size = int(rng.integers(1, _MOST_IN_PARAGRAPH + 1))
            paragraphs.append(" ".join(part[start : start + size]))
            start += size
        sections += [f"## {heading}", "\n\n".join(paragraphs)]
    return sections


def data_dictionary(spec: TaskSpec) -> str | None:
    """Write data_dictionary.md. None if no hint stands in it."""
    hints = [hint.text for hint in spec.hints if hint.file == DATA_DICTIONARY]
    if not hints:
        return None
    rng = _generator(spec, "dictionary")
    order = [hints[place] for place in rng.permutation(len(hints))]
    return "\n\n".join([f"# {_DICTIONARY[int(rng.integers(len(_DICTIONARY)))]}", *order]) + "\n"


def dictionary_file(spec: TaskSpec) -> dict[str, bytes]:
    """Return the data dictionary by its path; nothing if the task has none."""
    text = data_dictionary(spec)
    return {} if text is None else {DATA_DICTIONARY: text.encode()}


def further_files(spec: TaskSpec, words: Wording, item: str) -> list[tuple[str, str]]:
    """Return name and content of the files that only some tasks have."""
    found = []
    if child := spec.mechanism.child:
        found.append((child.path, words.say("file_child", row=child.row, **words.names_of(item))))
    return found


def _generator(spec: TaskSpec, name: str) -> np.random.Generator:
    """Return a generator keyed by what the texts say alone, so that their arrangement reveals nothing of the rule."""
    hints = [[hint.file, hint.text] for hint in spec.hints]
    hints += [[DESCRIPTION, cue.text] for cue in (spec.channel.cues if spec.channel else ()) if cue.place == "house"]
    public = {"story": spec.story.model_dump(mode="json"), "hints": hints}
    return Streams(b"tell", fingerprint(public)).generator(name)
