"""Design of token tasks: which tokens occur, how they are read, and how clearly the sentence shows the reading."""

from datetime import date

import numpy as np

from sandmill.kinds.library import at, load_texts
from sandmill.kinds.targets import rendered_task
from sandmill.kinds.token.channel import (
    HouseRule,
    HouseWord,
    Reading,
    Speech,
    TokenChannel,
    TokenDomain,
    TokenGroup,
    domains_of,
    speech_of,
)
from sandmill.kinds.token.speech import FIELD, say_by_custom
from sandmill.models.columns import Column, Date, Normal
from sandmill.models.kind import Kind, kind_named
from sandmill.models.plan import Slot
from sandmill.models.spec import Knobs, TaskSpec
from sandmill.rng import Streams

PREFIX = "tokens_"
"""Start of the names of the kinds; the language follows."""
RANGES = load_texts("token/ranges.yaml")
"""Values at hardness 0 and 1."""
STATED = 0.5
"""Share of conventions and abbreviations that the description states."""
MEANING = (
    "The token as it is written. Each line of the tables is a token: `sentence_id` holds the `id` of its sentence and "
    "`token_id` its place there, from 0. The training table alone has `class`, the sort of the token. Here and there a "
    "token was left as it stood where others of its sort are written out, and its reading is then the token itself"
)
RULES = 2
"""Rules of the house that a description states."""
_FIRST_DAY, _DAYS, _OLD_DAYS = date(2019, 1, 1), 900, 600
"""Days on which sentences were written, and those of the training sentences among them."""
_SPREAD = 0.9
_PLACES = 60


def design_tokens(
    slot: Slot, streams: Streams, hardness: float, parent: str | None = None, knobs: Knobs | None = None
) -> TaskSpec:
    """Design a token task from a slot's seed. The arguments are those of `design.design_task`."""
    knobs = knobs or Knobs.all_at(hardness)
    kind = kind_named(str(slot.structure.kind))
    is_drawn = slot.place is None and slot.world is None
    domain = at(media_of(kind), streams.generator("design").random() if is_drawn else slot.place)
    domain = domain.dressed(slot.world) if slot.world else domain
    channel, customs = _channel(speech_of(kind.name.removeprefix(PREFIX)), domain, knobs, streams)
    phrases = Normal(mean=_between("phrases", knobs.rows), sd=_SPREAD)
    days = Date(first=_FIRST_DAY, days=_DAYS, train_days=_OLD_DAYS)
    columns = (
        Column(name="phrases", distribution=phrases, decimals=2),
        Column(name="day", distribution=days, decimals=0),
    )
    train = round(_between("rows", knobs.rows))
    given = {"columns": columns, "asides": customs, "hardness": hardness, "knobs": knobs, "parent": parent}
    return rendered_task(slot, streams, domain, "after", channel, train, **given)


def media_of(kind: Kind) -> tuple[TokenDomain, ...]:
    """Return the registers of the language of a kind."""
    return domains_of(kind.name.removeprefix(PREFIX))


def _channel(
    speech: Speech, domain: TokenDomain, knobs: Knobs, streams: Streams
) -> tuple[TokenChannel, tuple[str, ...]]:
    """Draw the conventions and abbreviations of a task, and choose those that its description states."""
    rng = streams.generator("customs")
    unusual, chosen = _between("unusual", knobs.skills), []
    for options in speech.conventions:
        # The usual convention stands first.
        is_unusual, place = rng.random() < unusual, int(rng.integers(1, len(options)))
        chosen.append(options[place] if is_unusual else options[0])
    readers = {before: after for custom in chosen for before, after in custom.readers.items()}
    words = _words(speech, round(_between("words", knobs.distractors)), rng)
    groups = [_adapted(group, readers, speech, domain, knobs) for group in speech.groups]
    groups.append(words.model_copy(update={"weight": _between("word_weight", knobs.distractors)}))
    channel = TokenChannel.model_validate(
        {
            "kind": f"{PREFIX}{speech.language}",
            "column": "before",
            "meaning": MEANING,
            "language": speech.language,
            "groups": tuple(groups),
            "openings": domain.openings,
            "links": domain.links,
            "closings": domain.closings,
            "blur": _between("blur", knobs.signal),
            "bare": _between("bare", knobs.signal),
            "slips": _between("slips", knobs.faults),
            "places": _PLACES,
            "house": _house(speech, readers, streams),
            "house_from": float(_OLD_DAYS),
            "house_share": _between("house", knobs.skills),
        }
    )
    sayings = [said for reading in words.readings for said in reading.says]
    meanings = [f'"{word}" stands for "{said}".' for word, said in zip(words.patterns, sayings, strict=True)]
    texts = [*(custom.text for custom in chosen), *meanings]
    return channel, tuple(text for text in texts if rng.random() < STATED)


def _house(speech: Speech, readers: dict[str, str], streams: Streams) -> tuple[HouseRule, ...]:
    """Draw the rules of the house and how each reads its tokens. Numbers in them follow the conventions of the task."""
    rng = streams.generator("house")
    return tuple(
        _rule(speech, speech.house[place], readers, rng) for place in rng.permutation(len(speech.house))[:RULES]
    )


def _rule(speech: Speech, word: HouseWord, readers: dict[str, str], rng: np.random.Generator) -> HouseRule:
    """State a rule by the words that it gives for two examples."""
    says = FIELD.sub(
        lambda field: f"{{{readers.get(field[1], field[1])}}}", word.says[int(rng.integers(len(word.says)))]
    )
    said = [str(say_by_custom(speech.language, word.match, says, token)) for token in word.examples]
    one, two = word.examples
    stated = word.text.format(one=one, two=two, one_said=said[0], two_said=said[1])
    return HouseRule(
        parameters=(one, said[0], two, said[1]),
        text=f"{stated} {speech.newness[int(rng.integers(len(speech.newness)))]}",
        label=word.label,
        patterns=word.patterns,
        match=word.match,
        says=says,
        left=word.left,
        right=word.right,
    )


def _words(speech: Speech, count: int, rng: np.random.Generator) -> TokenGroup:
    """Draw abbreviations, the most frequent first, and what each stands for."""
    known = list(speech.words.says.items())
    drawn = [known[place] for place in rng.permutation(len(known))[:count]]
    says = tuple(options[int(rng.integers(len(options)))] for _, options in drawn)
    reading = Reading(label=speech.words.label, says=says, left=speech.words.left, right=speech.words.right)
    return TokenGroup(name="words", patterns=tuple(word for word, _ in drawn), readings=(reading,), is_ranked=True)


def _adapted(
    group: TokenGroup, readers: dict[str, str], speech: Speech, domain: TokenDomain, knobs: Knobs
) -> TokenGroup:
    """Read the tokens of a group as the task does, and weigh it."""
    weight = group.weight * domain.emphasis.get(group.name, 1.0)
    if group.name in speech.ambiguous:
        weight *= _between("ambiguous", knobs.skills)
    if group.name in speech.uncommon:
        weight *= _between("uncommon", knobs.skills)
    changed = tuple(
        reading.model_copy(update={"reader": readers.get(reading.reader, reading.reader)})
        if reading.reader
        else reading
        for reading in group.readings
    )
    return group.model_copy(update={"weight": round(weight, 4), "readings": changed})


def _between(name: str, position: float) -> float:
    """Interpolate a range: its low end at position 0, its high end at position 1."""
    low, high = RANGES[name]
    return round(float(low + (high - low) * position), 4)
