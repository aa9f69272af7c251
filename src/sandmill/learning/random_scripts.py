"""Random scripts near those of the teacher, of which some fail: for tests, and for starts with mixed validity."""

from collections.abc import Sequence

import numpy as np

from sandmill.learning.approaches import APPROACHES
from sandmill.learning.language import Language
from sandmill.learning.teacher import FragmentNames, write_script

USUAL_FACTS = ("form=probability", "target=binary", "metric=roc_auc")
"""Facts of a script for no task in particular."""
MOST_EDITS = 2
"""Of a script whose number of edits is drawn. One edit leaves about a fifth of scripts valid."""


def random_script(
    language: Language,
    rng: np.random.Generator,
    facts: Sequence[str] = USUAL_FACTS,
    *,
    edits: int | None = None,
) -> FragmentNames:
    """Return a script of the teacher with some fragments replaced, deleted or inserted.

    The fence stays. Half of the replacements are by a fragment of the same group, which usually gives a valid script.

    Args:
        language: of the script.
        rng: generator of all choices.
        facts: words of the task.
        edits: number of changes. None draws it, from 0 to `MOST_EDITS`.
    """
    approaches = [approach for approach in APPROACHES.values() for _ in range(approach.weight)]
    names = list(write_script(language, approaches[int(rng.integers(len(approaches)))], facts))
    count = int(rng.integers(MOST_EDITS + 1)) if edits is None else edits
    for _ in range(count):
        _edit(names, language, rng)
    return tuple(names)


def _edit(names: list[str], language: Language, rng: np.random.Generator) -> None:
    place = 1 + int(rng.integers(len(names) - 2)) if len(names) > 2 else 1
    kind = rng.choice(["alike", "other", "delete", "insert"], p=[0.5, 0.1, 0.2, 0.2])
    if kind == "insert" or len(names) == 2:
        names.insert(place, _drawn(language, rng, None))
    elif kind == "delete":
        del names[place]
    else:
        names[place] = _drawn(language, rng, language.by_name[names[place]].group if kind == "alike" else None)


def _drawn(language: Language, rng: np.random.Generator, group: str | None) -> str:
    """Draw a fragment within a script, of one group or of all."""
    inner = [each for name, parts in language.by_group.items() if name != "fence" for each in parts]
    among = language.by_group[group] if group else inner
    return among[int(rng.integers(len(among)))].name
