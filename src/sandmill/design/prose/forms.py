"""Sentences that state the forms of a rule, and their arrangement at the levels of reading."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sandmill.design.prose import Pen, listed, named, phrases, quotient_of
from sandmill.models.hints import DATA_DICTIONARY, Fact, Form, Hint, Passage, ReadingLevel, TextFile
from sandmill.models.knowledge import QuantityTexts
from sandmill.models.motifs import Condition, Distance, Formula, NormDistance

DESCRIPTION: TextFile = "description.md"
_CHANCE_OF_NAME, _CHANCE_OF_LATE_DEFINITION, _CHANCE_OF_CORRECTION = 0.75, 0.25, 0.4
_LISTS = ("each", "paired", "ordered", "relative")
"""Forms of lists of norms."""
_CHANCE_OF_AFFIRMATION = 0.4
"""Chance that a text with decoys quotes the fact as well, so that quotes mark neither."""
_CHANCE_OF_OWN_MEANING, _CHANCE_OF_OWN_USE = 0.8, 0.7
"""Chances that the words of the domain's people are taken where there are any."""
_CHANCE_OF_APART = 0.5
"""Chance that a decoy stands at another place of the text than the fact."""


@dataclass(frozen=True)
class Clause:
    """One condition as a sentence says it."""

    condition: Condition
    relation: Literal["is_above", "is_at_least", "is_at_most", "is_under", "is_one_of", "is_none_of"]
    value: float = 0.0
    names: tuple[str, ...] = ()
    """Levels that the sentence names."""


@dataclass(frozen=True)
class Said:
    """What can be said of a fact, for every level."""

    whole: str
    """All of it in one place."""
    halves: tuple[str, str] | None = None
    """For the description and for the dictionary."""
    corrected: tuple[str, str, Fact] | None = None
    """A text with another number, its correction, and the fact as it was before."""
    decoys: tuple[tuple[Fact, str], ...] = ()
    """Facts of the same form, each with a statement that can be quoted."""
    is_denied: bool = False
    """Whether the statements of the decoys say themselves that they are not valid."""

    def misleads(self, level: ReadingLevel) -> bool:
        """Return whether a text at this reading level can also state a fact that does not hold."""
        return bool(self.decoys if level == "contested" else self.corrected and level == "spread")


def arrange(
    pen: Pen, fact: Fact, said: Said, *, matters: bool, file: TextFile = DESCRIPTION, leads: bool = False
) -> Hint:
    """Make the hint of a fact at the level of the pen. What cannot be said at it is said in prose.

    Of the facts that matter, only the one that leads has decoys: each decoy must cost a reader `LEAST_LEAD` of the gap.
    """
    level = pen.level
    if matters and not leads:
        said = replace(said, corrected=None, decoys=())
    if level == "spread" and (said.corrected or said.halves):
        if said.corrected and (not said.halves or pen.rng.random() < _CHANCE_OF_CORRECTION):
            text, second, former = said.corrected
            decoys: tuple[Fact, ...] = (former,)
        else:
            (text, second), decoys = said.halves or ("", ""), ()
        further = (Passage(file=DATA_DICTIONARY, text=second),)
        return Hint(fact=fact, text=text, matters=matters, level=level, further=further, decoys=decoys)
    if level == "contested" and said.decoys:
        text, apart = said.whole, list[Passage]()
        if not any(mark in text for mark in '"\n') and pen.rng.random() < _CHANCE_OF_AFFIRMATION:
            text = pen.say("affirmed", s=text)
        others = dict(said.decoys)
        for statement in others.values():
            denied = statement if said.is_denied else pen.say("decoy", s=statement)
            is_block = "\n" in text
            if file != DESCRIPTION or is_block or pen.rng.random() < _CHANCE_OF_APART:
                apart.append(Passage(file=file, text=denied))
            else:
                text = f"{text} {denied}" if pen.rng.random() < 0.5 else f"{denied} {text}"
        kept = {"further": tuple(apart), "decoys": tuple(others)}
        return Hint(fact=fact, text=text, file=file, matters=matters, level=level).model_copy(update=kept)
    is_lower = level in ("spread", "contested")
    return Hint(fact=fact, text=said.whole, file=file, matters=matters, level="prose" if is_lower else level)


