"""Short prompts of tasks, and the same with facts removed or exchanged for others."""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sandmill.models.hints import DATA_DICTIONARY, Hint
from sandmill.models.package import TaskFacts
from sandmill.scoring import get_metric

_SECTION = re.compile(r"\n(?=## )")
_NUMBER = re.compile(r"(?<![\w.`])\d+(?:\.\d+)?(?![\w`]|\.\d)")
_STORIES = ("Overview", "Introduction", "Context", "The setting", "About", "Background", "Who is asking")
"""Headings of the section that says what a row is."""
_TASK = "Write a short Python script that predicts the target and writes `submission.csv`. Use what the notes state."


@dataclass(frozen=True)
class Source:
    """What a prompt is made of."""

    description: str
    dictionary: str
    public: Mapping[str, str]
    facts: TaskFacts
    hints: Sequence[Hint]


def sections(description: str) -> list[str]:
    """Split a description at its headings. The first part is the title."""
    return _SECTION.split(description)


def prompt_of(source: Source, *, brief: bool = False) -> str:
    """Return the prompt: story, notes of the host, data dictionary, columns and the heads of the files.

    Args:
        source: texts and files.
        brief: leave out the meanings of columns.
    """
    parts, facts = sections(source.description), source.facts
    title, story = parts[0].strip(), next(iter(_stories(parts)), "")
    header = source.public["train.csv"].partition("\n")[0].split(",")
    columns = next(iter(_columns(parts, header)), "")
    notes = [part.strip() for part in parts[1:] if any(hint.text in part for hint in source.hints)]
    metric = get_metric(facts.metric)
    better = "lower" if metric.is_lower_better else "higher"
    classes = f" Classes: {', '.join(facts.classes)}." if facts.classes and not facts.is_binary else ""
    said = f"Target: {facts.target} `{facts.target_column}`. Metric: {facts.metric}, {better} is better.{classes}"
    pieces = [f"{title}\n{_TASK}", story, said, *notes]
    if source.dictionary:
        pieces.append(f"{DATA_DICTIONARY}:\n{source.dictionary.strip()}")
    if columns and not brief:
        pieces.append(columns)
    pieces.append("\n".join(_heads(source)))
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def _stories(parts: Sequence[str]) -> Iterator[str]:
    """Yield the first paragraph of the section that says what a row is."""
    for part in parts[1:]:
        paragraphs = part.split("\n\n")
        if paragraphs[0].strip("# \n") in _STORIES and len(paragraphs) > 1:
            yield paragraphs[1].strip()


def _columns(parts: Sequence[str], header: Sequence[str]) -> Iterator[str]:
    """Yield the section that names most columns of the header, without marks."""
    for part in parts[1:]:
        if sum(f"`{name}`" in part for name in header) > len(header) / 2:
            lines = [line.strip("|*- ") for line in part.splitlines()[1:]]
            kept = [line.replace(" | ", ", ").replace("**", "") for line in lines if line and "---" not in line]
            yield "Columns:\n" + "\n".join(" ".join(line.split()) for line in kept)


def _heads(source: Source) -> Iterator[str]:
    for path, text in sorted(source.public.items()):
        if path.endswith(".csv"):
            rows = 1 if path in ("test.csv", "sample_submission.csv") else 2
            lines = text.split("\n", rows)[:rows]
            yield f"public/{path}:\n" + "\n".join(lines)


def without_facts(source: Source) -> Source:
    """Return the texts without the sentences that state facts."""
    description = source.description
    for hint in source.hints:
        description = description.replace(hint.text, "")
    return Source(description, "", source.public, source.facts, source.hints)


def exchange(source: Source, numeric: Sequence[str], seed: int) -> tuple[Source, Callable[[str], str]]:
    """Return the texts with facts of other columns and numbers, and the same exchange for the lines of a script.

    Args:
        source: texts and files.
        numeric: columns of numbers, which are exchanged among themselves.
        seed: of the exchange.
    """
    draw = random.Random(seed)
    text = "\n".join([*(hint.text for hint in source.hints), source.dictionary])
    named = [name for name in numeric if f"`{name}`" in text or f"| {name} |" in text]
    others = [name for name in numeric if name not in named]
    draw.shuffle(others)
    # A column that a fact names gives way to one that no fact names, or to the next that a fact names.
    targets = (others + named[1:] + named[:1])[: len(named)] if len(others) < len(named) else others[: len(named)]
    names = dict(zip(named, targets, strict=True))
    values = {number: _other(number, draw) for number in sorted(set(_NUMBER.findall(text))) if len(number) > 1}

    def words(found: str) -> str:
        return re.sub(r"(?<![\w])[a-z][a-z0-9_]*(?![\w])", lambda match: names.get(match[0], match[0]), found)

    def swap(found: str) -> str:
        by_value = {float(number): other for number, other in values.items()}
        number = _NUMBER.sub(lambda match: by_value.get(float(match[0]), match[0]), found)
        return words(number)

    description, dictionary = source.description, swap(source.dictionary)
    hints = []
    for hint in source.hints:
        other = swap(hint.text)
        description = description.replace(hint.text, other)
        hints.append(hint.model_copy(update={"text": other}))
    return Source(description, dictionary, source.public, source.facts, hints), swap


def _other(number: str, draw: random.Random) -> str:
    """Return another number with as many decimals."""
    decimals = len(number.partition(".")[2])
    factor = draw.choice((0.6, 0.7, 0.8, 1.25, 1.4, 1.6))
    changed = f"{float(number) * factor:.{decimals}f}"
    return changed if float(changed) > 0 else number
