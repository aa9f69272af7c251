"""Sentences and tables for what files hold: codes, units, numbers for gaps, notes, and summaries of a child table."""

from collections.abc import Sequence

from sandmill.design.prose import Pen, listed, named
from sandmill.design.prose.forms import Said
from sandmill.models.columns import ChildTable
from sandmill.models.english import capitalized
from sandmill.models.hints import Fact, Form, Notes, Sentinel, Units
from sandmill.models.knowledge import CodeTableWord, ConversionWord, SameUnitsWord
from sandmill.models.motifs import Aggregate, CodeValue
from sandmill.models.spoken import level_words, spoken

_MOST_LISTED = 12
"""Rows of a table that a sentence may list."""
_MOST_STARTED = 6
"""Rows that the description holds when the rest is in the dictionary."""
_WINDOW_FACTORS = (0.35, 2.0)


def say_codes(pen: Pen, word: CodeTableWord, fact: Form, other: Form, levels: Sequence[str]) -> Said:
    """Say the number of each level, as a table or a list."""
    meaning = word.meaning
    fields = {"meaning": meaning, "lower": lowered(meaning), "c": pen.column(word.column)}
    head = (word.column, word.attribute) if not pen.is_free else (_bare(fields["c"]), level_words(word.attribute))

    def rows(form: Form) -> list[tuple[str, str]]:
        values = form.motif.values if isinstance(form.motif, CodeValue) else ()
        return sorted((level, f"{value:.{word.decimals}f}") for level, value in zip(levels, values, strict=True))

    true = rows(fact)
    start = min(_MOST_STARTED, len(true) // 2)
    halves = (
        pen.say("code_start", listed=_paired(pen, true[:start]), **fields),
        with_table(pen, pen.say("code_rest", **fields), head, true[start:]),
    )
    decoys: tuple[tuple[Form, str], ...] = ()
    if other != fact:
        decoys = ((other, with_table(pen, pen.say("old_table", **fields), head, rows(other))),)
    return Said(with_table(pen, pen.say("code_table", **fields), head, true), halves, decoys=decoys, is_denied=True)


def with_table(pen: Pen, lead: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write rows below a sentence, in one of several shapes."""
    shapes = ["markdown", "csv", "fixed"]
    shapes += ["keyed"] if len(head) == 2 else []
    shapes += ["listed"] if len(head) == 2 and len(rows) <= _MOST_LISTED else []
    shape = pen.pick(shapes)
    match shape:
        case "markdown":
            lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
        case "csv":
            lines = ["```csv", *(",".join(cells) for cells in (head, *rows)), "```"]
        case "fixed":
            widths = [max(len(cells[place]) for cells in (head, *rows)) + 2 for place in range(len(head))]
            padded = ("".join(map(str.ljust, cells, widths)).rstrip() for cells in (head, *rows))
            lines = ["```", *padded, "```"]
        case "keyed":
            mark = pen.pick(("- {}: {}", "* {} = {}", "- {}, {}"))
            lines = [mark.format(*row) for row in rows]
        case _:
            return (
                f"{lead} {'' if lead.endswith(':') else 'They are '}{_paired(pen, [(row[0], row[1]) for row in rows])}."
            )
    return "\n".join([f"{lead}\n", *lines])


def _paired(pen: Pen, rows: Sequence[tuple[str, str]]) -> str:
    shown = [(pen.levels([level]), value) for level, value in rows]
    form = pen.pick(("{0} {1}", "{1} for {0}", "{0} with {1}", "{0} ({1})"))
    return listed([form.format(*row) for row in shown], "and")


def _bare(phrase: str) -> str:
    return phrase.removeprefix("the ").removeprefix("entry for ").removeprefix("the ")


def lowered(text: str) -> str:
    """Return a text with a small first letter, unless it starts with an abbreviation."""
    return text[0].lower() + text[1:] if not text[1:2].isupper() else text


def say_sentinel(pen: Pen, fact: Sentinel, other: Sentinel) -> Said:
    """Say which number stands for missing cells of a column."""
    column, value = pen.column(fact.column), f"{fact.value:g}"
    halves = pen.say("sentinel_told", c=column), pen.say("sentinel_number", c=column, v=value)
    decoy = pen.quoted.say("sentinel", c=column, v=f"{other.value:g}")
    return Said(pen.say("sentinel", c=column, v=value), halves, decoys=((other, decoy),))


def say_units(pen: Pen, fact: Units, other: Units, word: ConversionWord, levels: Sequence[str]) -> Said:
    """Say in which unit a column stands for each level of a category."""
    column, by = pen.column(fact.column), pen.column(fact.by)
    own = word.units[0].unit
    names = {(unit.factor, unit.offset): unit.unit for unit in word.units}
    pairs = list(zip(fact.factors, fact.offsets, strict=True))
    lead = pen.say("units", c=column, by=by)
    head = (word.by if not pen.is_free else _bare(by), "unit", "recorded as")
    rows = [(level, names[pair], recorded(own, *pair)) for level, pair in zip(levels, pairs, strict=True)]
    table = with_table(pen, lead, head, rows)
    whole = _unit_sentences(pen, fact, word, levels) if pen.is_free and pen.rng.random() < 0.5 else table
    changed = dict.fromkeys(pair for pair in pairs if pair != (1.0, 0.0))
    halves = None
    if len(changed) == 1 < len(set(pairs)):
        (pair,) = changed
        there = pen.levels([level for level, one in zip(levels, pairs, strict=True) if one == pair])
        how = f", that is, {recorded(own, *pair)}"
        halves = (
            pen.say("some_in_other", c=column, by=by, l=there),
            pen.say("the_other", c=column, unit=names[pair], own=own, recorded=how),
        )
    denied = _unit_sentences(pen.quoted, other, word, levels)
    return Said(whole, halves, decoys=((other, denied),) if other != fact else ())


def _unit_sentences(pen: Pen, fact: Units, word: ConversionWord, levels: Sequence[str]) -> str:
    """Name the levels of every unit but the column's own."""
    column, by, own = pen.column(fact.column), pen.column(fact.by), word.units[0]
    names = {(unit.factor, unit.offset): unit.unit for unit in word.units}
    there: dict[tuple[float, float], list[str]] = {}
    for level, pair in zip(levels, zip(fact.factors, fact.offsets, strict=True), strict=True):
        there.setdefault(pair, []).append(level)
    own_levels, same = there.pop((1.0, 0.0), []), {"c": column, "by": by}
    parts = [
        pen.say("other_unit", l=pen.levels(some), unit=names[pair], recorded=f" ({recorded(own.unit, *pair)})", **same)
        for pair, some in there.items()
    ]
    if not parts:
        return f"{capitalized(column)} is in {own.unit} throughout."
    *first, last = parts
    rest = pen.say("own_unit", unit=own.unit) if own_levels else "."
    return " ".join([*(f"{capitalized(part)}." for part in first), f"{capitalized(last)}{rest}"])


def recorded(unit: str, factor: float, offset: float) -> str:
    """Say how a value in another unit follows from the column's own unit."""
    times = f" times {factor:g}" if factor != 1 else ""
    plus = f" {'plus' if offset > 0 else 'minus'} {abs(offset):g}" if offset else ""
    return f"{unit}{times}{plus}"


def say_in_text(pen: Pen, column: str, notes: Notes) -> Said:
    """Say that notes hold a value which no column has."""
    fields = {"x": pen.column(column), "notes": spoken(notes.meaning, is_number=False).phrase}
    halves = pen.say("in_text_told", **fields), pen.say("in_text_place", **fields)
    return Said(pen.say("in_text", **fields), halves)


def say_same_units(pen: Pen, word: SameUnitsWord) -> Said:
    """Say that two columns name units which both files share."""
    if not pen.is_free:
        return Said(pen.pick(word.texts))
    fields = {"a": pen.column(word.place.name), "b": pen.column(word.number.name), **named(word.name)}
    halves = pen.say("same_units_told", **fields), pen.say("same_units_both", **fields)
    return Said(pen.say("same_units", **fields), halves)


def say_summary(pen: Pen, name: str, motif: Aggregate, child: ChildTable, frame: str) -> Said:
    """Say which summary of the child table people look at. The frame is a text of the domain with `{summary}`."""
    fields = named(name)
    summary = summary_words(pen, motif, child)
    halves = frame.replace("{summary}", f"the {fields['name']}"), pen.say("define", q=summary, **fields)
    # Nothing stands behind the long phrase for a summary, so that nobody takes it for a part of its window.
    is_last = len(frame.partition("{summary}")[2]) <= 1
    is_short = is_last and (not pen.is_free or pen.rng.random() < 0.5)
    whole = frame.replace("{summary}", summary) if is_short else " ".join(halves)
    other = _other_window(pen, motif, child)
    decoys: tuple[tuple[Fact, str], ...] = ()
    if other != motif:
        changed = Form(name=name, motif=other)
        decoys = ((changed, pen.say("summary_counts", q=summary_words(pen.quoted, other, child))),)
    return Said(whole, halves, decoys=decoys)


def summary_words(pen: Pen, motif: Aggregate, child: ChildTable) -> str:
    """Put a summary into words, as a noun phrase with columns, kinds and window."""
    age, unit, amount, kind = f"`{child.age}`", "", f"`{child.amount}`", f"`{child.kind}`"
    rows = f"rows of `{child.path}`"
    if pen.is_free:
        age, unit = spoken(child.age_meaning).phrase, spoken(child.age_meaning).unit
        amount, kind = spoken(child.amount_meaning).phrase, spoken(child.kind_meaning, is_number=False).phrase
        rows = level_words(child.name)
        rows = rows if rows.endswith("s") else f"entries of the {rows}"
    names = [child.kinds[code] for code in motif.kinds]
    of_kinds = [pen.say("is_one_of", c=kind, l=pen.levels(names))] if names else []
    days = pen.number(motif.days, unit=unit) if motif.days else ""
    recent = [pen.say("is_at_most", c=age, n=days)] if days else []
    fields = {
        "rows": rows,
        "x": amount,
        "a": age,
        "n": days,
        "which": _in_which([*of_kinds, *recent]),
        "kinds": _in_which(of_kinds),
        "window": f", counting only {rows}{_in_which(recent)}" if recent else "",
    }
    return pen.say(f"events_{motif.how}", **fields)


def _in_which(clauses: Sequence[str]) -> str:
    return f" in which {' and '.join(clauses)}" if clauses else ""


def _other_window(pen: Pen, motif: Aggregate, child: ChildTable) -> Aggregate:
    """Change kinds or window of a summary."""
    if motif.kinds and (motif.days is None or pen.rng.random() < 0.5):
        step = 1 + int(pen.rng.integers(len(child.kinds) - 1))
        kinds = tuple(sorted((code + step) % len(child.kinds) for code in motif.kinds))
        return motif.model_copy(update={"kinds": kinds})
    if motif.days is None:
        return motif
    days = [round(motif.days * factor) for factor in _WINDOW_FACTORS if motif.days * factor < child.horizon]
    return motif.model_copy(update={"days": pen.pick(days)})