def use_of(pen: Pen, x: str, form: Form, unit: str | None = None, own: QuantityTexts | None = None) -> str:
    """State the limit or the norm of a quantity; that it counts, if it has neither."""
    value = number_of(form)
    if value is None:
        return pen.say("plain_use")
    is_limit = getattr(form.motif, "above", None) is not None
    if own and pen.rng.random() < _CHANCE_OF_OWN_USE:
        return pen.pick(own.limits if is_limit else own.norms).format(n=pen.number(value, unit=unit))
    number = pen.number(value, unit=unit)
    if is_limit:
        over, upto = pen.say("over", n=number), pen.say("upto", n=number)
        return pen.say("limit", x=x, n=number, over=over, upto=upto)
    if pen.rng.random() < 0.5:
        return pen.say("norm_whole", x=x, n=number)
    return f"{pen.say('norm', x=x, n=number)} {pen.say('factor')}"


def say_quantity(
    pen: Pen,
    form: Form,
    definition: tuple[str, str],
    unit: str | None = None,
    others: Sequence[Form] = (),
    own: QuantityTexts | None = None,
) -> Said:
    """Say how a quantity is worked out, and its limit or norm.

    Args:
        pen: writes the sentences.
        form: name and motif of the quantity.
        definition: the quantity as a noun phrase, and a sentence that defines its name.
        unit: that stands behind its numbers.
        others: decoys with another number.
        own: what people of the domain say.
    """
    phrase, defined = definition
    own = own if pen.is_free else None
    is_own = own is not None and bool(pen.rng.random() < _CHANCE_OF_OWN_MEANING)
    if own and is_own:
        defined = pen.pick(own.means)
    fields = named(form.name)
    x = f"the {fields['name']}"
    use = use_of(pen, x, form, unit, own)
    whole = f"{defined} {use}"
    if number_of(form) is None:
        first = pen.say("followed", **fields)
        return Said(whole if pen.is_free or not pen.has_records else defined, (first, defined))
    if pen.is_free and not is_own:
        if pen.rng.random() > _CHANCE_OF_NAME:
            nameless = use_of(pen, phrase, form, unit)
            whole = nameless if not others or x in nameless else whole
        elif pen.rng.random() < _CHANCE_OF_LATE_DEFINITION:
            whole = f"{use} {pen.say('define_after', q=phrase, **fields)}"
    corrected = None
    if others:
        old, new = (pen.number(number_of(one) or 0.0, unit=unit) for one in (others[0], form))
        correction = pen.say("corrected", x=x, old=old, new=new)
        corrected = f"{defined} {use_of(pen, x, others[0], unit, own)}", correction, others[0]
    decoys = tuple((other, use_of(pen.quoted, x, other, unit, own)) for other in others)
    return Said(whole, (defined, use), corrected, decoys)


def number_of(form: Form) -> float | None:
    """Return the limit or the norm of a quantity, if it has one."""
    motif = form.motif
    if not isinstance(motif, Formula | Distance):
        raise TypeError(f"{form.name} is no quantity")
    return motif.above if motif.above is not None else motif.norm


def define_quotient(pen: Pen, name: str, motif: Formula, texts: Sequence[str]) -> tuple[str, str]:
    """Return a quotient as a noun phrase, and a sentence that defines its name.

    At the level `plain`, the domain's own texts that have the name are used in half of the cases.
    """
    phrase, top, bottom = quotient_of(pen, motif.top, motif.bottom)
    own = [text for text in texts if named(name)["name"] in text.lower()]
    if not pen.is_free and own and pen.rng.random() < 0.5:
        return phrase, pen.pick(own)
    frames = ("define", "define_first", "define_steps") if bottom else ("define", "define_first")
    return phrase, pen.say(*frames, q=phrase, top=top, bottom=bottom, **named(name))


def clause_of(pen: Pen, clause: Clause) -> str:
    """Say one condition as a clause."""
    column = pen.column(clause.condition.column)
    if clause.names:
        return pen.say(clause.relation, c=column, l=pen.levels(clause.names))
    return pen.say(clause.relation, c=column, n=pen.number(clause.value, clause.condition.column))


def value_of(pen: Pen, clause: Clause) -> str:
    """Say the number or the levels of one condition."""
    return pen.levels(clause.names) if clause.names else pen.number(clause.value, clause.condition.column)


