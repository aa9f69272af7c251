"""Faults speak of their column: a number with its unit behind it has the unit that the column's meaning says."""

import re

import pytest

from sandmill.design.faults import _mixed_types
from sandmill.design.frame import Frame
from sandmill.design.lexicon import load_domains
from sandmill.models.mechanism import Column
from sandmill.models.structure import PathologyKind, SplitKind
from sandmill.rng import Streams

FRAME = Frame(SplitKind.RANDOM, frozenset({PathologyKind.MIXED_TYPES}))
SPOKEN = {
    "%": "percent|per cent",
    "C": "degrees Celsius",
    "EUR": "euros?",
    "kg": "kilograms",
    "g": "grams",
    "mg": "milligrams",
    "km": "kilometres",
    "m": "metres",
    "cm": "centimetres",
    "mm": "millimetres",
    "l": "litres",
    "ml": "millilitres",
    "h": "hours?",
    "min": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "kWh": "kilowatt hours",
    "kB": "kilobytes",
    "MB": "megabytes",
    "days": "days",
    "years": "years",
    "hours": "hours",
}
COMPOUND = re.compile(r"\bper (litre|second|minute|hour|centimetre|square|cubic)|\b(square|cubic) ")


@pytest.mark.parametrize("domain", load_domains(), ids=lambda domain: domain.name)
def test_the_unit_behind_a_number_is_the_one_that_the_meaning_says(domain):
    wrong = {}
    for word in domain.numeric:
        column = Column(name=word.name, distribution=word.distribution, decimals=word.decimals)
        for fault in _mixed_types(FRAME, [column], Streams(b"s", "f")):
            spoken = SPOKEN.get(fault.suffix, fault.suffix)
            if COMPOUND.search(word.meaning) or not re.search(rf"\b({spoken})\b", word.meaning, re.IGNORECASE):
                wrong[word.name] = (fault.suffix, word.meaning)
    assert wrong == {}
