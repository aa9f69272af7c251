"""What the domains of the library know fits their columns, levels and targets."""

import re
import string

import pytest

from sandmill.kinds.library import load_domains
from sandmill.models.columns import LogNormal
from sandmill.models.domain import Domain

DOMAINS = {domain.name: domain for domain in load_domains() if domain.knows.targets}
"""Domains that know anything."""


def target_names(domain: Domain) -> set[str]:
    return {target.name for _, targets in domain.targets for target in targets}


def levels_of(domain: Domain) -> dict[str, tuple[str, ...]]:
    return {word.name: word.levels for word in domain.categorical}


@pytest.mark.parametrize("name", DOMAINS)
def test_knowledge_names_columns_levels_and_targets(name):
    domain = DOMAINS[name]
    knows, levels = domain.knows, levels_of(domain)
    numeric = {word.name: word.distribution for word in domain.numeric}
    many = {word.name for word in domain.high_cardinality}
    positive = {column for column, law in numeric.items() if isinstance(law, LogNormal)}
    every = {*numeric, *levels}
    assert {load for factor in knows.factors for load in factor.loads} <= every
    assert len(knows.factors) >= 2
    assert len({load for factor in knows.factors for load in factor.loads}) >= 0.6 * len(every)
    for column, order in knows.level_orders.items():
        assert sorted(order) == sorted(levels[column]), column
    in_factors = {load for factor in knows.factors for load in factor.loads} & set(levels)
    assert in_factors <= set(knows.level_orders)
    assert set(knows.targets) == target_names(domain)
    for target, prior in knows.targets.items():
        for act in prior.acts:
            wanted = 2 if act.form in ("ratio", "interaction", "difference") else 1
            assert len(act.columns) == wanted, (target, act)
            pool = set(levels) if act.form == "lookup" else positive if act.form == "ratio" else set(numeric)
            assert set(act.columns) <= pool, (target, act)
    for identity in knows.identities:
        assert set(identity.of) <= set(numeric), identity.name
        assert identity.name not in every, identity.name
    for order in knows.orders:
        assert {order.lower, order.upper} <= set(numeric)
    for out in knows.exclusions:
        assert out.column in numeric, out
        assert set(out.levels) < set(levels[out.by]), out
    for formula in knows.formulas:
        named = {column for part in (*formula.top, *formula.bottom) for column in part}
        assert named <= positive, formula.name
        assert len(named) >= 3, formula.name
        for text in formula.texts:
            assert set(re.findall(r"`(\w+)`", text)) >= named, (formula.name, text)
    for condition in knows.conditions:
        places = {"{first}", "{second}"} if len(condition.when) == 2 else {"{first}"}
        for when in condition.when:
            assert when.column in (levels if when.side == "levels" else numeric), condition.name
        assert condition.column is None or condition.column in numeric
        for text in condition.texts:
            fields = {field.split("_")[-1] for _, field, _, _ in string.Formatter().parse(text) if field}
            assert {f"{{{field}}}" for field in fields} == places, text
            named = {when.column for when in condition.when} | ({condition.column} - {None})
            assert set(re.findall(r"`(\w+)`", text)) >= named, text
    for norm in knows.norms:
        assert norm.column in numeric, norm.name
        assert norm.by in levels, norm.name
        assert all(text.count("{norms}") == 1 for text in norm.texts), norm.name
        assert all(f"`{norm.column}`" in text for text in norm.texts), norm.name
    for table in knows.code_tables:
        assert table.column in {*levels, *many}
        assert table.low < table.high
    for conversion in knows.conversions:
        assert conversion.column in numeric, conversion.column
        assert conversion.by in levels, conversion.column
        assert (conversion.units[0].factor, conversion.units[0].offset) == (1, 0)
    if knows.child:
        assert all(text.count("{summary}") == 1 for text in knows.child.texts)
    if knows.notes:
        for value in knows.notes.values:
            shown = levels.get(value.column, ("7", "12.5"))
            for phrase in value.phrases:
                for word in shown:
                    said = phrase.replace("{value}", word.replace("_", " "))
                    assert re.search(value.pattern, said).group(1) == word.replace("_", " "), (value.column, said)
                for other in knows.notes.values:
                    if other is not value:
                        assert not re.search(other.pattern, phrase.replace("{value}", shown[0])), (phrase, other.column)
            assert not any(re.search(value.pattern, filler) for filler in knows.notes.fillers), value.column


@pytest.mark.parametrize("name", DOMAINS)
def test_a_domain_knows_enough(name):
    knows = DOMAINS[name].knows
    least = {"overviews": 3, "asides": 8, "formulas": 4, "conditions": 5, "norms": 2, "code_tables": 2}
    counts = {field: len(getattr(knows, field)) for field in (*least, "conversions")}
    assert not {field: counts[field] for field, count in least.items() if counts[field] < count}
    assert counts["conversions"] >= 1
    assert None not in (knows.child, knows.notes)