def say_condition(pen: Pen, name: str, column: str | None, clauses: Sequence[Clause], own: Sequence[str] = ()) -> Said:
    """Say when a column counts, or which circumstance counts.

    Args:
        pen: writes the sentences.
        name: of the circumstance.
        column: that counts in it alone; None: the circumstance itself counts.
        clauses: that hold together.
        own: what people of the domain say, in place of the grammar's sentences.
    """
    # A list of levels stands last, so that nothing that follows it is taken for one of them.
    parts = [clause_of(pen, clause) for clause in sorted(clauses, key=lambda clause: bool(clause.names))]
    two = parts[1] if len(parts) > 1 else ""
    where = pen.say("joined", one=parts[0], two=two) if two else parts[0]
    fields = {"w": where, "one": parts[0], "two": two, "x": pen.column(column) if column else ""}
    frames = ("counts", "counts_if_both") if column else ("holds", "hold_both")
    if own:
        values = dict(zip(("first", "second"), (value_of(pen, clause) for clause in clauses), strict=False))
        whole = pen.pick(own).format(**values)
    else:
        whole = pen.say(*(frames if two else frames[:1]), **fields)
    names = named(name)
    halves = (
        pen.say("named_counts" if column else "named_holds", **fields, **names),
        pen.say("named_means", **fields, **names),
    )
    return Said(whole, halves)


def say_norms(pen: Pen, name: str, motif: NormDistance, levels: Sequence[str], own: Sequence[str] = ()) -> Said:
    """Say the norms of a column by the levels of a category, where they are in one place as the domain's people do."""
    pairs = list(zip(levels, motif.norms, strict=True))
    fields = {"x": pen.column(motif.column), "by": pen.column(motif.by)}

    def written(some: Sequence[tuple[str, float]]) -> str:
        return norm_list(pen, some)

    def stated(norms: str, *, is_whole: bool = False) -> str:
        if own and is_whole:
            return pen.pick(own).format(norms=norms)
        if pen.rng.random() < 0.25:
            return pen.say("level_whole", norms=norms, **fields)
        return f"{pen.say('level_norm', norms=norms, **fields)} {pen.say('either_side')}"

    whole = stated(written(pairs), is_whole=True)
    middle = (len(pairs) + 1) // 2
    rest = pen.say("norms_rest", norms=written(pairs[middle:]), **fields)
    halves = f"{stated(written(pairs[:middle]))} {pen.say('see_rest')}", rest
    former = swapped_norms(motif)
    if former == motif:
        return Said(whole, halves)
    moved = [
        pen.levels([level]) for level, one, other in zip(levels, motif.norms, former.norms, strict=True) if one != other
    ]
    correction = pen.say("swapped", first=moved[0], second=moved[1], **fields)
    text = stated(written(list(zip(levels, former.norms, strict=True))), is_whole=True)
    return Said(whole, halves, (text, correction, Form(name=name, motif=former)))


def swapped_norms(motif: NormDistance) -> NormDistance:
    """Exchange the lowest and the highest norm."""
    norms = list(motif.norms)
    low, high = norms.index(min(norms)), norms.index(max(norms))
    norms[low], norms[high] = norms[high], norms[low]
    return motif.model_copy(update={"norms": tuple(norms)})


def norm_list(pen: Pen, pairs: Sequence[tuple[str, float]], *, may_vary: bool = True) -> str:
    """Write norms and their levels as a list, in one of several forms."""
    form = pen.pick(_LISTS) if may_vary else "each"
    names = [pen.levels([level]) for level, _ in pairs]
    if form == "relative" and len(pairs) > 1 and pen.is_free:
        return _relative(pen, names, [norm for _, norm in pairs])
    numbers = pen.numbers([norm for _, norm in pairs])
    if form == "ordered" and len(pairs) > 1:
        return pen.say("ordered", levels=listed(names, "and"), numbers=listed(numbers, "and"))
    frame = pen.pick(phrases("paired" if form == "paired" else "each")) if may_vary else phrases("each")[0]
    return listed([frame.format(n=number, l=name) for number, name in zip(numbers, names, strict=True)], "and")


def _relative(pen: Pen, names: Sequence[str], norms: Sequence[float]) -> str:
    """Write the first norm, and the others by what they have more or less."""
    others = [float(f"{norm - norms[0]:.9g}") for norm in norms[1:]]
    first, *sizes = pen.numbers([norms[0], *map(abs, others)])
    steps = [
        f"{size} {'more' if more > 0 else 'less'} for {name}" if more else f"the same for {name}"
        for name, more, size in zip(names[1:], others, sizes, strict=True)
    ]
    return pen.say("relative", first=first, l=names[0], steps=listed(steps, "and"))
