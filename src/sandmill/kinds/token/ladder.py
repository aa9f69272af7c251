"""Scripts that solve a token task: readers for numbers and signs, and a choice among them."""

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from sandmill.kinds.panel import OwnScript
from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.data import BASIC, CAPITALS, FIRST, ROMAN, SITE, TokenData
from sandmill.kinds.token.layout import LAYOUTS
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
_READ = '''
def read(path):
    """Read a zipped table, and put the words around each token beside it."""
    table = pd.read_csv(path, compression="zip", dtype=str, keep_default_na=False)
    near = table.groupby("sentence_id", sort=False)["before"]
    for name, step in (("left", 1), ("second_left", 2), ("right", -1)):
        table[name] = near.shift(step).fillna("").str.lower()
    return table


folder = Path(sys.argv[1] if len(sys.argv) > 1 else "public")
train, test = read(folder / "{train}"), read(folder / "{test}")
'''
_SAVE = """
ids = test["sentence_id"] + "_" + test["token_id"]
out = sys.argv[2] if len(sys.argv) > 2 else "submission.csv"
pd.DataFrame({{"{id}": ids, "{target}": said}}).to_csv(out, index=False)
"""
_FORM = '''
def form(token):
    """What tokens that are read alike share: figures as 0, capitals as A, other words themselves."""
    if re.search(r"\\d", token):
        token = re.sub(r"\\d{{4,}}", "0000", re.sub(r"\\d{{1,3}}(?!\\d)", "0", token))
        return re.sub(r"[A-Z][a-z]+|[а-я]{{3,}}", "a", token)
    for name, pattern in (("I", r"{roman}"), ("A", r"{capitals}"), ("a.a", r"{site}")):
        if re.fullmatch(pattern, token):
            return name
    return token.lower()


@cache
def spoken(token):
    """The words of a token by reader, and the token itself."""
    found = {{name: read(token) for name, read in READERS.items()}} if form(token) != token.lower() else {{}}
    return {{"same": token, **{{name: words for name, words in found.items() if words}}}}


# How each training token was read; of several readers that fit, the one that fits most tokens
fitting = [
    [name for name, words in spoken(token).items() if words == said and name != "same"]
    for token, said in zip(train["before"], train["{target}"])
]
often = Counter(name for names in fitting for name in names)
ways = [
    max(names, key=often.__getitem__) if names else "same" if token == said else "say:" + said
    for names, token, said in zip(fitting, train["before"], train["{target}"])
]
'''
_BAYES = '''
# Naive Bayes: how often a form is read in a way, times how often each neighbour stands beside it then
SIDES, ALPHA = {sides}, {alpha}
counts, near = defaultdict(Counter), defaultdict(Counter)
for token, way, *words in zip(train["before"], ways, *(train[side] for side in SIDES)):
    counts[form(token)][way] += 1
    for side, word in zip(SIDES, words):
        near[side, form(token), way][word] += 1


def answer(token, words):
    """The most probable way to read a token beside these words."""
    chances = {{}}
    for way, count in counts[form(token)].items():
        chances[way] = count
        for side, word in zip(SIDES, words):
            chances[way] *= (near[side, form(token), way][word] + ALPHA) / (count + 20 * ALPHA)
    able = spoken(token)
    for way in sorted(chances, key=chances.get, reverse=True):
        if way.startswith("say:"):
            return way[4:]
        if way in able:
            return able[way]
    return token


said = [answer(token, words) for token, *words in zip(test["before"], *(test[side] for side in SIDES))]
'''
_HOUSE = r'''
# Rules of the description, which training rows do not show: a pattern, and words with a reader for each of its groups
RULES = {rules}


def by_rule(token):
    """The words of a token that a rule covers."""
    for pattern, words in RULES.items():
        if found := re.fullmatch(pattern, token):
            parts = iter(found.groups())
            return re.sub(r"{{(\w+)}}", lambda reader: READERS[reader[1]](next(parts)), words)


said = [by_rule(token) or words for token, words in zip(test["before"], said)]
'''
_BACK = '''
# The most frequent way for the form with the word before it, else for the form alone
counts = defaultdict(Counter)
for token, left, way in zip(train["before"], train["left"], ways):
    counts[form(token), left][way] += 1
    counts[form(token)][way] += 1


def answer(token, left):
    """The words of a token after another word."""
    found = counts.get((form(token), left)) or counts.get(form(token))
    way = found.most_common(1)[0][0] if found else "same"
    return way[4:] if way.startswith("say:") else spoken(token).get(way, token)


said = [answer(token, left) for token, left in zip(test["before"], test["left"])]
'''
_LOOK_UP = '''
# What every token was most often read as; whole numbers and capitals that are new are read by rule
seen = train.groupby("before")["{target}"].agg(lambda said: said.mode()[0]).to_dict()


def answer(token):
    """The words of a token."""
    found = (read(token) for read in READERS.values())
    return seen.get(token) or next((words for words in found if words), token)


said = [answer(token) for token in test["before"]]
'''

