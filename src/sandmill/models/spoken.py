"""What a sentence calls a column: a noun phrase in the singular, made of the column's meaning."""

import re
from dataclasses import dataclass, replace

from sandmill.models.english import repeats_word

_UNIT_HEADS = (
    "degrees|metres|percent|euros|kilograms|grams|parts per|kilometres|years|centimetres|milligrams|minutes|millimetres"
    "|seconds|litres|kilowatts?|cubic|square|months|micrometres|hours|micrograms|tonnes|millilitres|mmol|kilonewtons?"
    "|bar|cents|thousands?|billions|milliseconds|hertz|mmHg|beats per|millisiemens|nautical|thousandths|turns per"
    "|megabits|nephelometric|magnitudes|microjansky|arc seconds|kilovolts?|decibels?|kilocalories|micromol|milliunits"
    "|kilopascals|megapascals|knots|millibar|mol per|hectares|gigabytes|characters|newton|sheets per|microsiemens"
    "|kilobytes|megawatt|days|weeks|sixty-fourths|litres per|volts|points"
)
_UNIT = re.compile(rf" in ((?:{_UNIT_HEADS})\b(?: (?!of the|times |plus |minus |less )[\w-]+)*)$")
_INNER_UNIT = re.compile(r" in (degrees)(?= of the )")
_SCALE = re.compile(r" from \d+ (?:\([^)]*\) )?to \d+(?: \([^)]*\))?$| from \d+ up$|,.*$")
_END_OF_HEAD = re.compile(
    r" (?:of|in|on|that|from|until|since|between|to|per|who|which|whom|for|at|when|with|by|behind|after|before"
    r"|above|below|under|without|within|around|left|given|drawn|taken|sold|set|typed|registered|used|served|paid|waiting|hung"
    r"|printed|counted|collected|connected|landed|burnt|eaten|drunk|estimated|enrolled|booked|logged|promised|spent"
    r"|\w+ed|and|about|sent|driven|swept|as|through|beside|over|across|along|into|during|where|whose|gone|milled|fed|fallen|near|pumped|laid|made|seen"
    r"|reported|agreed|claimed|changed|added|removed|filled|forecast|ordered|needed|posted|planned|the|so)\b.*$"
)
_QUALIFIER = re.compile(r",( (?:as|at|in|read) .*)$")
"""What tells a column from another of the same meaning, such as `, as planned`."""
_CLAUSE = re.compile(r"(?:How|Who|What|When|Where|Whether|Which|Whom|Why)\b")
_NOT_PLURAL = re.compile(r"(?:ss|us|is|glass|gas|bus|SI|series|lens|means|news)$")


@dataclass(frozen=True)
class Spoken:
    """How sentences speak of a column."""

    phrase: str
    """Noun phrase with its article; its verb stands in the singular."""
    unit: str = ""
    """What stands behind its numbers, in the plural."""
    is_share: bool = False
    """Whether its numbers are percent of a whole."""
    others: tuple[str, ...] = ()
    """What people say instead, where a paraphrase is known."""


def spoken(meaning: str, *, is_number: bool = True) -> Spoken:
    """Return what sentences call a column of this meaning.

    Units and scales behind the meaning are left out: `Share of crews that stand idle in percent` becomes `the share of
    crews that stand idle`. What stands in the plural is counted, or called an entry, so that verbs are in the singular.
    """
    qualifier = found[1] if (found := _QUALIFIER.search(meaning)) else ""
    if qualifier:
        plain = spoken(meaning.removesuffix(f",{qualifier}"), is_number=is_number)
        return replace(plain, phrase=f"{plain.phrase}{qualifier}")
    whole = _SCALE.sub("", meaning)
    found = _UNIT.search(whole) or _INNER_UNIT.search(whole)
    unit = found[1] if found else ""
    text = whole[: found.start()] + whole[found.end() :] if found else whole
    lowered = text[0].lower() + text[1:] if not text[1:2].isupper() and text[1:2] not in "-" else text
    head = _END_OF_HEAD.sub("", text).split(" ")[-1]
    if _CLAUSE.match(text):
        return Spoken(f"the {'figure' if is_number else 'entry'} for {lowered}", unit)
    is_plural = (head.endswith("s") and not _NOT_PLURAL.search(head)) or head in ("People", "people")
    if is_plural and not is_number:
        return Spoken(f"the entry for the {lowered}", unit)
    if is_plural and unit == "thousands":
        return Spoken(f"the number of {lowered}", "thousand")
    if is_plural:
        return Spoken(f"the {'figure for' if unit else 'number of'} {lowered}", unit)
    return Spoken(f"the {lowered}", unit, is_share=unit == "percent" and text.startswith("Share"))


def unit_behind(meaning: str) -> tuple[str, str]:
    """Return a meaning without the unit at its end, and the unit; no unit if it ends in none."""
    found = _UNIT.search(meaning)
    return (meaning[: found.start()], found[1]) if found else (meaning, "")


def level_words(level: str) -> str:
    """Return a level as a sentence says it."""
    words = level.replace("_", " ")
    return words.replace(" ", "-") if repeats_word(words) else words
