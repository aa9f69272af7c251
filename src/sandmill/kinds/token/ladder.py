"""Scripts that solve a token task: readers for numbers and signs, and a choice among them."""

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from sandmill.kinds.panel import OwnScript
from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.data import BASIC, FIRST, TokenData, language_of, part_of
from sandmill.kinds.token.speech import FIELD, readers_of, source_of
from sandmill.models.calibration import Rung
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts
from sandmill.scoring import get_metric

Sides = tuple[str, ...]
"""Columns of neighbours that a solver reads."""
NEAR: Sides = ("left", "right")
WIDTH = 100
LEAST = 2
"""Training tokens that a reader must fit to be part of the reference script."""
MOST_LINES = 250
"""Lines of a competent script: readers that fit the fewest training tokens are left out of a longer one."""
WIDE: Sides = ("second_left", *NEAR)
BAYES: tuple[tuple[Sides, float], ...] = ((NEAR, 0.2), (NEAR, 0.05), (WIDE, 0.2), (WIDE, 0.6))
"""Neighbours and smoothing of naive Bayes that are tried."""


def ladder(facts: TaskFacts, data: TokenData, cues: Sequence[Cue] = ()) -> Iterator[OwnScript]:
    """Yield the scripts of a task. The reference applies the rules that cues state."""
    language = language_of(facts)
    often = Counter(data.forms(tuple(readers_of(language)))["ways"])
    rules = [rule for rule in cues if isinstance(rule, HouseRule)]
    named = {name for rule in rules for name in FIELD.findall(rule.says)}
    used = [name for name in readers_of(language) if often[name] >= LEAST or name in named]
    lines = "\n".join(["{", *(f'    r"{rule.match}": "{rule.says}",' for rule in rules), "}"])
    write = partial(_script, facts)
    for sides, alpha in BAYES:
        approach = (
            f"naive Bayes on the form of a token and {len(sides)} of its neighbours chooses among {len(used)} readers"
        ) + (f"; {len(rules)} rules of the description go before" if rules else "")
        parts = "form bayes house" if rules else "form bayes"
        yield OwnScript(Rung.REFERENCE, approach, write(approach, used, parts, sides=sides, alpha=alpha, rules=lines))
    for names, what in ((FIRST, "common"), (BASIC, "a few")):
        approach = f"{what} readers, chosen by the form of a token and the word before it"
        kept = sorted(names, key=lambda name: (-often[name], name))
        while (script := write(approach, kept, "form back", sides=("left",))).count("\n") > MOST_LINES:
            kept.pop()
        yield OwnScript(Rung.COMPETENT, approach, script)
    for approach, readers in (
        ("a table of the training tokens, and rules for whole numbers and capitals", ("cardinal", "letters")),
        ("a table of the training tokens", ()),
    ):
        yield OwnScript(Rung.NAIVE, approach, write(approach, readers, "look_up"))


def _script(facts: TaskFacts, approach: str, names: Collection[str], parts: str, **more: object) -> str:
    """Write a script with some readers and the named parts, between those that read files and save the answer."""
    metric = get_metric(facts.metric)
    about = f"Read tokens aloud: predict {facts.target_column} for the test data. Scored by {metric.title}."
    read, *others = (part_of(facts, part, **more) for part in ("read", *parts.split(), "save"))
    text = "\n".join([*source_of(language_of(facts), names), "", read.rstrip("\n"), *others])
    imports = [
        *(["import re"] if "re." in text else []),
        "import sys",
        *(["from collections import Counter, defaultdict"] if "Counter" in text else []),
        *(["from functools import cache"] if "@cache" in text else []),
        "from pathlib import Path",
    ]
    about, approach = (textwrap.fill(words, WIDTH) for words in (f'"""{about}', f"Approach: {approach}."))
    head = part_of(facts, "head", about=about, approach=approach, imports="\n".join(imports))
    return head + text.strip("\n") + "\n"