_WITH_FIELDS = (_FORM, _BACK, _LOOK_UP)
"""Parts with fields for names of the task."""


def ladder(facts: TaskFacts, data: TokenData, cues: Sequence[Cue] = ()) -> Iterator[OwnScript]:
    """Yield the scripts of a task. The reference applies the rules that cues state."""
    often, rules = Counter(data.ways), [rule for rule in cues if isinstance(rule, HouseRule)]
    named = {name for rule in rules for name in FIELD.findall(rule.says)}
    used = [name for name in readers_of(data.language) if often[name] >= LEAST or name in named]
    lines = ["{", *(f'    r"{rule.match}": "{rule.says}",' for rule in rules), "}"]
    house = [_HOUSE.format(rules="\n".join(lines))] if rules else []
    for sides, alpha in ((NEAR, 0.2), (NEAR, 0.05), (WIDE, 0.2), (WIDE, 0.6)):
        approach = (
            f"naive Bayes on the form of a token and {len(sides)} of its neighbours chooses among {len(used)} readers"
        ) + (f"; {len(rules)} rules of the description go before" if rules else "")
        parts = [_FORM, _BAYES.format(sides=sides, alpha=alpha), *house]
        yield OwnScript(Rung.REFERENCE, approach, _script(facts, data, approach, used, parts))
    for names, what in ((FIRST, "common"), (BASIC, "a few")):
        approach = f"{what} readers, chosen by the form of a token and the word before it"
        kept = sorted(names, key=lambda name: (-often[name], name))
        while (script := _script(facts, data, approach, kept, [_FORM, _BACK])).count("\n") > MOST_LINES:
            kept.pop()
        yield OwnScript(Rung.COMPETENT, approach, script)
    approach = "a table of the training tokens, and rules for whole numbers and capitals"
    yield OwnScript(Rung.NAIVE, approach, _script(facts, data, approach, ("cardinal", "letters"), [_LOOK_UP]))
    approach = "a table of the training tokens"
    yield OwnScript(Rung.NAIVE, approach, _script(facts, data, approach, (), [_LOOK_UP]))


def _script(facts: TaskFacts, data: TokenData, approach: str, names: Collection[str], parts: Sequence[str]) -> str:
    layout, metric = LAYOUTS[facts.kind], get_metric(facts.metric)
    patterns = {"roman": ROMAN.pattern, "capitals": CAPITALS.pattern, "site": SITE.pattern}
    names_of = {"train": layout.train, "test": layout.test, "id": facts.id_column, "target": facts.target_column}
    fields = patterns | names_of
    about = f"Read tokens aloud: predict {facts.target_column} for the test data. Scored by {metric.title}."
    body = [part.format(**fields) if part in _WITH_FIELDS else part for part in parts]
    code = [*source_of(data.language, names), "", *_READ.format(**fields).splitlines()]
    text = "\n".join([*code, *body, _SAVE.format(**fields)])
    head = [
        *textwrap.wrap(f'"""{about}', WIDTH),
        "",
        *textwrap.wrap(f"Approach: {approach}.", WIDTH),
        "",
        "Usage: python solution.py [PUBLIC_DIR] [OUT_CSV]",
        '"""',
        "",
        *(["import re"] if "re." in text else []),
        "import sys",
        *(["from collections import Counter, defaultdict"] if "Counter" in text else []),
        *(["from functools import cache"] if "@cache" in text else []),
        "from pathlib import Path",
        "",
        "import pandas as pd",
        "",
    ]
    return "\n".join([*head, text.strip("\n")]) + "\n"
