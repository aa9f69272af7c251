"""Faults speak of their column: a number with its unit behind it has the unit that the column's meaning says."""

import re

import pytest

from sandmill.design.conditions import Conditions
from sandmill.design.faults import Severity, _mixed_types
from sandmill.kinds.library import load_domains
from sandmill.models.columns import Column, Normal
from sandmill.models.structure import PathologyKind, SplitKind
from sandmill.rng import Streams

FRAME = Conditions(SplitKind.RANDOM, frozenset({PathologyKind.MIXED_TYPES}))
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


def column(name: str) -> Column:
    return Column(name=name, distribution=Normal(mean=0, sd=1), decimals=2)


@pytest.mark.parametrize(("position", "spared"), [(0.0, 1.0), (1.0, 0.5)])
def test_an_easy_design_spares_the_column_that_carries_the_rule(position, spared):
    severity = Severity(position, {"lead": 0.9, "follower": 0.05})
    columns = [column("lead"), column("follower")]
    orders = [severity.ordered(columns, "faults", Streams(bytes([number]), "f")) for number in range(200)]
    last = sum(order[-1].name == "lead" for order in orders) / len(orders)
    assert last == pytest.approx(spared, abs=0.1)
